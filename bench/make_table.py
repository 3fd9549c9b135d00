"""Writes a table of the benchmark with real Spark and Hudi: one million rows, a few of them, or ten thousand files, table version 9.

    python make_table.py <name> <folder to make> <Hudi bundle jar>

    cow1   copy on write, one base file of one row group
    small  as cow1, of its first 20,000 rows
    cow    copy on write, nine file groups, a record index; then two upserts of 5 % of the rows
    cows   as cow, by snappy instead of gzip; cowz by zstd
    cowp   as cow, in twenty partitions, without the upserts
    mor    merge on read, nine file groups, a record index; then five upserts of 5 % of the rows, each spread over all keys
    many   copy on write, 10,000 files of four rows in a hundred partitions by four commits; then a commit of no rows, which is copied
           until both timelines, the table's and that of its metadata table, hold a thousand instants

Every value follows from the row's number by a hash with a fixed seed, so each machine gets the same rows. All else is as Spark
users get it: gzip, dictionaries, pages of 20,000 rows, a Bloom filter in the footer, meta fields, and the metadata table.
"""
import shutil
import sys
from datetime import datetime, timedelta
from pathlib import Path

from pyspark.sql import SparkSession

ROWS = 1_000_000
SMALL_ROWS = 20_000
SEED = 20261129

# Of `many`: commits, tasks of each, partitions that each task writes a file of, rows of each file; instants in the end.
COMMITS, TASKS, PARTITIONS, FILE_ROWS = 4, 25, 100, 4
INSTANTS = 1000
CITIES = ["Amsterdam", "Berlin", "Chicago", "Delhi", "Edinburgh", "Florence", "Geneva", "Hamburg",
          "Istanbul", "Jakarta", "Kyoto", "Lisbon", "Madrid", "Nairobi", "Oslo", "Prague"]


def pick(salt, choices):
    """A hash of the row's number below `choices`, other for each salt."""
    return f"pmod(xxhash64(id, {SEED}L, {salt}), {choices})"


COLUMNS = {
    "id": "format_string('key-%010d', id)",
    "city": f"element_at(array({', '.join(map(repr, CITIES))}), cast({pick(1, len(CITIES))} as int) + 1)",
    "customer": f"format_string('c%08x-%06d', {pick(2, 1 << 32)}, {pick(3, 1_000_000)})",
    "note": f"if({pick(4, 20)} = 0, null, concat('order ', {pick(5, 5000)}, ' of shelf ', {pick(6, 40)}))",
    "quantity": f"cast({pick(7, 1000)} as int)",
    "product": f"{pick(8, 100_000)}",
    "session": f"xxhash64(id, {SEED}L, 9)",
    "price": f"cast({pick(10, 100_000)} as double) / 100",
    "latitude": f"cast({pick(11, 180_000_000)} as double) / 1000000 - 90",
    "weight": f"cast({pick(12, 1 << 52)} as double) / {1 << 52}",
    "at": f"timestamp_micros(1767225600000000 + id * 1000000 + {pick(13, 1_000_000)})",
    "total": f"cast(cast({pick(14, 1_000_000_000)} as decimal(18,0)) / 10000 as decimal(18,4))",
    "express": f"{pick(15, 4)} = 0",
}

PLAIN = {
    "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.datasource.write.partitionpath.field": "",
    "hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.NonpartitionedKeyGenerator",
    "hoodie.datasource.write.precombine.field": "at",
    "hoodie.write.table.version": "9",
    "hoodie.parquet.max.file.size": str(1 << 30),
    "hoodie.parquet.block.size": str(1 << 30),
}

# One task that keeps the order of the keys, and one file and row group large enough for all of it.
ONE_FILE = {"hoodie.bulkinsert.shuffle.parallelism": "1", "hoodie.bulkinsert.sort.mode": "NONE"}

NINE_FILES = {
    "hoodie.bulkinsert.shuffle.parallelism": "9",
    "hoodie.bulkinsert.sort.mode": "GLOBAL_SORT",
    "hoodie.metadata.record.index.enable": "true",
    "hoodie.index.type": "RECORD_INDEX",
    # The logs stay, and no commit is left out of the timeline.
    "hoodie.compact.inline": "false",
    "hoodie.parquet.small.file.limit": "0",
}

TWENTY_PARTITIONS = {
    "hoodie.datasource.write.partitionpath.field": "shop",
    "hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.SimpleKeyGenerator",
    "hoodie.bulkinsert.shuffle.parallelism": "20",
}

MANY_FILES = {
    **TWENTY_PARTITIONS,
    "hoodie.bulkinsert.shuffle.parallelism": str(TASKS),
    "hoodie.bulkinsert.sort.mode": "PARTITION_SORT",
    "hoodie.parquet.small.file.limit": "0",
    # Half a megabyte of Bloom filter a file is not what is measured.
    "hoodie.bloom.index.filter.type": "SIMPLE",
    "hoodie.index.bloom.num_entries": "10",
}

