"""The same shapes by other releases of Hudi, and tables that a newer one upgraded."""

import shutil

from ..spark.files import unzip
from ..spark.maker import BY_CITY, CITY, COLUMN_STATS, HIVE_STYLE, KEYGEN, MOR, PARTITION, PAYLOAD, table
from .failures import fail_last
from .indexes import BY_RECORD_INDEX, statements


@table("1.2.0")
def v9_cow_by_1_2(t):
    t.columns = CITY
    del (
        t.options[COLUMN_STATS],
        t.options["hoodie.embed.timeline.server"],
    )  # without its server 1.2.0 fails once the metadata table is compacted
    t.options.update(
        {
            **BY_CITY,
            **BY_RECORD_INDEX,
            "hoodie.metadata.compact.max.delta.commits": "3",
            "hoodie.clean.automatic": "true",
            "hoodie.clean.commits.retained": "3",
            "hoodie.rollback.using.markers": "false",
        }
    )
    rows = lambda ids, tag, ts: [(i, f"{tag}{i}", i + 0.5, ts, ["ams", "bru", "cph"][i % 3]) for i in ids]
    t.write(rows(range(9), "n", 1), "insert")
    t.write(rows([0, 1], "up", 2))
    t.write(rows([2, 3], "", 3), "delete")
    t.write(rows([20, 23, 5], "over", 5), "insert_overwrite")  # refused once there is a secondary index
    t.write(
        rows([31], "new", 5),
        "insert",
        hoodie__clustering__inline="true",
        hoodie__clustering__inline__max__commits="1",
        hoodie__clustering__plan__strategy__sort__columns="price",
    )
    statements(t, "CREATE INDEX by_name ON {t} (name)", "UPDATE {t} SET name = 'by SQL' WHERE id = 4")
    t.write(rows([6], "failed write", 6))
    fail_last(t, "commit")
    t.write(rows([0, 30], "last", 7))
    t.record_all()
    for filters in (
        [["id", "=", 30]],
        [["name", "=", "by SQL"]],
        [["city", "=", "cph"]],
        [["price", ">", 5.0]],
    ):
        t.snapshot(filters=filters)
    t.note = "Hudi 1.2.0, copy on write: insert, upsert, delete, insert overwrite, insert with clustering, secondary index, SQL update, a failed write that is rolled back, upsert; metadata table compacted, data cleaned."


@table("1.2.0")
def v9_mor_by_1_2(t):
    t.columns = "id int, name string, price double, ts long, _hoodie_is_deleted boolean, city string"
    del t.options[COLUMN_STATS]
    t.options.update({**MOR, **BY_CITY, **BY_RECORD_INDEX, "hoodie.parquet.small.file.limit": "0"})
    row = lambda i, name, ts, gone=False: (i, name, i * 1.5, ts, gone, "ams" if i % 2 else "bru")
    t.write([row(i, f"base{i}", 100) for i in range(12)], "insert")
    t.write(
        [
            row(0, "newer", 200),
            row(1, "older loses", 50),
            row(2, "equal", 100),
            row(3, "flag", 200, True),
            row(4, "older flag", 50, True),
        ]
    )
    t.write([row(6, "", 200), row(7, "", 50)], "delete")
    t.call("run_compaction", op="scheduleAndExecute", options="hoodie.compact.inline.max.delta.commits=1")
    statements(t, "UPDATE {t} SET name = 'by SQL', ts = 300 WHERE id = 5", "DELETE FROM {t} WHERE id = 8")
    t.write([row(6, "reborn, higher", 300), row(0, "older than the log", 150), row(20, "new", 1)])
    t.record_all()
    t.snapshot(filters=[["id", "=", 5]])
    t.snapshot(filters=[["price", ">", 12.0]])
    t.note = "Hudi 1.2.0, merge on read: event-time ordering with deletes by flag, by operation and by SQL, compaction, SQL update, more logs."


def cow_parts(t):
    t.columns = CITY
    t.options.update(BY_CITY)
    cities = ["berlin", "paris", "rome"]
    t.write([(i, f"n{i}", i * 1.5, 1, cities[i % 3]) for i in range(12)], "insert")
    t.write([(i, f"up{i}", i * 2.5, 2, cities[i % 3]) for i in (0, 1, 4)])
    t.write([(2, "", 0.0, 3, "rome"), (3, "", 0.0, 3, "berlin")], "delete")
    t.write([(i, f"late{i}", i * 1.0, 4, "paris") for i in (20, 21)], "insert")
    t.record_all()
    t.snapshot(filters=[["city", "=", "paris"]])
    t.snapshot(filters=[["id", "=", 4]])
    t.note = "Hive-style partitions: insert, update, delete, insert packed into a small file."


@table("1.0.2")
def v8_cow_parts(t):
    cow_parts(t)


@table("0.15.0")
def v6_cow_parts(t):
    cow_parts(t)


