"""Tables with enough rows and files for skipping and for record index shards."""

from pyspark.sql import functions as F

from ..spark.maker import COLUMN_STATS, NUM_ENTRIES, table


def files_read(df):
    """How many files the scan opened, from Spark's own metric."""
    plan = df._jdf.queryExecution().executedPlan()
    df._jdf.queryExecution().toRdd().count()
    leaves = plan.collectLeaves()
    for i in range(leaves.size()):
        metrics = leaves.apply(i).metrics()
        if metrics.contains("numFiles"):
            return metrics.apply("numFiles").value()
    return None


@table()
def v9_cow_skipping(t):
    t.large = True
    t.columns = "id string, n long, name string, day date, amount decimal(12,2), ts long"
    t.options.update(
        {
            NUM_ENTRIES: "2000",
            COLUMN_STATS: "true",
            "hoodie.bulkinsert.sort.mode": "NONE",
            "hoodie.bulkinsert.shuffle.parallelism": "60",
            "hoodie.parquet.small.file.limit": "0",
        }
    )
    n = F.col("n")
    df = (
        t.spark.range(0, 120_000, 1, 60)
        .withColumnRenamed("id", "n")
        .select(
            F.format_string("k%06d", n).alias("id"),
            n,
            F.format_string("name-%05d", (n / 7).cast("long")).alias("name"),
            F.expr("date_add(date'2020-01-01', cast(n div 100 as int))").alias("day"),
            (n * 3 % 100_000 / 100).cast("decimal(12,2)").alias("amount"),
            F.lit(1).cast("long").alias("ts"),
        )
    )
    t.write(df, "bulk_insert")
    t.write(
        df.where("n between 50000 and 50003")
        .withColumn("amount", F.lit("-1.00").cast("decimal(12,2)"))
        .withColumn("ts", F.lit(2).cast("long"))
    )
    t.snapshot()
    t.spark.conf.set("spark.sql.adaptive.enabled", "false")
    for filters in (
        [["n", "=", 77_777]],
        [["n", ">=", 119_990]],
        [["n", "<", 5]],
        [["name", "=", "name-01234"]],
        [["day", "=", "2021-06-15"]],
        [["amount", "<", "0"]],
        [["n", ">", 59_995], ["n", "<", 60_005]],
        [["n", "IN", [1, 60_000, 119_999]]],
        [["id", "=", "k000042"]],
        [["n", "=", -1]],
        [["day", ">", "2023-04-10"], ["amount", ">=", "999.00"]],
        [["n", "!=", 5], ["day", "<", "2020-01-02"]],
    ):
        entry = t.snapshot(filters=filters)
        entry["filesRead"] = files_read(
            t.read(entry["query"] | {"hudiOptions": {"hoodie.enable.data.skipping": "true"}})
        )
    t.spark.conf.set("spark.sql.adaptive.enabled", "true")
    t.note = "60 files of 2,000 rows, sorted by n, with column stats; one update afterwards. filesRead is what Spark opened with data skipping on."


@table()
def v9_cow_rli_large(t):
    t.large = True
    t.columns = "id string, v long, ts long"
    t.options.update(
        {
            NUM_ENTRIES: "20000",
            "hoodie.index.type": "RECORD_INDEX",
            "hoodie.metadata.record.index.enable": "true",
            "hoodie.metadata.record.index.min.filegroup.count": "10",
            "hoodie.metadata.record.index.max.filegroup.count": "10",
            "hoodie.parquet.compression.codec": "gzip",
        }
    )
    df = t.spark.range(20_000).select(
        F.format_string("key-%05d", F.col("id")).alias("id"),
        (F.col("id") * 7).alias("v"),
        F.lit(1).cast("long").alias("ts"),
    )
    t.write(df, "bulk_insert")
    t.write([("key-00007", -7, 2), ("key-19999", -19999, 2), ("key-new", 1, 2)])
    t.write([("key-00100", 0, 3), ("key-00101", 0, 3)], "delete")
    t.snapshot()
    for value in ("key-00000", "key-00007", "key-12345", "key-19999", "key-new", "key-00100", "absent"):
        t.snapshot(filters=[["id", "=", value]])
    t.snapshot(filters=[["id", "IN", ["key-00001", "key-10000", "key-00101", "absent"]]])
    t.note = "20,000 keys and a record index of ten shards; updates, an insert and deletes; point lookups. Base files are gzip."
