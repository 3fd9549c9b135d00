"""Compaction, log compaction and clustering: run, planned, inline."""

from ..spark.maker import BY_CITY, CITY, COLUMN_STATS, MOR, table


def compacted(t, note):
    t.columns = CITY
    t.options.update({**MOR, **BY_CITY, COLUMN_STATS: "true"})
    once = "hoodie.compact.inline.max.delta.commits=1"
    rows = lambda ids, tag, ts, city: [(i, f"{tag}{i}", i * 1.0 + ts, ts, city) for i in ids]
    t.write(rows(range(5), "base", 1, "ams") + rows(range(10, 15), "base", 1, "bru"), "insert")
    t.write(rows([0, 1], "up", 2, "ams"))
    t.write(rows([2], "gone", 3, "ams"), "delete")
    t.call("run_compaction", op="schedule", options=once)
    t.call("run_compaction", op="run", options=once)
    t.write(rows([1, 3, 5], "after", 4, "ams"))
    t.write(rows([10, 11], "up", 5, "bru"))
    t.spark.sql(f"CALL run_compaction(op => 'schedule', table => '{t.name}', options => '{once}')").collect()
    t.write(rows([10, 12, 15], "later", 6, "bru"))
    t.record_all()
    t.note = note


@table()
def v9_mor_compacted(t):
    compacted(
        t,
        "ams: logs, a compaction that ran, more logs. Then logs in bru, a compaction that is scheduled and not run, and one more log.",
    )


@table("1.0.2")
def v8_mor_compacted(t):
    compacted(t, "As v9_mor_compacted, table version 8.")


@table("0.15.0")
def v6_mor_compacted(t):
    compacted(t, "As v9_mor_compacted, table version 6: log names carry the base instant.")


@table()
def v9_mor_inline_compaction(t):
    t.columns = CITY
    t.options.update(
        {**MOR, **BY_CITY, "hoodie.compact.inline": "true", "hoodie.compact.inline.max.delta.commits": "2"}
    )
    for n in range(6):
        t.write([(i, f"c{n}", n * 10.0 + i, n, "ams" if i % 2 else "bru") for i in range(n, n + 4)])
    t.record_all()
    t.note = "Inline compaction after every second deltacommit."


@table()
def v9_mor_logcompaction(t):
    t.columns = CITY
    t.options.update(
        {
            **MOR,
            **BY_CITY,
            "hoodie.datasource.compaction.async.enable": "true",
            "hoodie.compact.inline.max.delta.commits": "50",
            "hoodie.log.compaction.enable": "true",
            "hoodie.log.compaction.inline": "true",
            "hoodie.log.compaction.blocks.threshold": "2",
            "hoodie.parquet.small.file.limit": "0",
        }
    )
    row = lambda i, tag, ts, city="ams": (i, f"{tag}{i}", i + 0.5, ts, city)
    t.write([row(i, "n", 1) for i in range(5)] + [row(i, "n", 1, "bru") for i in range(10, 13)], "insert")
    for n in range(5):
        t.write(
            [row(n % 3, f"c{n}-", 2 + n), row(n % 4, f"c{n}-", 2 + n)]
            + ([row(10, "b", 2 + n, "bru")] if n < 2 else [])
        )
    t.write([row(4, "", 20), row(0, "", 20)], "delete")
    for n in range(2):
        t.write([row(n, f"late{n}-", 30 + n)])
    t.record_all()
    t.note = "Log compaction (inline, after two blocks): new logs that replace earlier log files, again and again, with deletes among them; no compaction."


def clustered(t):
    t.columns = CITY
    t.options.update({**BY_CITY, COLUMN_STATS: "true", "hoodie.parquet.small.file.limit": "0"})
    rows = lambda ids, ts: [(i, f"n{i}", (i * 7) % 10 + 0.5, ts, "ams" if i % 2 else "bru") for i in ids]
    for n in range(3):
        t.write(rows(range(n * 6, n * 6 + 6), 1), "insert")
    t.write(
        rows(range(18, 22), 1),
        "insert",
        hoodie__clustering__inline="true",
        hoodie__clustering__inline__max__commits="1",
        hoodie__clustering__plan__strategy__sort__columns="price",
    )
    t.write([(1, "after clustering", 99.0, 2, "ams"), (40, "new", 40.0, 2, "bru")])
    t.record_all()
    t.note = (
        "Several small files per partition, one clustering (replacecommit) sorted by price, then an update."
    )


@table()
def v9_cow_clustered(t):
    clustered(t)


@table("0.15.0")
def v6_cow_clustered(t):
    clustered(t)


@table()
def v9_cow_clustering_pending(t):
    t.columns = CITY
    t.options.update({**BY_CITY, "hoodie.parquet.small.file.limit": "0"})
    rows = lambda ids, ts: [(i, f"n{i}", (i * 7) % 10 + 0.5, ts, "ams" if i % 2 else "bru") for i in ids]
    for n in range(3):
        t.write(rows(range(n * 4, n * 4 + 4), 1), "insert")
    t.call("run_clustering", op="schedule", order="price", options="hoodie.clustering.inline.max.commits=1")
    t.write([(40, "new", 40.0, 2, "bru")], "insert")
    t.record_all()
    t.note = "A clustering that is scheduled and not run, then an insert."


@table()
def v9_mor_clustered(t):
    t.columns = CITY
    t.options.update({**MOR, **BY_CITY, "hoodie.parquet.small.file.limit": "0"})
    rows = lambda ids, ts: [(i, f"n{i}-{ts}", (i * 7) % 10 + 0.5, ts, "ams" if i % 2 else "bru") for i in ids]
    t.write(rows(range(6), 1), "insert")
    t.write(rows(range(6, 12), 1), "insert")
    t.write(rows([0, 1, 6], 2))
    t.call(
        "run_clustering",
        op="scheduleAndExecute",
        order="price",
        options="hoodie.clustering.inline.max.commits=1",
    )
    t.write(rows([1, 2], 3))
    t.write(rows([3], 4), "delete")
    t.record_all()
    t.note = "Base files with logs, one clustering, then logs on the clustered files."


@table()
def v9_cow_partition_dropped(t):
    t.columns = CITY
    retained = {"hoodie.clean.commits.retained": "1", "hoodie.clean.automatic": "true"}
    t.options.update({**BY_CITY, COLUMN_STATS: "true", **retained})
    rows = lambda ids, tag, ts, city: [(i, f"{tag}{i}", i + 0.5, ts, city) for i in ids]
    t.write(rows(range(4), "a", 1, "ams") + rows(range(10, 13), "b", 1, "bru"), "insert")
    t.write(
        rows([], "", 0, ""), "delete_partition", hoodie__datasource__write__partitions__to__delete="city=bru"
    )
    t.write(rows([1], "after", 3, "ams"))
    t.record_all()
    t.note = "delete_partition of one partition, then an upsert in the other, whose clean (one commit retained) removed the partition whole."
