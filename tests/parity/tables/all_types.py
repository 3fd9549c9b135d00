"""Every column type with plain, extreme, odd, zero and null values, in base files and in logs."""

import datetime
from decimal import Decimal

from ..spark.maker import COLUMN_STATS, MOR, OLD_LISTS, ORDERING, table

ALL_TYPES = """id string, ord long, b boolean, i8 byte, i16 short, i32 int, i64 long, f32 float, f64 double, d9 decimal(9,2),
    d18 decimal(18,4), d38 decimal(38,10), s string, bin binary, d date, ts timestamp, tsn timestamp_ntz, ai array<int>,
    ast array<struct<x:int,y:string>>, st struct<a:int,b:struct<c:string,d:double>>, mi map<string,int>,
    ms map<string,struct<p:long,q:array<string>>>"""


def at(text):
    return datetime.datetime.fromisoformat(text).replace(tzinfo=datetime.timezone.utc)


def all_types_rows(ord=1, nulls_in_lists=True):
    """Plain, extreme, odd and null rows of ALL_TYPES."""
    some = lambda values: values if nulls_in_lists else [v for v in values if v is not None]
    date, ntz = datetime.date.fromisoformat, datetime.datetime.fromisoformat
    plain = lambda i: (
        f"plain{i}",
        ord,
        i % 2 == 0,
        i,
        i * 100,
        i * 10**6,
        i * 10**12,
        i * 0.5,
        i / 3,
        Decimal(i) / 4,
        Decimal(i) / 16,
        Decimal(i) / 1024,
        f"s{i}",
        bytes(range(i)),
        date(f"2024-01-{i + 1:02}"),
        at(f"2024-05-0{i + 1}T12:34:56.{i:06}"),
        ntz(f"2024-05-0{i + 1}T01:02:03.{i:06}"),
        list(range(i)),
        [(i, f"y{i}"), (i + 1, None)],
        (i, (f"c{i}", i * 1.25)),
        {"one": i, "two": i + 1},
        {"k": (i, [f"q{i}", ""])},
    )
    low = (
        "low",
        ord,
        False,
        -128,
        -32768,
        -(2**31),
        -(2**63),
        -3.4028234663852886e38,
        -1.7976931348623157e308,
        Decimal("-9999999.99"),
        Decimal("-99999999999999.9999"),
        Decimal("-" + "9" * 28 + "." + "9" * 10),
        "",
        b"",
        date("1900-01-01"),
        at("1900-01-01T00:00:00"),
        ntz("1900-01-01T00:00:00"),
        [-(2**31)],
        [],
        (-(2**31), ("", float("-inf"))),
        {"": -(2**31)},
        {"": (-(2**63), [])},
    )
    high = (
        "high",
        ord,
        True,
        127,
        32767,
        2**31 - 1,
        2**63 - 1,
        3.4028234663852886e38,
        1.7976931348623157e308,
        Decimal("9999999.99"),
        Decimal("99999999999999.9999"),
        Decimal("9" * 28 + "." + "9" * 10),
        "zzz" * 50,
        bytes([255] * 40),
        date("9999-12-31"),
        at("2500-12-31T23:59:59.999999"),
        ntz("2500-12-31T23:59:59.999999"),
        some([2**31 - 1, None, 0]),
        some([None, (None, None), (1, "x")]),
        (2**31 - 1, ("max", float("inf"))),
        {"max": 2**31 - 1},
        {"max": (2**63 - 1, some(["a", None]))},
    )
    odd = (
        "ключ/:,= %é😀",
        ord,
        True,
        0,
        0,
        0,
        2**53 + 1,
        float("nan"),
        float("nan"),
        Decimal("0.00"),
        Decimal("-0.0001"),
        Decimal("0.0000000001"),
        'naïve 日本語 😀 " \\ \n\t',
        b"\x00\xff\x00",
        date("1969-12-31"),
        at("1969-12-31T23:59:59.999999"),
        ntz("1969-12-31T23:59:59.999999"),
        [],
        [(0, "")],
        (None, (None, None)),
        {},
        {},
    )
    zeros = (
        "zeros",
        ord,
        False,
        0,
        0,
        0,
        0,
        -0.0,
        -0.0,
        Decimal("0.00"),
        Decimal("0.0000"),
        Decimal("0E-10"),
        "0",
        b"0",
        date("1970-01-01"),
        at("1970-01-01T00:00:00"),
        ntz("1970-01-01T00:00:00"),
        [0],
        [(0, None)],
        (0, None),
        {"k": None, "l": 0},
        {"k": None},
    )
    tiny = (
        "tiny",
        ord,
        None,
        1,
        1,
        1,
        1,
        1.401298464324817e-45,
        5e-324,
        Decimal("0.01"),
        Decimal("0.0001"),
        Decimal("0.0000000001"),
        "\u0000x",
        b"\x01",
        date("2000-02-29"),
        at("1970-01-01T00:00:00.000001"),
        ntz("1970-01-01T00:00:00.000001"),
        some([None]),
        some([None]),
        None,
        {"é": 1},
        {"n": (None, None)},
    )
    nulls = ("nulls", ord) + (None,) * 20
    return [plain(i) for i in range(4)] + [low, high, odd, zeros, tiny, nulls]