def mor_parts(t, note, save=True, **more):
    t.columns = "id int, name string, price double, ts long, _hoodie_is_deleted boolean, city string"
    t.options.update(
        {**MOR, **BY_CITY, PAYLOAD: "org.apache.hudi.common.model.DefaultHoodieRecordPayload", **more}
    )
    row = lambda i, name, ts, gone=False: (i, name, i * 1.5, ts, gone, "ams" if i % 2 else "bru")
    t.write([row(i, f"base{i}", 100) for i in range(12)], "insert")
    t.write(
        [
            row(0, "newer", 200),
            row(1, "older loses", 50),
            row(2, "equal", 100),
            row(3, "flag", 200, True),
            row(4, "older flag", 50, True),
        ]
    )
    t.write([row(6, "", 200), row(7, "", 50), row(8, "", 100)], "delete")
    reborn = (
        [] if t.bundle == "1.0.2" else [row(6, "reborn, higher", 300)]
    )  # 1.0.2 cannot read that: Integer against Long
    t.write(reborn + [row(0, "older than the log", 150), row(20, "new", 1)])
    t.record_all()
    if save:
        t.note = note


@table("1.0.2")
def v8_mor_parts(t):
    mor_parts(t, "Event-time ordering over Avro logs with deletes by flag and by operation.")


@table("0.15.0")
def v6_mor_parts(t):
    mor_parts(t, "", save=False)
    t.queries.clear()
    t.write([(1, "failed write", 0.0, 900, False, "ams"), (5, "failed write", 0.0, 900, False, "ams")])
    failed = fail_last(t, "deltacommit")
    t.write([(5, "after rollback", 5.5, 901, False, "ams")])
    t.record_all()
    t.snapshot(asOf=failed)
    t.note = "Event-time ordering over Avro logs with deletes; the log of one failed deltacommit stays behind, its instant on no timeline and no command block after it."


@table("1.0.2")
def v8_mor_hfile_mdt(t):
    t.columns = CITY
    t.options.update(
        {
            **MOR,
            **BY_CITY,
            "hoodie.index.type": "RECORD_INDEX",
            "hoodie.metadata.record.index.enable": "true",
            "hoodie.metadata.record.index.min.filegroup.count": "2",
            COLUMN_STATS: "true",
            "hoodie.metadata.compact.max.delta.commits": "3",
        }
    )
    for n in range(6):
        t.write([(i, f"c{n}", n * 10.0 + i, n, "ams" if i % 2 else "bru") for i in range(n * 2, n * 2 + 4)])
    t.write([(3, "", 0.0, 9, "ams")], "delete")
    t.record_all()
    t.snapshot(filters=[["id", "=", 3]])
    t.snapshot(filters=[["id", "=", 5]])
    t.note = "Record index and column stats in a metadata table that has been compacted (HFile base files and HFile log blocks)."


@table("0.15.0")
def v6_cow_append_no_meta(t):
    t.options.update({"hoodie.populate.meta.fields": "false", "hoodie.metadata.enable": "false"})
    for n in range(3):
        t.write([(n * 4 + i, f"n{i}", i + 0.5, n) for i in range(4)], "bulk_insert")
    t.record_all()
    t.note = "hoodie.populate.meta.fields=false, not partitioned, no metadata table, append only."


@table("0.15.0")
def v6_cow_legacy(t):
    t.columns = CITY
    t.options.update(
        {
            PARTITION: "city",
            HIVE_STYLE: "false",
            KEYGEN: "org.apache.hudi.keygen.ComplexKeyGenerator",
            "hoodie.metadata.enable": "false",
            PAYLOAD: "org.apache.hudi.common.model.OverwriteWithLatestAvroPayload",
        }
    )
    t.write([(i, f"n{i}", i + 0.5, 1, "ams" if i % 2 else "bru") for i in range(6)], "insert")
    t.write([(1, "older ts, still wins", 9.5, 0, "ams")])
    t.write([(2, "", 0.0, 3, "bru")], "delete")
    t.record_all()
    t.note = "OverwriteWithLatestAvroPayload, ComplexKeyGenerator with one key field, partitions without names, no metadata table."


def upgraded(t, source, note):
    shutil.copytree(unzip(source, t.out, t.work), t.path)
    t.options["hoodie.table.name"] = source
    t.columns = "id int, name string, price double, ts long, _hoodie_is_deleted boolean, city string"
    t.options.update({**MOR, **BY_CITY})
    t.write(
        [(5, "after upgrade", 5.5, 1000, False, "ams"), (30, "new after upgrade", 30.5, 1000, False, "bru")]
    )
    t.record_all()
    t.note = note


@table()
def v9_upgraded_from_8(t):
    upgraded(t, "v8_mor_parts", "v8_mor_parts, upgraded by a write of Hudi 1.1.1.")


@table()
def v9_upgraded_from_6(t):
    upgraded(t, "v6_mor_parts", "v6_mor_parts, upgraded by a write of Hudi 1.1.1.")
