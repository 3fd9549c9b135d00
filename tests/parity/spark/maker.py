"""Writes one table with Spark and keeps what Spark reads back from it."""

import json
import re
import shutil
import traceback
from contextlib import contextmanager

from pyspark.sql import DataFrame

from . import canonical
from .query import first_line, read, sums
from .session import checksums

DAWN = "20000101000000000"  # before every instant
KINDS = ("snapshot", "incremental", "cdc")
DATA_ACTIONS = ("commit", "deltacommit", "replacecommit")
TABLES = {}  # name -> (bundle, zone, recipe)
ANY_BUNDLE = {}  # name -> recipe that every bundle can run

SIMPLE = "id int, name string, price double, ts long"
CITY = "id int, name string, price double, ts long, city string"

PARTITION = "hoodie.datasource.write.partitionpath.field"
KEY = "hoodie.datasource.write.recordkey.field"
ORDERING = "hoodie.datasource.write.precombine.field"
KEYGEN = "hoodie.datasource.write.keygenerator.class"
HIVE_STYLE = "hoodie.datasource.write.hive_style_partitioning"
TYPE = "hoodie.datasource.write.table.type"
PAYLOAD = "hoodie.datasource.write.payload.class"
MERGE_MODE = "hoodie.record.merge.mode"
NUM_ENTRIES = "hoodie.index.bloom.num_entries"
COLUMN_STATS = "hoodie.metadata.index.column.stats.enable"
OLD_LISTS = "parquet.avro.write-old-list-structure"  # Hudi's default, true, refuses null elements
MOR = {TYPE: "MERGE_ON_READ"}
# Else an upsert that also inserts rewrites a small base file and makes no log.
MOR_LOGS = {**MOR, "hoodie.parquet.small.file.limit": "0"}
BY_CITY = {PARTITION: "city", HIVE_STYLE: "true"}


def table(bundle="1.1.1", zone="UTC"):
    """Registers a recipe, which makes the table of its own name and sets its note."""

    def register(recipe):
        TABLES[recipe.__name__] = (bundle, zone, recipe)
        return recipe

    return register


def any_bundle(recipe):
    """Registers a recipe that the process's own bundle runs."""
    ANY_BUNDLE[recipe.__name__] = recipe
    return recipe