def shifted(ord, nulls_in_lists=True):
    """The same keys with the values rotated among them, so that every update changes every column."""
    rows = all_types_rows(ord, nulls_in_lists)
    return [(row[0],) + rows[(i + 1) % len(rows)][1:] for i, row in enumerate(rows)]


def cow_all_types(t, note, nulls_in_lists=True, op="insert"):
    t.columns = ALL_TYPES
    t.options.update({ORDERING: "ord", COLUMN_STATS: "true"})
    t.hadoop(OLD_LISTS, str(not nulls_in_lists).lower())
    df = t.frame(all_types_rows(1, nulls_in_lists))
    if op == "bulk_insert":  # the row writer refuses byte
        df = df.withColumn("i8", df.i8.cast("int")).withColumn("i16", df.i16.cast("int"))
    t.write(df, op)
    if op == "insert":
        t.write(shifted(2, nulls_in_lists)[:6])
    t.hadoop(OLD_LISTS, "true")
    t.record_all()
    for column, op, value in [
        ("i64", ">", 2**53),
        ("d18", "<", "0"),
        ("d", ">=", "2024-01-01"),
        ("s", "=", ""),
        ("b", "=", True),
        ("f64", ">", 0.5),
        ("i32", "=", -(2**31)),
    ]:
        t.snapshot(filters=[[column, op, value]])
    t.note = (
        note
        + " Every Spark type with plain, extreme, odd, zero and null values; byte and short come back as int."
    )


@table()
def v9_cow_all_types(t):
    cow_all_types(
        t, "Three-level Parquet lists with null elements (parquet.avro.write-old-list-structure=false)."
    )


@table()
def v9_cow_all_types_old_lists(t):
    cow_all_types(
        t,
        "Two-level Parquet lists, the default of Hudi's Avro writer; no null elements.",
        nulls_in_lists=False,
    )


@table()
def v9_cow_all_types_bulk(t):
    cow_all_types(
        t, "Written by bulk_insert's row writer, which is Spark's own Parquet writer.", op="bulk_insert"
    )


def mor_all_types(t, note, nulls_in_lists, **more):
    t.columns = ALL_TYPES
    t.options.update(
        {**MOR, ORDERING: "ord", COLUMN_STATS: str(not t.bundle.startswith("0.")).lower(), **more}
    )  # 0.15's stats refuse wide decimals
    t.hadoop(OLD_LISTS, str(not nulls_in_lists).lower())
    write = lambda rows, op="upsert": t.write(
        t.frame(rows).drop(*(["tsn"] if t.bundle.startswith("0.") else [])), op
    )
    write(all_types_rows(1, nulls_in_lists), "insert")
    write(shifted(2, nulls_in_lists)[:7])
    write([row for row in all_types_rows(3, nulls_in_lists) if row[0] in ("high", "nulls")], "delete")
    write(
        [
            ("later",) + all_types_rows(4, nulls_in_lists)[5][1:],
            ("low",) + all_types_rows(4, nulls_in_lists)[6][1:],
        ]
    )
    t.hadoop(OLD_LISTS, "true")
    t.record_all()
    t.note = note


