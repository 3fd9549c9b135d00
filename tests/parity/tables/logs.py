"""Log files of every kind: over buckets, alone, partial, with HFile blocks."""

from ..spark.maker import BY_CITY, CITY, MOR, MOR_LOGS, table
from .ordering import DELETABLE


@table()
def v9_mor_bucket(t):
    t.columns = CITY
    t.options.update(
        {
            **MOR,
            **BY_CITY,
            "hoodie.index.type": "BUCKET",
            "hoodie.index.bucket.engine": "SIMPLE",
            "hoodie.bucket.index.num.buckets": "4",
            "hoodie.storage.layout.type": "BUCKET",
            "hoodie.storage.layout.partitioner.class": "org.apache.hudi.table.action.commit.SparkBucketIndexPartitioner",
        }
    )
    t.write([(i, f"n{i}", i + 0.5, 1, "ams" if i % 3 else "bru") for i in range(20)])
    t.write([(i, f"up{i}", i + 1.5, 2, "ams" if i % 3 else "bru") for i in (0, 1, 2, 30)])
    t.write([(4, "", 0.0, 3, "ams"), (6, "", 0.0, 3, "bru")], "delete")
    t.record_all()
    t.note = "Simple bucket index with 4 buckets: file ids begin with the bucket number; upserts and deletes. The first writes make base files here."


@table()
def v9_mor_bucket_compacted(t):
    t.options.update(
        {
            **MOR,
            "hoodie.index.type": "BUCKET",
            "hoodie.bucket.index.num.buckets": "2",
            "hoodie.storage.layout.type": "BUCKET",
            "hoodie.storage.layout.partitioner.class": "org.apache.hudi.table.action.commit.SparkBucketIndexPartitioner",
        }
    )
    t.write([(i, f"n{i}", i + 0.5, 1) for i in range(8)])
    t.write([(i, f"up{i}", i + 1.5, 2) for i in (0, 1)])
    t.call("run_compaction", op="scheduleAndExecute", options="hoodie.compact.inline.max.delta.commits=1")
    t.write([(i, f"later{i}", i + 2.5, 3) for i in (1, 2, 20)])
    t.record_all()
    t.note = "Bucket index, not partitioned: logs, compacted, more logs."


@table()
def v9_mor_log_only(t):
    t.columns = CITY
    t.options.update({**MOR, **BY_CITY, "hoodie.index.type": "INMEMORY"})
    t.write([(i, f"n{i}", i + 0.5, 1, "ams" if i % 2 else "bru") for i in range(10)])
    t.write([(i, f"up{i}", i + 1.5, 2, "ams" if i % 2 else "bru") for i in (0, 1, 2, 30)])
    t.write([(4, "", 0.0, 3, "bru"), (5, "", 0.0, 3, "ams")], "delete")
    t.write([(6, "last", 60.5, 4, "bru")])
    t.record_all()
    t.note = "Inserts that go to logs: file groups without a base file (an in-memory index stands in for those that Flink uses)."


@table()
def v9_mor_partial_update(t):
    t.create(
        "id int, name string, price double, qty int, ts long",
        type="mor",
        primaryKey="id",
        preCombineField="ts",
    )
    t.sql(
        "INSERT INTO {t} VALUES (1, 'a', 1.5, 10, 1), (2, 'b', 2.5, 20, 1), (3, 'c', 3.5, 30, 1), (4, 'd', 4.5, 40, 1)"
    )
    merge = "MERGE INTO {{t}} AS t USING (SELECT * FROM VALUES {rows} AS s(id, {cols})) AS s ON t.id = s.id WHEN MATCHED THEN UPDATE SET {sets}"
    t.sql(
        merge.format(
            rows="(1, 11.5D, 2L), (2, 12.5D, 0L)", cols="price, ts", sets="t.price = s.price, t.ts = s.ts"
        )
    )
    t.sql(
        merge.format(
            rows="(1, 'a2', 3L), (3, 'c2', 3L)", cols="name, ts", sets="t.name = s.name, t.ts = s.ts"
        )
    )
    t.sql(merge.format(rows="(3, 33, 4L), (1, 11, 1L)", cols="qty, ts", sets="t.qty = s.qty, t.ts = s.ts"))
    t.sql("DELETE FROM {t} WHERE id = 4")
    t.record_all()
    t.note = "MERGE INTO that sets some columns: log blocks with the IS_PARTIAL header, later ones with higher, lower and other columns. Spark's DELETE WHERE id = 4 at the end also wrote a delete of key 3."


@table()
def v9_mor_partial_update_compacted(t):
    t.create(
        "id int, name string, price double, qty int, ts long",
        type="mor",
        primaryKey="id",
        preCombineField="ts",
    )
    t.sql("INSERT INTO {t} VALUES (1, 'a', 1.5, 10, 1), (2, 'b', 2.5, 20, 1)")
    for rows, column in (("(1, 11.5D, 2L)", "price"), ("(1, 'a2', 3L), (2, 'b2', 3L)", "name")):
        t.sql(
            f"MERGE INTO {{t}} AS t USING (SELECT * FROM VALUES {rows} AS s(id, {column}, ts)) AS s ON t.id = s.id WHEN MATCHED THEN UPDATE SET t.{column} = s.{column}, t.ts = s.ts"
        )
    t.call("run_compaction", op="scheduleAndExecute", options="hoodie.compact.inline.max.delta.commits=1")
    t.sql(
        "MERGE INTO {t} AS t USING (SELECT 2 AS id, 22 AS qty, 4L AS ts) AS s ON t.id = s.id WHEN MATCHED THEN UPDATE SET t.qty = s.qty, t.ts = s.ts WHEN NOT MATCHED THEN INSERT (id, qty, ts) VALUES (s.id, s.qty, s.ts)"
    )
    t.record_all()
    t.note = "Partial updates before and after a compaction."


def hfile_blocks(t, note, readable):
    t.columns = DELETABLE
    t.options.update({**MOR_LOGS, "hoodie.logfile.data.block.format": "hfile"})
    t.write([(i, f"n{i}", i + 0.5, 10, False) for i in range(8)], "insert")
    t.write([(0, "up0", 10.5, 20, False), (1, "older", 11.5, 5, False), (3, "flag", 1.5, 20, True)])
    t.write([(2, "", 0.0, 0, False)], "delete")
    t.write([(0, "up0 again", 20.5, 30, False), (2, "reborn", 22.5, 30, False), (4, "last", 24.5, 30, False)])
    if readable:
        t.record_all()
    else:
        t.snapshot(readOptimized=True)
        t.snapshot(asOf=t.instants()[0]["instant"])
    t.note = note


@table()
def v9_mor_hfile_blocks(t):
    hfile_blocks(
        t,
        """Data blocks of the logs are HFiles (hoodie.logfile.data.block.format=hfile). Spark 1.1.1 writes them and can neither read nor compact them, nor can 1.2.0 read them,
        so only queries without them are recorded. v6_mor_hfile_blocks has the same writes, but there ts 5 of key 1 does not lose.""",
        False,
    )


@table("0.15.0")
def v6_mor_hfile_blocks(t):
    hfile_blocks(
        t,
        "As v9_mor_hfile_blocks, table version 6, which Hudi 0.15 reads; the default payload lets the later write win.",
        True,
    )
