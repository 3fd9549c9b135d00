"""Partition paths of every form, and the columns that come from them."""

import datetime

from ..spark.maker import BY_CITY, CITY, HIVE_STYLE, KEYGEN, PARTITION, table


@table()
def v9_cow_partition_types(t):
    t.columns = "id int, v string, ts long, region string, day date"
    t.options.update(
        {
            PARTITION: "region,day",
            HIVE_STYLE: "true",
            KEYGEN: "org.apache.hudi.keygen.ComplexKeyGenerator",
            "hoodie.datasource.write.partitionpath.urlencode": "true",
        }
    )
    day = datetime.date.fromisoformat
    regions = [
        "eu",
        "a b",
        "a/b",
        "a:b",
        "100%",
        "münchen 日本",
        "k=v",
        "a+b&c",
        "",
        None,
        "__HIVE_DEFAULT_PARTITION__x",
    ]
    t.write(
        [(i, f"v{i}", 1, r, day("2024-02-29")) for i, r in enumerate(regions)]
        + [(50, "null day", 1, "eu", None), (51, "old", 1, "eu", day("1969-12-31"))],
        "insert",
    )
    t.write(
        [
            (2, "updated", 2, "a/b", day("2024-02-29")),
            (9, "updated", 2, None, day("2024-02-29")),
            (60, "new", 2, "100%", day("2025-01-01")),
        ]
    )
    t.record_all()
    for r in ("a b", "a/b", "100%", "münchen 日本", "k=v"):
        t.snapshot(filters=[["region", "=", r]])
    t.snapshot(filters=[["day", ">", "2024-12-31"]])
    t.snapshot(filters=[["day", "<=", "2024-02-29"], ["region", "=", "eu"]])
    t.note = "Hive-style, URL-encoded, two levels (string, date): null and empty values, space, slash, colon, percent, equals sign, plus, unicode."


@table()
def v9_cow_partition_plain(t):
    """Typed partition columns, hive style, no URL encoding."""
    t.columns = "id int, v string, ts long, year int, flag boolean, big long"
    t.options.update(
        {PARTITION: "year,flag,big", HIVE_STYLE: "true", KEYGEN: "org.apache.hudi.keygen.ComplexKeyGenerator"}
    )
    t.write([(i, f"v{i}", 1, 2020 + i % 3, i % 2 == 0, 10**12 * (i % 2)) for i in range(8)], "insert")
    t.write([(3, "updated", 2, 2020, False, 10**12), (20, "new", 2, -1, True, -5)])
    t.record_all()
    t.snapshot(filters=[["year", ">=", 2021]])
    t.snapshot(filters=[["flag", "=", True], ["big", "<=", 0]])
    t.note = "Hive-style partitions of int, boolean and long, not URL-encoded."


@table()
def v9_cow_nonhive_multi(t):
    t.columns = "id int, v string, ts long, region string, city string"
    t.options.update(
        {PARTITION: "region,city", HIVE_STYLE: "false", KEYGEN: "org.apache.hudi.keygen.ComplexKeyGenerator"}
    )
    places = [("eu", "rome"), ("eu", "paris"), ("us", "austin")]
    t.write([(i, f"v{i}", 1, *places[i % 3]) for i in range(9)], "insert")
    t.write([(0, "updated", 2, "eu", "rome"), (20, "new", 2, "apac", "kyoto")])
    t.write([(4, "", 3, "eu", "paris")], "delete")
    t.record_all()
    t.snapshot(filters=[["region", "=", "eu"]])
    t.snapshot(filters=[["city", "!=", "rome"]])
    t.note = "Two partition levels without names in the paths."


@table()
def v9_cow_date_partition(t):
    t.columns = "id int, v string, ts long, day date"
    t.options.update({PARTITION: "day", HIVE_STYLE: "true"})
    day = datetime.date.fromisoformat
    t.write(
        [
            (i, f"v{i}", 1, day(d))
            for i, d in enumerate(["1969-12-31", "1970-01-01", "2024-02-29", "2024-12-31", "2025-01-01"])
        ],
        "insert",
    )
    t.write([(2, "updated", 2, day("2024-02-29")), (9, "new", 2, day("2026-06-01"))])
    t.record_all()
    for op, value in ((">", "2024-12-31"), ("<", "1970-01-01"), ("=", "2024-02-29"), ("!=", "2024-02-29")):
        t.snapshot(filters=[["day", op, value]])
    t.note = "Hive-style partitions of a date column, filters on it."