@table()
def v9_mor_all_types(t):
    mor_all_types(
        t,
        "The columns of v9_cow_all_types through Avro log blocks: updates of most rows, a delete of two keys, an insert. Two-level lists in the base file.",
        False,
        **{"hoodie.logfile.data.block.format": "avro"},
    )


@table()
def v9_mor_all_types_compacted(t):
    mor_all_types(t, "", True)
    t.queries.clear()
    t.hadoop(OLD_LISTS, "false")
    t.call("run_compaction", op="scheduleAndExecute", options="hoodie.compact.inline.max.delta.commits=1")
    t.hadoop(OLD_LISTS, "true")
    t.snapshot()
    t.snapshot(readOptimized=True)
    t.note = "As v9_mor_all_types with null list elements, then compacted: log values written to a base file."


@table()
def v9_mor_parquet_logs(t):
    with t.checksums():  # Hudi seeks a log block's footer in the wrong place of a stream without them
        mor_all_types(
            t,
            "As v9_mor_all_types with Parquet log blocks and three-level lists with null elements.",
            True,
            **{"hoodie.logfile.data.block.format": "parquet"},
        )


@table("0.15.0")
def v6_mor_all_types(t):
    mor_all_types(
        t, "As v9_mor_all_types, table version 6, without timestamp_ntz, which Hudi 0.15 refuses.", False
    )


def vectors(t, kind, note):
    t.create(
        "id int, emb VECTOR(3), e8 VECTOR(2, INT8), ed VECTOR(2, DOUBLE), doc BLOB, ts long",
        type=kind,
        primaryKey="id",
        preCombineField="ts",
    )
    of = lambda kind, *values: f"array({', '.join(f'cast({v} as {kind})' for v in values)})"
    inline = (
        lambda hex: f"named_struct('type', 'INLINE', 'data', X'{hex}', 'reference', cast(null as struct<external_path:string,offset:bigint,length:bigint,managed:boolean>))"
    )
    outside = "named_struct('type', 'OUT_OF_LINE', 'data', cast(null as binary), 'reference', named_struct('external_path', 'some/file.bin', 'offset', 16L, 'length', 3L, 'managed', false))"
    row = (
        lambda i, doc, ts: f"SELECT {i}, {of('float', i, i + 0.5, -i)}, {of('tinyint', i, -128)}, {of('double', i / 3, 1e300)}, {doc}, {ts}L"
    )
    t.sql(
        "INSERT INTO {t} "
        + " UNION ALL ".join(
            [
                row(1, inline("010203"), 1),
                row(2, outside, 1),
                row(3, inline(""), 1),
                "SELECT 4, null, null, null, null, 1L",
            ]
        )
    )
    t.sql(f"UPDATE {{t}} SET emb = {of('float', 0.1, -0.0, 3.4028235e38)}, ts = 2 WHERE id = 1")
    t.sql(
        f"MERGE INTO {{t}} AS t USING (SELECT 3 AS id, {of('tinyint', 127, 0)} AS e8, 3L AS ts) AS s ON t.id = s.id WHEN MATCHED THEN UPDATE SET t.e8 = s.e8, t.ts = s.ts"
    )
    t.sql("DELETE FROM {t} WHERE id = 2")
    t.sql("INSERT INTO {t} " + row(5, outside, 4))
    t.record_all(
        incremental=kind == "cow"
    )  # over log blocks with vectors an incremental query loses rows or brings the JVM down
    t.note = note


@table("1.2.0")
def v9_cow_vector_by_1_2(t):
    vectors(
        t,
        "cow",
        "Hudi 1.2.0's column types VECTOR (float, int8, double) and BLOB (inline and out of line), nulls among them; update, MERGE INTO, delete, insert.",
    )


@table("1.2.0")
def v9_mor_vector_by_1_2(t):
    vectors(
        t,
        "mor",
        "As v9_cow_vector_by_1_2, merge on read: vectors and blobs in log blocks, a partial update among them. No incremental queries: 1.2.0 crashes on them.",
    )
