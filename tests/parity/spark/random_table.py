"""A table from a seed: schema, keys, partitions, type, and 5 to 15 operations, with queries over every instant."""

import datetime
import math
import random
import string
from decimal import Decimal

from . import canonical
from .maker import COLUMN_STATS, HIVE_STYLE, KEYGEN, MOR_LOGS, OLD_LISTS, PARTITION, Table

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
DAY = datetime.date(1970, 1, 1)
WORDS = [
    "",
    "a",
    "b",
    "zz",
    "Zz",
    "naïve",
    "日本",
    "😀",
    "a b",
    "a,b",
    "100%",
    "k=v",
    "'",
    '"',
    "\\",
    "null",
    "NaN",
]


class Maker:
    """Draws everything from one generator, so that a seed gives one table on every run."""

    def __init__(self, seed, bundle, mor):
        self.draw = random.Random(f"{bundle} {seed}{' with logs' if mor else ''}")
        self.zoned_only = bundle in ("0.15.0", "1.0.2")  # these refuse a timestamp without zone
        self.null_elements = self.draw.random() < 0.5
        self.mor = self.draw.random() < 0.3 or mor
        self.partition = self.draw.choice([None, None, "string", "int", "date"])
        self.key = self.draw.choice(["string", "int", "long"])
        self.columns = {f"c{i}": self.kind() for i in range(self.draw.randint(3, 9))}
        self.live = {}  # key -> partition value
        self.seen = []  # rows written, by column, to draw filter values from
        self.clock = 0

    # Types: a name of Spark's SQL, or a tuple for nested ones

    def kind(self, depth=0):
        plain = [
            "boolean",
            "int",
            "long",
            "float",
            "double",
            "string",
            "binary",
            "date",
            "timestamp",
            "decimal",
        ]
        plain += [] if self.zoned_only else ["timestamp_ntz"]
        nested = ["array", "struct", "map"] if depth < 2 else []
        kind = self.draw.choice(plain * 2 + nested * 2)
        if kind == "decimal":
            precision = self.draw.randint(1, 38)
            return f"decimal({precision},{self.draw.randint(0, precision)})"
        if kind == "array":
            return ("array", self.kind(depth + 1))
        if kind == "map":
            return ("map", self.kind(depth + 1))
        if kind == "struct":
            return ("struct", {f"f{i}": self.kind(depth + 1) for i in range(self.draw.randint(1, 3))})
        return kind

    def value(self, kind, nullable=True):
        if nullable and self.draw.random() < 0.12:
            return None
        if isinstance(kind, tuple):
            return self.nested(*kind)
        if kind.startswith("decimal"):
            precision, scale = map(int, kind[8:-1].split(","))
            unscaled = self.draw.randint(-(10**precision - 1), 10**precision - 1)
            return Decimal(unscaled).scaleb(-scale)
        return getattr(self, kind)()

    def nested(self, kind, inner):
        if kind == "struct":
            return tuple(self.value(k) for k in inner.values())
        some = range(self.draw.randint(0, 3))
        if kind == "array":
            return [self.value(inner, nullable=self.null_elements) for _ in some]
        return {f"k{i}": self.value(inner) for i in some}

    def boolean(self):
        return self.draw.random() < 0.5

    def int(self):
        return self.draw.choice([0, 1, -1, 2**31 - 1, -(2**31), self.draw.randint(-100, 100)])

    def long(self):
        return self.draw.choice([0, 2**53 + 1, 2**63 - 1, -(2**63), self.draw.randint(-(10**12), 10**12)])

    def float(self):
        return float(self.draw.randint(-(2**20), 2**20)) / self.draw.choice([1, 2, 64, 1024])

    def double(self):
        return self.draw.choice(
            [0.0, -0.0, math.inf, math.nan, 0.1, self.draw.uniform(-1e6, 1e6), 5e-324, 1e300]
        )

    def string(self):
        letters = "".join(self.draw.choices(string.ascii_letters, k=self.draw.randint(1, 12)))
        return self.draw.choice([*WORDS, letters, letters, letters])

    def binary(self):
        return self.draw.randbytes(self.draw.randint(0, 20))

    def date(self):
        return DAY + datetime.timedelta(days=self.draw.randint(-20_000, 40_000))

    def timestamp(self):
        return EPOCH + datetime.timedelta(microseconds=self.draw.randint(-(10**15), 4 * 10**15))

    def timestamp_ntz(self):
        return self.timestamp().replace(tzinfo=None)

    # The table

    def schema(self):
        fields = {"id": self.key, "ts": "long", **self.columns}
        if self.partition:
            fields["part"] = self.partition
        return ", ".join(f"{name} {_sql(kind)}" for name, kind in fields.items())

    def new_key(self):
        number = self.draw.randint(0, 10**6)
        return f"key {number}" if self.key == "string" else number

    def new_partition(self):
        if self.partition == "string":
            return self.draw.choice(["a", "b", "c d", "ü"])
        if self.partition == "int":
            return self.draw.choice([-1, 0, 2024])
        return DAY + datetime.timedelta(days=self.draw.choice([-1, 0, 20_000]))

    def row(self, key):
        part = self.live.setdefault(key, self.new_partition() if self.partition else None)
        values = (self.value(kind) for kind in self.columns.values())
        made = (key, self.clock, *values, *((part,) if self.partition else ()))
        names = ["id", "ts", *self.columns, "part"]
        self.seen.append(dict(zip(names, made)))
        return made

    def fresh(self, most=12):
        keys = {self.new_key() for _ in range(self.draw.randint(1, most))} - set(self.live)
        return [self.row(key) for key in sorted(keys)]

    def some_live(self):
        return self.draw.sample(sorted(self.live), self.draw.randint(1, max(1, len(self.live) // 2)))

    # Operations, each one commit

    def operate(self, t):
        """One commit of a verb that the table's state allows."""
        self.clock += 1
        verbs = ["insert", "bulk_insert"]
        if self.live:
            verbs += ["upsert"] * 3 + ["delete"]
            verbs += [] if self.mor else ["insert_overwrite", "cluster"]
            verbs += ["add_column"] if len(self.columns) < 12 else []
            verbs += ["promote"] if "int" in self.columns.values() else []
        getattr(self, self.draw.choice(verbs))(t)

    def insert(self, t):
        self._write(t, self.fresh(), "insert")

    def bulk_insert(self, t):
        self._write(t, self.fresh(), "bulk_insert")

    def upsert(self, t):
        self._write(t, [self.row(key) for key in self.some_live()] + self.fresh(4), "upsert")

    def delete(self, t):
        keys = self.some_live()
        self._write(t, [self.row(key) for key in keys], "delete")
        for key in keys:
            del self.live[key]

    def insert_overwrite(self, t):
        rows = self.fresh(4)
        if not rows:
            return self.insert(t)
        parts = {row[-1] for row in rows} if self.partition else {None}
        written = {row[0] for row in rows}
        self._write(t, rows, "insert_overwrite")
        for key in [k for k, part in self.live.items() if part in parts and k not in written]:
            del self.live[key]

    def cluster(self, t):
        inline = {"hoodie__clustering__inline": "true", "hoodie__clustering__inline__max__commits": "1"}
        self._write(t, self.fresh(), "insert", **inline)

    def add_column(self, t):
        """The next commit has one more column."""
        self.columns[f"c{len(self.columns)}"] = self.kind()
        self.upsert(t)

    def promote(self, t):
        """The next commit has a long where an int was; files not rewritten keep the int."""
        name = self.draw.choice([name for name, kind in self.columns.items() if kind == "int"])
        self.columns[name] = "long"
        self.upsert(t)

    def _write(self, t, rows, verb, **more):
        if rows:
            t.write(rows, verb, self.schema(), **more)

    # Queries

    def filter(self):
        """A filter whose value is one of a row written, or near it."""
        plain = {"id": self.key, **_plain(self.columns)}
        if self.partition:
            plain["part"] = self.partition
        name, kind = self.draw.choice(sorted(plain.items()))
        op = self.draw.choice(["=", "!=", "<", "<=", ">", ">=", "IN", "NOT IN", "IS NULL", "IS NOT NULL"])
        if op.startswith("IS"):
            return [name, op]
        if op.endswith("IN"):
            return [name, op, [self.literal(name, kind) for _ in range(self.draw.randint(1, 3))]]
        return [name, op, self.literal(name, kind)]

    def literal(self, name, kind):
        """Mostly what a row has, else a value of the type; as text, but for booleans."""
        found = [row[name] for row in self.seen if row.get(name) is not None]
        value = (
            self.draw.choice(found)
            if found and self.draw.random() < 0.8
            else self.value(kind, nullable=False)
        )
        return value if isinstance(value, (bool, str)) else str(canonical.canonical(value))


def make(seed, spark, bundle, work, kinds, mor):
    """Writes the table of a seed and records its queries."""
    maker = Maker(seed, bundle, mor)
    t = Table(spark, bundle, f"random_{'mor_' if mor else ''}{seed}", work, kinds)
    t.options.update(MOR_LOGS if maker.mor else {})
    t.options[COLUMN_STATS] = "false"
    if maker.partition:
        style = maker.draw.choice(["true", "false"])
        t.options.update(
            {PARTITION: "part", HIVE_STYLE: style, KEYGEN: "org.apache.hudi.keygen.SimpleKeyGenerator"}
        )
        t.options["hoodie.datasource.write.partitionpath.urlencode"] = maker.draw.choice(["true", "false"])
    t.hadoop(OLD_LISTS, str(not maker.null_elements).lower())
    try:
        maker.insert(t)
        for _ in range(maker.draw.randint(4, 14)):
            maker.operate(t)
    finally:
        t.hadoop(OLD_LISTS, "true")
    _record(t, maker)
    t.note = f"Seed {seed}: {maker.schema()}"
    return t


def _record(t, maker):
    t.snapshot()
    if maker.mor:
        t.snapshot(readOptimized=True)
    instants = t.instants()
    for instant in instants:
        t.snapshot(asOf=instant["instant"])
    for _ in range(6):
        t.snapshot(filters=[maker.filter() for _ in range(maker.draw.randint(1, 2))])
    names = ["id", "ts", *maker.columns]
    some = maker.draw.sample(names, maker.draw.randint(1, len(names)))
    t.snapshot(projection=some, filters=[maker.filter()])
    early = maker.draw.choice(instants)["instant"]
    t.snapshot(asOf=early, filters=[["ts", "<=", maker.draw.randint(1, maker.clock)]])
    # The cleaner keeps ten commits. Over ranges that begin before those, Spark asks the newest snapshot what changed instead.
    times = sorted(i["completion"] for i in instants)[-8:]
    start = maker.draw.randrange(len(times))
    t.incremental(times[start], times[maker.draw.randrange(start, len(times))])
    t.incremental(times[-2] if len(times) > 1 else times[0])


def _plain(columns, prefix=""):
    """Columns that a filter may name, those inside structs too."""
    found = {}
    for name, kind in columns.items():
        if kind[0] == "struct":
            found.update(_plain(kind[1], f"{prefix}{name}."))
        elif isinstance(kind, tuple):
            continue
        elif kind != "binary":
            found[prefix + name] = kind
    return found


def _sql(kind):
    if isinstance(kind, str):
        return kind
    name, inner = kind
    if name == "array":
        return f"array<{_sql(inner)}>"
    if name == "map":
        return f"map<string,{_sql(inner)}>"
    return "struct<" + ",".join(f"{n}:{_sql(k)}" for n, k in inner.items()) + ">"