class Table:
    """One table being written, and what has been read from it so far."""

    def __init__(self, spark, bundle, name, work, kinds=KINDS, out=None):
        self.spark, self.bundle, self.name, self.work = spark, bundle, name, work
        self.kinds = kinds  # of queries worth recording
        self.out = out  # where other tables' zips lie
        self.path = work / name
        shutil.rmtree(self.path, ignore_errors=True)
        self.queries, self.notes, self.more, self.note = [], [], {}, ""
        self.columns, self.schema, self.large = SIMPLE, None, False
        self.options = {
            "hoodie.table.name": name,
            KEY: "id",
            PARTITION: "",
            ORDERING: "ts",
            "hoodie.metadata.enable": "true",
            "hoodie.embed.timeline.server": "false",
            "hoodie.write.markers.type": "DIRECT",
            # On by default; off where nothing is said, to keep tables small.
            COLUMN_STATS: "false",
            # One clock only: no waits.
            "hoodie.time.generator.max_expected_clock_skew_ms": "1",
            # A batch writer of a merge-on-read table compacts by default.
            "hoodie.compact.inline": "false",
            NUM_ENTRIES: "1000",
            **{
                f"hoodie.{verb}.shuffle.parallelism": "2"
                for verb in ("insert", "upsert", "bulkinsert", "delete")
            },
        }

    # Writing

    def frame(self, rows, columns=None):
        if isinstance(rows, DataFrame):
            return rows
        return self.spark.createDataFrame(rows, columns or self.columns)

    def write(self, rows, op="upsert", columns=None, **more):
        """One commit; `more` are Hudi options with `__` for a dot. Returns its instant."""
        options = {**self.options, "hoodie.datasource.write.operation": op}
        options.update({k.replace("__", "."): v for k, v in more.items()})
        writer = self.frame(rows, columns).write.format("hudi").options(**options)
        writer.mode("append").save(str(self.path))
        return self.instants()[-1]["instant"]

    def sql(self, statement):
        """Runs SQL with {t} for the table's name and {path} for its folder."""
        return self.spark.sql(statement.format(t=self.name, path=self.path))

    def create(self, columns, **properties):
        """CREATE TABLE through SQL; properties with `__` for a dot."""
        given = ", ".join(f"'{k.replace('__', '.')}' = '{v}'" for k, v in properties.items())
        self.sql(f"CREATE TABLE {{t}} ({columns}) USING hudi TBLPROPERTIES ({given}) LOCATION '{{path}}'")

    def register(self):
        self.sql("CREATE TABLE IF NOT EXISTS {t} USING hudi LOCATION '{path}'")

    def call(self, procedure, **arguments):
        """CALL procedure(...) on this table by name."""
        self.register()
        given = "".join(f", {k} => '{v}'" for k, v in arguments.items())
        return self.spark.sql(f"CALL {procedure}(table => '{self.name}'{given})").collect()

    @contextmanager
    def checksums(self):
        """Side files with checksums, heeded and written, while the block runs."""
        checksums(self.spark, True)
        try:
            yield
        finally:
            checksums(self.spark, False)

    def hadoop(self, key, value):
        """A Hadoop setting for this table and those after it, until set back."""
        self.spark.sparkContext._jsc.hadoopConfiguration().set(key, value)

    # The timeline as it lies on disk

    def instants(self):
        """Completed data commits, oldest first by completion."""
        old = self.path / ".hoodie"
        new = old / "timeline"
        found = []
        for file in (new if new.is_dir() else old).iterdir():
            m = re.fullmatch(r"(\d{14,17})(?:_(\d{17}))?\.([a-z]+)", file.name)
            if m and m[3] in DATA_ACTIONS:
                found.append({"instant": m[1], "completion": m[2] or m[1], "action": m[3]})
        return sorted(found, key=lambda i: (i["completion"], i["instant"]))

    def properties(self):
        text = (self.path / ".hoodie" / "hoodie.properties").read_text(encoding="utf-8")
        lines = [line for line in text.splitlines() if "=" in line and line[0] != "#"]
        return dict(line.split("=", 1) for line in lines)

    # Reading

    def read(self, query, metadata=True):
        return read(self.spark, self.path, query, metadata)

    def record(self, query):
        """Reads the query and keeps its rows; of large results a count, sums and a sample."""
        if query["queryType"] not in self.kinds:
            return {}
        entry = {"query": query}
        try:
            frame = self.read(query)
            if query == {"queryType": "snapshot"}:
                self.schema = [[f.name, f.dataType.simpleString()] for f in frame.schema.fields]
            count = frame.count() if self.large else 0
            if count > 2000:
                sample = frame.where("pmod(hash(_hoodie_record_key), 500) = 0")
                entry.update(count=count, sums=sums(frame), sample=canonical.rows(sample))
            else:
                entry["rows"] = canonical.rows(frame)
                entry["count"] = len(entry["rows"])
        except Exception as error:  # what Spark refuses is an expectation too
            entry["error"] = first_line(error)
        if query["queryType"] == "snapshot" and "asOf" not in query and "rows" in entry:
            self._without_metadata(entry)
        self.queries.append(entry)
        return entry

    def _without_metadata(self, entry):
        """Pruning must not change a result: where it does, the unpruned rows are the expected ones."""
        said = json.dumps(entry["query"])
        try:
            plain = canonical.rows(self.read(entry["query"], metadata=False))
        except Exception as error:
            self.notes.append(f"Without the metadata table Spark fails on {said}: {first_line(error)}")
            return
        if plain == entry["rows"]:
            return
        self.notes.append(
            f"With the metadata table Spark reads {entry['count']} rows for {said}, without it "
            f"{len(plain)}: the latter are kept as rows, the former as rowsWithMetadata."
        )
        entry.update(rowsWithMetadata=entry["rows"], rows=plain, count=len(plain))

    def snapshot(self, **more):
        return self.record({"queryType": "snapshot", **more})

    def where(self, text):
        """A snapshot under a SQL condition, which no query word says; kept apart from the queries."""
        snapshot = {"queryType": "snapshot"}
        with_it, rows = [
            canonical.rows(self.read(snapshot, metadata).where(text)) for metadata in (True, False)
        ]
        differing = {"rowsWithMetadata": with_it} if with_it != rows else {}
        entry = {"where": text, "rows": rows, "count": len(rows), **differing}
        self.more.setdefault("conditions", []).append(entry)

    def incremental(self, start, end=None, kind="incremental"):
        return self.record({"queryType": kind, "start": start, **({"end": end} if end else {})})

    def record_all(self, incremental=True, time_travel=True, kind="incremental"):
        """Snapshot, read-optimized, time travel to every instant, incremental over pairs of times."""
        self.snapshot()
        if self.properties()["hoodie.table.type"] == "MERGE_ON_READ":
            self.snapshot(readOptimized=True)
        if time_travel:
            for i in self.instants():
                self.snapshot(asOf=i["instant"])
        if incremental:
            self.record_changes(kind)

    def record_changes(self, kind="incremental"):
        times = [DAWN] + [i["completion"] for i in self.instants()]
        few = len(times) <= 5
        for a, start in enumerate(times):
            for b, end in enumerate(times[a + 1 :], a + 1):
                if few or b == a + 1 or (a < 2 and b == len(times) - 1):
                    self.incremental(start, end, kind)
        self.incremental(DAWN, kind=kind)
        if kind == "incremental":
            self.incremental(times[-1])

    # Handing over

    def expected(self):
        """What NAME.expected.json holds."""
        properties = self.properties()
        found = {
            "table": self.name,
            "note": " ".join([" ".join(self.note.split())] + self.notes),
            "hudi": self.bundle,
            "tableVersion": int(properties.get("hoodie.table.version", 0)),
            "tableType": properties["hoodie.table.type"],
            "instants": self.instants(),
            **self.more,
        }
        if self.schema:
            found["schema"] = self.schema
        return {**found, "queries": self.queries}


