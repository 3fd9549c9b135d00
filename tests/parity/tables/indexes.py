"""Index partitions of the metadata table."""

from datetime import date, datetime

from ..spark.maker import BY_CITY, CITY, COLUMN_STATS, DAWN, table

BY_RECORD_INDEX = {
    "hoodie.index.type": "RECORD_INDEX",
    "hoodie.metadata.record.index.enable": "true",
    "hoodie.metadata.record.index.min.filegroup.count": "2",
    "hoodie.metadata.record.index.max.filegroup.count": "2",
}


ONE_LOCK = {"hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.InProcessLockProvider"}


def statements(t, *lines, **more):
    """SQL that writes with the table's own options, which SQL takes from the session."""
    given = {**t.options, **ONE_LOCK, **{k.replace("__", "."): v for k, v in more.items()}}
    given = {k: v for k, v in given.items() if not k.startswith(("hoodie.datasource.", "hoodie.table."))}
    t.register()
    for key, value in given.items():
        t.spark.conf.set(key, value)
    try:
        for line in lines:
            t.sql(line)
    finally:
        for key in given:
            t.spark.conf.unset(key)
        t.spark.conf.set("hoodie.compact.inline", "false")


@table()
def v9_cow_secondary_index(t):
    t.columns = CITY
    t.options.update({**BY_CITY, **BY_RECORD_INDEX})
    row = lambda i, name, ts=1: (i, name, i * 1.5, ts, ["ams", "bru"][i % 2])
    t.write(
        [
            row(i, name)
            for i, name in enumerate(
                ["anna", "bob", "anna", None, "", "a$b", "a\\b", "naïve 😀", "$", "carl"]
            )
        ],
        "insert",
    )
    statements(t, "CREATE INDEX by_name ON {t} (name)", "CREATE INDEX by_price ON {t} (price)")
    t.write(
        [
            row(1, "anna", 2),
            row(2, "dora", 2),
            row(3, "no longer null", 2),
            row(9, "carl", 2),
            row(20, "anna", 2),
        ]
    )
    t.write([row(0, "", 3), row(5, "", 3)], "delete")
    t.write([row(4, None, 4), row(21, "a$b", 4)])
    t.record_all()
    for value in ("anna", "bob", "", "a$b", "a\\b", "naïve 😀", "$", "carl", "dora", "absent"):
        t.snapshot(filters=[["name", "=", value]])
    t.snapshot(filters=[["name", "IN", ["anna", "$", "absent"]]])
    t.snapshot(filters=[["name", "=", "anna"], ["city", "=", "bru"]])
    t.snapshot(filters=[["price", "=", 1.5]])
    t.snapshot(filters=[["price", "IN", [3.0, 13.5]]])
    t.snapshot(filters=[["id", "=", 20]])
    t.note = "Secondary indexes on a string column (null, empty, $, backslash, unicode) and a double column, made after the first commit; then upserts that change, keep and set null the indexed value, and deletes."


def secondary_index_times(t):
    """Secondary indexes on a date and on a timestamp; rows indexed by CREATE INDEX, by inserts, by upserts and by a delete."""
    t.columns = "id int, day date, at timestamp, ts long, city string"
    t.options.update({**BY_CITY, **BY_RECORD_INDEX})
    days = [None, date(1969, 12, 31), date(1970, 1, 1), date(2024, 2, 29), date(1901, 1, 2)]
    times = [None, datetime(1969, 12, 31, 23, 59, 59, 999999), datetime(1970, 1, 1), datetime(2024, 2, 29, 12, 30), datetime(1905, 11, 18, 1, 2, 3, 4)]
    row = lambda i, n, ts=1: (i, days[n], times[n], ts, ["ams", "bru"][i % 2])
    t.write([row(i, i % 5) for i in range(8)], "insert")
    statements(t, "CREATE INDEX by_day ON {t} (day)", "CREATE INDEX by_at ON {t} (at)")
    t.write([row(i, i % 5) for i in range(8, 14)], "insert")
    t.write([row(1, 3, 2), row(2, 2, 2), row(3, 0, 2), row(5, 4, 2), row(20, 1, 2)])
    t.write([row(8, 3, 3), row(7, 2, 3)], "delete")
    t.record_all()
    for day in days[1:]:
        t.snapshot(filters=[["day", "=", day.isoformat()]])
    for at in times[1:]:
        t.snapshot(filters=[["at", "=", f"{at.isoformat()}Z"]])
    t.snapshot(filters=[["day", "IN", ["1970-01-01", "2024-02-29", "2000-01-01"]]])
    t.note = "Secondary indexes on a date and a timestamp column (null, before 1970, leap day), made after the first commit; then an insert, an upsert that changes, keeps and sets null the indexed values, and a delete."


