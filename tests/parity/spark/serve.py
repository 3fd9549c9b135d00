"""Spark as a server: one JSON object a line in, one a line out. Run by lib/spark.mjs, in the folder `tests`:

    python -m parity.spark.serve '{"bundle": "1.1.1", "jar": FILE, "zone": "UTC", "work": FOLDER, "memory": "2g"}'

A request is {"id", "do": VERB, ...}; the answer {"id", "ok": VALUE} or {"id", "error": TEXT}. VERBS below has them all.
Whatever Spark and its libraries print goes to standard error.
"""

import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from . import canonical, files, maker, query, random_table
from .session import checksums, session


class Server:
    def __init__(self, bundle, jar, zone, work, memory):
        self.bundle, self.work = bundle, Path(work)
        self.work.mkdir(parents=True, exist_ok=True)
        self.spark = session(jar, zone, self.work, memory)
        self.tables = {}  # that `write` began

    def make(self, name, out=None, save=False, kinds=maker.KINDS):
        """Makes a table by its recipe; with `save` also its two files in `out`."""
        made = maker.make(name, self.spark, self.bundle, self.work, kinds, out and Path(out))
        if save:
            files.save(made, Path(out))
        return {"path": str(made.path), **made.expected()}

    def random(self, seed, mor=False, kinds=("snapshot",)):
        """Makes the table of a seed; `mor` makes it merge on read whatever the seed would draw."""
        made = random_table.make(seed, self.spark, self.bundle, self.work, kinds, mor)
        return {"path": str(made.path), **made.expected()}

    def write(self, name, rows, op="upsert", options=None):
        """One commit of rows of maker.SIMPLE to a table that begins empty; `options` are Hudi's."""
        table = self.tables.get(name) or maker.Table(self.spark, self.bundle, name, self.work)
        self.tables[name] = table
        instant = table.write([tuple(row) for row in rows], op, **(options or {}))
        return {"path": str(table.path), "instant": instant}

    def upsert(self, path, columns, rows, op="upsert", options=None):
        """One commit to a table that is there, by the keys of its own properties; `options` are Hudi's."""
        table = maker.Existing(self.spark, self.bundle, Path(path))
        # JSON has whole doubles without a point, and Spark takes no int for them.
        doubles = [column.split()[1] == "double" for column in columns.split(",")]
        rows = [tuple(float(v) if double else v for v, double in zip(row, doubles)) for row in rows]
        instant = table.write(rows, op, columns, **(options or {}))
        return {"path": path, "instant": instant}

    def copy(self, path, to, by, version, options=None):
        """Copies a table's rows to a new one with column statistics, a file for each value of `by`."""
        frame = self.spark.read.format("hudi").option("hoodie.metadata.enable", "false").load(path)
        frame = frame.drop(*[name for name in frame.columns if name.startswith("_hoodie_")]).cache()
        table = maker.Table(self.spark, self.bundle, Path(to).name, Path(to).parent)
        table.options.update(
            {
                maker.COLUMN_STATS: "true",
                maker.ORDERING: "ord",
                "hoodie.parquet.small.file.limit": "0",
                "hoodie.write.table.version": str(version),
                **(options or {}),
            }
        )
        table.hadoop(maker.OLD_LISTS, "false")
        try:
            for (value,) in frame.select(by).distinct().collect():
                table.write(frame.where(frame[by] == value), "insert")
        finally:
            table.hadoop(maker.OLD_LISTS, "true")
        return {"path": to}

    def statistics(self, path, kind=3):
        """The records of a table's column statistics (6: of its partitions'), as Spark reads its metadata table."""
        frame = self.spark.read.format("hudi").load(f"{path}/.hoodie/metadata")
        return canonical.rows(frame.where(f"type = {kind}").select("ColumnStatsMetadata.*"))

    def read(self, path, query, metadata=True):
        """The rows of a query over any table; `metadata` lets Spark use the metadata table."""
        return canonical.rows(_read(self.spark, path, query, metadata))

    def many(self, verb, requests):
        """A verb over many small tables, four at a time, since one leaves most of the machine idle: {"ok"} or {"error"} each."""

        def one(request):
            try:
                return {"ok": getattr(self, verb)(**request)}
            except Exception as error:
                return {"error": maker.trouble(error)}

        if verb not in ("read", "upsert"):
            raise ValueError(f"{verb} is not for many")
        with ThreadPoolExecutor(4) as pool:
            return list(pool.map(one, requests))

    def sql(self, text):
        return canonical.rows(self.spark.sql(text))

    def checksums(self, on):
        checksums(self.spark, on)

    def check(self, name, out):
        """Whether a fixture's first snapshot still reads as recorded."""
        files.check(self._unmade(name), Path(out))

    def reread(self, name, out):
        return files.reread(self._unmade(name), Path(out))

    def _unmade(self, name):
        return maker.Table(self.spark, self.bundle, name, self.work)


_read = query.read
VERBS = ("make", "random", "write", "upsert", "copy", "statistics", "read", "many", "sql", "checksums", "check", "reread")


def answer(server, line):
    request = json.loads(line)
    number, verb = request.pop("id"), request.pop("do")
    try:
        if verb not in VERBS:
            raise ValueError(f"no verb {verb}")
        return {"id": number, "ok": getattr(server, verb)(**request)}
    except Exception as error:
        return {"id": number, "error": maker.trouble(error)}


def main(settings):
    # The JVM writes to the descriptor it inherits, so answers get one of their own.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    server = Server(**settings)
    print(json.dumps({"id": 0, "ok": None}), file=answers, flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(server, line), ensure_ascii=False), file=answers, flush=True)


if __name__ == "__main__":
    from .. import tables  # the import registers the recipes

    main(json.loads(sys.argv[1]))