# Table type, options beside PLAIN, upserts.
TABLES = {
    "cow1": ("COPY_ON_WRITE", ONE_FILE, 0),
    "small": ("COPY_ON_WRITE", ONE_FILE, 0),
    "cow": ("COPY_ON_WRITE", NINE_FILES, 2),
    "cows": ("COPY_ON_WRITE", {**NINE_FILES, "hoodie.parquet.compression.codec": "snappy"}, 2),
    "cowz": ("COPY_ON_WRITE", {**NINE_FILES, "hoodie.parquet.compression.codec": "zstd"}, 2),
    "cowp": ("COPY_ON_WRITE", {**NINE_FILES, **TWENTY_PARTITIONS}, 0),
    "mor": ("MERGE_ON_READ", NINE_FILES, 5),
}


def session(bundle):
    return (SparkSession.builder.master("local[1]").appName("bench")
        .config("spark.jars", bundle)
        .config("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
        .config("spark.kryo.registrator", "org.apache.spark.HoodieSparkKryoRegistrar")
        .config("spark.sql.extensions", "org.apache.spark.sql.hudi.HoodieSparkSessionExtension")
        .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.hudi.catalog.HoodieCatalog")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.driver.extraJavaOptions", "-Duser.timezone=UTC")
        # Partitions stay as many as asked for, and with them the file groups.
        .config("spark.sql.adaptive.enabled", "false")
        .config("spark.driver.memory", "4g")
        .config("spark.ui.enabled", "false")
        .getOrCreate())


def many(spark, folder):
    """Ten thousand files by a few commits, and a thousand instants by copies of the last one."""
    rows = TASKS * PARTITIONS * FILE_ROWS
    columns = ["id", "city", "price", "at"]
    shop = f"concat('shop-', lpad(pmod(id, {PARTITIONS}), 2, '0')) as shop"
    given = {**PLAIN, **MANY_FILES, "hoodie.table.name": "many", "hoodie.datasource.write.table.type": "COPY_ON_WRITE"}
    for commit in range(COMMITS + 1):
        start, more = commit * rows, rows if commit < COMMITS else 0
        made = spark.range(start, start + more, 1, TASKS).selectExpr(*[f"{COLUMNS[name]} as {name}" for name in columns], shop)
        operation = "bulk_insert" if more > 0 else "insert"
        options = {**given, "hoodie.datasource.write.operation": operation}
        made.write.format("hudi").options(**options).mode("overwrite" if commit == 0 else "append").save(folder)
    timelines = [Path(folder, ".hoodie/timeline"), Path(folder, ".hoodie/metadata/.hoodie/timeline")]
    last = max(file.name[:17] for file in timelines[0].iterdir() if file.name[:17].isdigit())
    for timeline in timelines:
        files = [file for file in timeline.iterdir() if file.name.startswith(last)]
        for copy in range(1, INSTANTS - COMMITS):
            for file in files:
                # Instants are digits of a time: those of the copies follow each other by seconds, and so do their completions.
                requested, *completed = file.name.split(".")[0].split("_")
                times = "_".join(later(time, copy) for time in [requested, *completed])
                shutil.copyfile(file, timeline / f"{times}.{file.name.split('.', 1)[1]}")
    return COMMITS * rows


def later(time, copy):
    """The time `copy` seconds later, as an instant."""
    moment = datetime.strptime(time, "%Y%m%d%H%M%S%f") + timedelta(seconds=copy)
    return moment.strftime("%Y%m%d%H%M%S%f")[:17]


def main(name, folder, bundle):
    spark = session(bundle)
    spark.sparkContext.setLogLevel("ERROR")
    rows = many(spark, folder) if name == "many" else plain(spark, name, folder)
    count = spark.read.format("hudi").load(folder).count()
    spark.stop()
    if count != rows:
        raise SystemExit(f"the table holds {count} rows, not {rows}")


def plain(spark, name, folder):
    """A million rows, or a few, and upserts of some of them."""
    kind, options, upserts = TABLES[name]
    count = SMALL_ROWS if name == "small" else ROWS
    columns = dict(COLUMNS)
    if "shop" in options.get("hoodie.datasource.write.partitionpath.field", ""):
        columns["shop"] = f"concat('shop-', lpad({pick(16, 20)}, 2, '0'))"

    def rows(change):
        """All rows, or those that an upsert changes: other prices, and newer."""
        made = spark.range(0, count, 1, 1)
        values = dict(columns)
        if change > 0:
            made = made.where(f"{pick(100 + change, 20)} = 0")
            values["price"] = f"cast({pick(200 + change, 100_000)} as double) / 100"
            values["at"] = f"{columns['at']} + interval {change} days"
        return made.selectExpr(*[f"{value} as {column}" for column, value in values.items()])

    def write(change):
        operation = "upsert" if change > 0 else "bulk_insert"
        given = {**PLAIN, **options, "hoodie.table.name": name, "hoodie.datasource.write.table.type": kind, "hoodie.datasource.write.operation": operation}
        rows(change).write.format("hudi").options(**given).mode("append" if change > 0 else "overwrite").save(folder)

    for change in range(upserts + 1):
        write(change)
    return count


if __name__ == "__main__":
    main(*sys.argv[1:])