@table()
def v9_cow_secondary_index_times(t):
    secondary_index_times(t)


@table("1.0.2")
def v8_cow_secondary_index_times(t):
    secondary_index_times(t)


@table("1.2.0")
def v9_cow_secondary_index_times_by_1_2(t):
    secondary_index_times(t)


@table()
def v9_cow_expression_index(t):
    t.columns = "id int, name string, day string, ts long, city string"
    t.options.update({**BY_CITY, COLUMN_STATS: "true", "hoodie.parquet.small.file.limit": "0"})
    row = lambda i, name, ts: (i, name, f"2024-0{1 + i % 3}-1{i % 7}", ts, "ams" if i % 2 else "bru")
    t.write([row(i, f"Name{i}", 1_700_000_000 + i * 86_400) for i in range(6)], "insert")
    statements(
        t,
        "CREATE INDEX by_day ON {t} USING column_stats(ts) OPTIONS(expr='from_unixtime', format='yyyy-MM-dd')",
        "CREATE INDEX by_lower ON {t} USING column_stats(name) OPTIONS(expr='lower')",
        "CREATE INDEX by_upper ON {t} USING bloom_filters(name) OPTIONS(expr='upper')",
    )
    t.write([row(i, f"NAME{i}", 1_710_000_000 + i * 86_400) for i in range(6, 12)], "insert")
    t.write([row(1, "Zoë", 1_720_000_000), row(7, "aaa", 1_720_086_400)])
    t.write([row(2, "", 0)], "delete")
    t.record_all()
    for column, op, value in (
        ("ts", ">=", 1_720_000_000),
        ("ts", "<", 1_700_100_000),
        ("name", "=", "Name3"),
        ("name", ">", "Zo"),
        ("name", "=", "name3"),
        ("city", "=", "ams"),
    ):
        t.snapshot(filters=[[column, op, value]])
    for text in (
        "lower(name) = 'name10'",
        "lower(name) > 'name5'",
        "upper(name) = 'NAME3'",
        "from_unixtime(ts, 'yyyy-MM-dd') = '2024-03-09'",
        "from_unixtime(ts, 'yyyy-MM-dd') < '2023-11-17'",
    ):
        t.where(text)
    t.note = "Expression indexes: column stats on from_unixtime(ts) and lower(name), bloom filters on upper(name), made after the first commit; inserts, updates, a delete."


@table()
def v9_cow_bloom_index(t):
    t.columns = CITY
    t.options.update(
        {
            **BY_CITY,
            COLUMN_STATS: "true",
            "hoodie.parquet.small.file.limit": "0",
            "hoodie.index.type": "BLOOM",
            "hoodie.bloom.index.use.metadata": "true",
            "hoodie.metadata.index.bloom.filter.enable": "true",
            "hoodie.metadata.index.bloom.filter.file.group.count": "2",
        }
    )
    rows = lambda ids, tag, ts: [(i, f"{tag}{i}", i + 0.5, ts, "ams" if i % 2 else "bru") for i in ids]
    t.write(rows(range(8), "n", 1), "insert")
    t.write(rows(range(8, 16), "n", 1), "insert")
    t.write(rows([1, 2, 9, 30], "up", 2))
    t.write(rows([3, 10], "", 3), "delete")
    t.write(rows(range(40, 44), "bulk", 4), "bulk_insert")
    t.record_all()
    for value in (1, 9, 10, 30, 41, 99):
        t.snapshot(filters=[["id", "=", value]])
    t.note = "Bloom index over the metadata table's bloom_filters (two file groups) and column_stats: inserts, upsert, delete, bulk insert."


