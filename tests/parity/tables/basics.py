"""Copy-on-write tables without and with partitions: every verb, and the odd small ones."""

from ..spark.maker import BY_CITY, CITY, COLUMN_STATS, DAWN, KEY, NUM_ENTRIES, ORDERING, SIMPLE, table


@table()
def v9_cow_simple(t):
    del t.options[NUM_ENTRIES], t.options[COLUMN_STATS]
    t.write([(i, f"n{i}", i * 1.5, 1) for i in range(6)], "insert")
    t.write([(0, "up0", 10.0, 2), (1, "up1", 11.0, 2), (6, "new6", 16.0, 2)])
    t.write([(1, "up1 again", 21.0, 3), (7, "new7", 17.0, 3)])
    t.write([(2, "", 0.0, 4), (7, "", 0.0, 4)], "delete")
    t.record_all()
    t.snapshot(filters=[["price", ">", 9.0]])
    t.note = "Not partitioned: insert, two upserts, delete. Bloom filter size left at its default."


@table()
def v9_cow_hive_parts(t):
    t.columns = CITY
    t.options.update(
        {
            **BY_CITY,
            "hoodie.index.type": "RECORD_INDEX",
            "hoodie.metadata.record.index.enable": "true",
            "hoodie.metadata.record.index.min.filegroup.count": "2",
            COLUMN_STATS: "true",
            "hoodie.metadata.index.partition.stats.enable": "true",
        }
    )
    cities = ["berlin", "paris", "rome"]
    t.write([(i, f"n{i}", i * 1.5, 1, cities[i % 3]) for i in range(12)], "insert")
    t.write([(i, f"up{i}", i * 2.5, 2, cities[i % 3]) for i in (0, 1, 4)])
    t.write([(2, "", 0.0, 3, "rome"), (3, "", 0.0, 3, "berlin")], "delete")
    t.write([(i, f"late{i}", i * 1.0, 4, "paris") for i in (20, 21)], "insert")
    t.write([(5, "moved", 55.0, 5, "oslo")], hoodie__record__index__update__partition__path="true")
    t.record_all()
    t.snapshot(filters=[["city", "=", "paris"]])
    t.snapshot(filters=[["city", "IN", ["rome", "oslo"]], ["price", ">=", 10.0]])
    t.snapshot(filters=[["id", "=", 4]])
    t.note = """Hive-style partitions: insert, update, delete, insert packed into paris's small file, then an update
        that moves key 5 from rome to oslo. Metadata table with files, column_stats, partition_stats, record_index."""


@table()
def v9_cow_overwrite(t):
    t.columns = CITY
    t.options.update(BY_CITY)
    rows = lambda ids, tag, city, ts: [(i, f"{tag}{i}", i + 0.25, ts, city) for i in ids]
    t.write(
        rows(range(3), "a", "ams", 1) + rows(range(3, 6), "b", "bru", 1) + rows(range(6, 9), "c", "cph", 1),
        "insert",
    )
    t.write(rows([1, 30], "over", "ams", 2) + rows([40], "over", "dub", 2), "insert_overwrite")
    t.write(rows([30], "up", "ams", 3))
    t.write(
        rows([], "", "", 0), "delete_partition", hoodie__datasource__write__partitions__to__delete="city=bru"
    )
    t.write(rows([50, 51], "table", "cph", 5) + rows([52], "table", "eze", 5), "insert_overwrite_table")
    t.write(rows([53], "after", "bru", 6))
    t.record_all()
    t.note = "insert_overwrite of one partition and a new one, update, delete_partition, insert_overwrite_table, insert into the deleted partition."


@table()
def v9_cow_keyless(t):
    t.columns = CITY
    t.options.update(BY_CITY)
    del t.options[KEY], t.options[ORDERING]
    t.write([(i, f"n{i}", 1.5, 7, "ams" if i % 2 else "bru") for i in range(6)], "insert")
    t.write([(0, "n0", 1.5, 7, "bru")], "insert")
    t.register()
    t.sql("UPDATE {t} SET name = 'updated' WHERE id = 3")
    t.sql("DELETE FROM {t} WHERE id = 4")
    t.record_all()
    t.note = "No record key: keys are generated, equal rows stay apart; SQL update and delete."


@table()
def v9_cow_archived(t):
    t.options.update(
        {
            "hoodie.keep.min.commits": "5",
            "hoodie.keep.max.commits": "7",
            "hoodie.clean.automatic": "true",
            "hoodie.cleaner.commits.retained": "3",
            "hoodie.timeline.compaction.batch.size": "4",
            "hoodie.metadata.compact.max.delta.commits": "6",
        }
    )
    all_instants = []
    for n in range(42):
        t.write([(n % 10, f"c{n}", n * 1.0, n)])
        all_instants.append(t.instants()[-1])
    t.snapshot()
    live = t.instants()
    for i in live:
        t.snapshot(asOf=i["instant"])
    for i in (all_instants[0], all_instants[20], all_instants[-len(live) - 1]):
        t.snapshot(asOf=i["instant"])
    for start in (live[0], live[-3]):
        t.incremental(start["completion"])
    t.incremental(all_instants[0]["completion"], all_instants[3]["completion"])
    t.incremental(all_instants[30]["completion"], all_instants[38]["completion"])
    t.incremental(DAWN)
    t.snapshot(asOf="20200101000000000")
    t.notes.append(
        "All instants in order: " + " ".join(f"{i['instant']}_{i['completion']}" for i in all_instants) + "."
    )
    t.note = "42 small commits with cleaning and archiving: instants in the LSM history, time travel to live, archived and too early instants."


@table()
def v9_cow_no_meta_fields(t):
    t.columns = CITY
    t.options.update({**BY_CITY, "hoodie.populate.meta.fields": "false"})
    for n in range(3):
        t.write(
            [(n * 4 + i, f"n{i}", i + 0.5, n, "ams" if i % 2 else "bru") for i in range(4)], "bulk_insert"
        )
    t.record_all()
    t.note = "hoodie.populate.meta.fields=false, append only: the _hoodie_ columns are absent or null, see the rows."


@table()
def v9_cow_empty(t):
    t.create(SIMPLE, type="cow", primaryKey="id", preCombineField="ts")
    t.snapshot()
    t.note = "Created by SQL, no commits."


@table()
def v9_cow_empty_commit(t):
    t.write([], "insert")
    t.record_all()
    t.note = "One commit with zero rows."


@table()
def v9_cow_all_deleted(t):
    t.columns = CITY
    t.options.update(BY_CITY)
    t.write([(i, f"n{i}", i + 0.5, 1, "ams" if i % 2 else "bru") for i in range(4)], "insert")
    t.write([(i, "", 0.0, 2, "ams" if i % 2 else "bru") for i in range(4)], "delete")
    t.record_all()
    t.note = "Every row deleted: base files with zero rows."


def codec(t, name):
    t.options["hoodie.parquet.compression.codec"] = name
    t.write([(i, f"name {i % 7} " * 4, i * 1.5, 1) for i in range(300)], "insert")
    t.write([(i, "updated", i * 2.5, 2) for i in range(0, 300, 50)])
    t.snapshot()
    t.snapshot(filters=[["name", "=", "updated"]])
    t.note = f"Base files with {name} pages."


@table()
def v9_cow_snappy(t):
    codec(t, "snappy")


@table()
def v9_cow_zstd(t):
    codec(t, "zstd")


@table()
def v9_cow_lz4(t):
    codec(t, "lz4_raw")


@table()
def v9_cow_uncompressed(t):
    codec(t, "uncompressed")