@table()
def v9_cow_drop_partition_cols(t):
    t.columns = CITY
    t.options.update({**BY_CITY, "hoodie.datasource.write.drop.partition.columns": "true"})
    t.write([(i, f"n{i}", i + 0.5, 1, "ams" if i % 2 else "bru") for i in range(6)], "insert")
    t.write([(1, "updated", 9.5, 2, "ams"), (9, "new", 9.5, 2, "cph")])
    t.record_all()
    t.snapshot(filters=[["city", "=", "ams"]])
    t.note = "The partition column is not in the data files; its value comes from the path."


@table()
def v9_cow_timestamp_keygen(t):
    t.columns = "id int, v string, ts long, happened long"
    t.options.update(
        {
            PARTITION: "happened",
            HIVE_STYLE: "false",
            KEYGEN: "org.apache.hudi.keygen.TimestampBasedKeyGenerator",
            "hoodie.keygen.timebased.timestamp.type": "EPOCHMILLISECONDS",
            "hoodie.keygen.timebased.output.dateformat": "yyyy/MM/dd",
            "hoodie.keygen.timebased.timezone": "UTC",
        }
    )
    day = 86_400_000
    t.write([(i, f"v{i}", 1, 1_700_000_000_000 + i * day // 2) for i in range(6)], "insert")
    t.write([(0, "updated", 2, 1_700_000_000_000), (9, "before 1970", 2, -1)])
    t.record_all()
    t.note = """Epoch milliseconds to yyyy/MM/dd: Spark declares the partition column as string and returns the file's value as text.
        No filter on it is recorded, since Spark compares such filters with the path's text and drops none of the rows."""


@table()
def v9_cow_timestamp_keygen_string(t):
    t.columns = "id int, v string, ts long, happened string"
    t.options.update(
        {
            PARTITION: "happened",
            HIVE_STYLE: "true",
            KEYGEN: "org.apache.hudi.keygen.TimestampBasedKeyGenerator",
            "hoodie.keygen.timebased.timestamp.type": "DATE_STRING",
            "hoodie.keygen.timebased.input.dateformat": "yyyy-MM-dd'T'HH:mm:ssZ",
            "hoodie.keygen.timebased.output.dateformat": "yyyyMMddHH",
            "hoodie.keygen.timebased.timezone": "UTC",
        }
    )
    t.write([(i, f"v{i}", 1, f"2024-03-0{i + 1}T23:30:00+0{i}00") for i in range(4)], "insert")
    t.write([(1, "updated", 2, "2024-03-02T23:30:00+0100")])
    t.record_all()
    t.note = "Date strings with zone offsets to yyyyMMddHH, hive style."


@table()
def v9_cow_custom_keygen(t):
    t.columns = "id int, v string, ts long, region string, happened string"
    t.options.update(
        {
            PARTITION: "region:SIMPLE,happened:TIMESTAMP",
            KEYGEN: "org.apache.hudi.keygen.CustomKeyGenerator",
            HIVE_STYLE: "true",
            "hoodie.keygen.timebased.timestamp.type": "DATE_STRING",
            "hoodie.keygen.timebased.input.dateformat": "yyyyMMdd",
            "hoodie.keygen.timebased.output.dateformat": "yyyy-MM-dd",
            "hoodie.keygen.timebased.timezone": "UTC",
        }
    )
    t.write([(i, f"v{i}", 1, "eu" if i % 2 else "us", f"2024030{i + 1}") for i in range(5)], "insert")
    t.write([(0, "updated", 2, "us", "20240301")])
    t.record_all()
    t.snapshot(filters=[["region", "=", "us"]])
    t.note = "CustomKeyGenerator: a plain partition field and a timestamp one. (With a long as the timestamp field Spark itself cannot read the table.)"