@table()
def v9_cow_partitioned_rli(t):
    t.columns = CITY
    t.options.update(
        {
            **BY_CITY,
            "hoodie.index.type": "RECORD_LEVEL_INDEX",
            "hoodie.metadata.record.level.index.enable": "true",
            "hoodie.metadata.record.level.index.min.filegroup.count": "2",
            "hoodie.metadata.record.level.index.max.filegroup.count": "2",
        }
    )
    row = lambda i, tag, ts, city: (i, f"{tag}{i}", i + 0.5, ts, city)
    t.write([row(i, "n", 1, "ams" if i % 2 else "bru") for i in range(10)], "insert")
    t.write(
        [
            row(1, "up", 2, "ams"),
            row(2, "up", 2, "bru"),
            row(1, "same key, other partition", 2, "bru"),
            row(20, "new", 2, "cph"),
        ]
    )
    t.write([row(3, "", 3, "ams"), row(1, "", 3, "bru")], "delete")
    t.write([row(3, "reborn", 4, "ams"), row(21, "new", 4, "ams")])
    t.record_all()
    for value in (1, 3, 4, 20, 99):
        t.snapshot(filters=[["id", "=", value]])
    t.snapshot(filters=[["id", "=", 1], ["city", "=", "ams"]])
    t.note = "Record index by partition (two shards each): the same key in two partitions, a new partition, deletes, a rebirth."


@table()
def v9_cow_mdt_compacted(t):
    t.columns = CITY
    t.options.update(
        {
            **BY_CITY,
            **BY_RECORD_INDEX,
            COLUMN_STATS: "true",
            "hoodie.metadata.index.bloom.filter.enable": "true",
            "hoodie.metadata.index.bloom.filter.file.group.count": "2",
            "hoodie.metadata.compact.max.delta.commits": "3",
            "hoodie.clean.automatic": "true",
            "hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS",
            "hoodie.clean.fileversions.retained": "2",
        }
    )
    rows = lambda ids, tag, ts: [(i, f"{tag}{i}", i + 0.5, ts, "ams" if i % 2 else "bru") for i in ids]
    t.write(rows(range(8), "n", 1), "insert")
    statements(t, "CREATE INDEX by_name ON {t} (name)")
    for n in range(10):
        t.write(rows(range(n * 2, n * 2 + 4), f"c{n}-", n + 2))
    t.write(rows([0, 1, 9], "", 30), "delete")
    t.record_all(
        incremental=False, time_travel=False
    )  # older slices are cleaned, and Spark then answers with what is left
    last = t.instants()[-3:]
    for i in last[1:]:
        t.snapshot(asOf=i["instant"])
    for a, b in ((0, 1), (1, 2), (0, 2)):
        t.incremental(last[a]["completion"], last[b]["completion"])
    t.incremental(DAWN)
    for filters in (
        [["id", "=", 5]],
        [["id", "=", 9]],
        [["name", "=", "c9-20"]],
        [["name", "=", "n0"]],
        [["price", ">", 25.0]],
        [["city", "=", "ams"], ["price", "<", 4.0]],
    ):
        t.snapshot(filters=filters)
    t.note = "Every index partition of the metadata table has been compacted several times and cleaned: HFile base files with newer instants and logs over them. The data table is cleaned too."
