"""A fixture's two files: NAME.zip and NAME.expected.json."""

import json
import shutil
import zipfile

from . import canonical
from .query import sums


def save(table, out):
    """Zips a table without Hadoop's `.crc` side files, and writes beside it what Spark reads from it."""
    out.mkdir(parents=True, exist_ok=True)
    name = table.name
    with zipfile.ZipFile(out / f"{name}.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
        for path in sorted(table.path.rglob("*")):
            inside = f"{name}/{path.relative_to(table.path).as_posix()}"
            if path.name.endswith(".crc") or path.is_symlink():
                continue
            if not path.is_dir():
                z.write(path, inside)
            elif not any(path.iterdir()):
                z.writestr(f"{inside}/", b"")
    _write(out, name, table.expected())


def unzip(name, out, work):
    """A fixture's zip at a fresh place; gives the table's folder."""
    file = out / f"{name}.zip"
    if not file.exists():
        raise FileNotFoundError(f"{file} is not there: make {name} first")
    target = work / "unzipped"
    shutil.rmtree(target / name, ignore_errors=True)
    with zipfile.ZipFile(file) as z:
        z.extractall(target)
    return target / name


def expected(name, out):
    return json.loads((out / f"{name}.expected.json").read_text(encoding="utf-8"))


def _write(out, name, content):
    text = json.dumps(content, ensure_ascii=False, indent=1) + "\n"
    (out / f"{name}.expected.json").write_text(text, encoding="utf-8")


def check(table, out, reads=1):
    """Reads a fixture again, at another path than it was written to: its first snapshots, `reads` of them."""
    recorded = expected(table.name, out)
    if recorded.get("snapshotsReadBy", table.bundle) != table.bundle:
        return
    table.path = unzip(table.name, out, table.work)
    snapshots = [e for e in recorded["queries"] if e["query"]["queryType"] == "snapshot" and "error" not in e]
    for entry in snapshots[:reads]:
        frame = table.read(entry["query"], metadata="rowsWithMetadata" not in entry)
        if "rows" in entry:
            got, want = canonical.rows(frame), entry["rows"]
        else:
            got, want = (frame.count(), sums(frame)), (entry["count"], entry["sums"])
        assert got == want, f"{entry['query']}: {len(got)} read, {entry['count']} recorded"


SNAPSHOTS_AGAIN = ("v6_mor_rollback",)


def reread(table, out):
    """Hudi 1.0.2 counts the start of an incremental range in, 1.1.1 does not: keeps what this bundle reads.

    Of a table in SNAPSHOTS_AGAIN also the snapshots: 0.15.0 stops at the block of a rollback that is newer than the commit
    after it, and loses that commit's rows.

    Gives the queries whose rows changed.
    """
    recorded = expected(table.name, out)
    table.path = unzip(table.name, out, table.work)
    if table.name in SNAPSHOTS_AGAIN:
        return _snapshots_again(table, out, recorded)
    changed, snapshots, queries = [], 0, []
    for entry in recorded["queries"]:
        fresh = table.record(entry["query"])
        snapshot = entry["query"]["queryType"] == "snapshot"
        if fresh.get("rows") != entry.get("rows"):
            changed.append(entry["query"])
            snapshots += snapshot
        queries.append(entry if snapshot else fresh)
    recorded["queries"] = queries
    recorded["incrementalReadBy"] = table.bundle
    recorded["note"] += (
        f" Incremental rows are those that Hudi {table.bundle} reads; it differs from "
        f"{recorded['hudi']} on {len(changed)} queries, {snapshots} of them snapshots."
    )
    _write(out, table.name, recorded)
    return changed


def _snapshots_again(table, out, recorded):
    changed = []
    for at, entry in enumerate(recorded["queries"]):
        if entry["query"]["queryType"] == "snapshot" and "rows" in entry:
            fresh = table.record(entry["query"])
            if fresh.get("rows") != entry["rows"]:
                recorded["queries"][at] = fresh
                changed.append(entry["query"])
    recorded["snapshotsReadBy"] = table.bundle
    recorded["note"] += (
        f" Hudi {recorded['hudi']} stops reading at that block, whose instant is newer than the commit after it, and loses that"
        f" commit's rows: snapshots are those that Hudi {table.bundle} reads, which differ on {len(changed)} queries."
    )
    _write(out, table.name, recorded)
    return changed