def make(name, spark, bundle, work, kinds, out):
    """Runs a recipe and gives the table."""
    recipe = ANY_BUNDLE[name] if name in ANY_BUNDLE else TABLES[name][2]
    made = Table(spark, bundle, name, work, kinds, out)
    recipe(made)
    return made


def trouble(error):
    """An exception as text for people: its first line, its Java causes, the Python lines it passed."""
    causes = [line for line in str(error).splitlines() if line.startswith("Caused by")]
    places = traceback.format_exc().splitlines()[1:9]
    return "\n".join([first_line(error), *causes[:6], *places])


class Existing(Table):
    """A table that somebody else made, to be written on."""

    def __init__(self, spark, bundle, path):
        self.spark, self.bundle, self.path = spark, bundle, path
        self.columns = SIMPLE
        known = self.properties()
        self.options = {
            "hoodie.table.name": known["hoodie.table.name"],
            KEY: known.get("hoodie.table.recordkey.fields", ""),
            PARTITION: known.get("hoodie.table.partition.fields", ""),
            # Version 8 has the older name.
            ORDERING: known.get("hoodie.table.ordering.fields") or known.get("hoodie.table.precombine.field", ""),
            HIVE_STYLE: known.get("hoodie.datasource.write.hive_style_partitioning", "false"),
            TYPE: known["hoodie.table.type"],
            "hoodie.write.table.version": known["hoodie.table.version"],
            "hoodie.embed.timeline.server": "false",
            "hoodie.write.markers.type": "DIRECT",
            "hoodie.compact.inline": "false",
            "hoodie.upsert.shuffle.parallelism": "2",
            "hoodie.insert.shuffle.parallelism": "2",
        }
