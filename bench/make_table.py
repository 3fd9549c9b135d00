"""Writes `cow1` with real Spark and Hudi: one million rows in one base file of one row group, table version 9.

    python make_table.py <folder to make> <Hudi bundle jar>

Every value follows from the row's number by a hash with a fixed seed, so each machine gets the same rows. All else is as Spark
users get it: gzip, dictionaries, pages of 20,000 rows, a Bloom filter in the footer, meta fields, and the metadata table.
"""
import sys

from pyspark.sql import SparkSession

ROWS = 1_000_000
SEED = 20261129
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

OPTIONS = {
    "hoodie.table.name": "cow1",
    "hoodie.datasource.write.table.type": "COPY_ON_WRITE",
    "hoodie.datasource.write.operation": "bulk_insert",
    "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.datasource.write.partitionpath.field": "",
    "hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.NonpartitionedKeyGenerator",
    "hoodie.datasource.write.precombine.field": "at",
    "hoodie.write.table.version": "9",
    # One task that keeps the order of the keys, and one file and row group large enough for all of it.
    "hoodie.bulkinsert.shuffle.parallelism": "1",
    "hoodie.bulkinsert.sort.mode": "NONE",
    "hoodie.parquet.max.file.size": str(1 << 30),
    "hoodie.parquet.block.size": str(1 << 30),
}


def main(folder, bundle):
    spark = (SparkSession.builder.master("local[1]").appName("cow1")
        .config("spark.jars", bundle)
        .config("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
        .config("spark.kryo.registrator", "org.apache.spark.HoodieSparkKryoRegistrar")
        .config("spark.sql.extensions", "org.apache.spark.sql.hudi.HoodieSparkSessionExtension")
        .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.hudi.catalog.HoodieCatalog")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.driver.extraJavaOptions", "-Duser.timezone=UTC")
        .config("spark.driver.memory", "3g")
        .config("spark.ui.enabled", "false")
        .getOrCreate())
    spark.sparkContext.setLogLevel("ERROR")
    rows = spark.range(0, ROWS, 1, 1).selectExpr(*[f"{value} as {name}" for name, value in COLUMNS.items()])
    rows.write.format("hudi").options(**OPTIONS).mode("overwrite").save(folder)
    count = spark.read.format("hudi").load(folder).count()
    spark.stop()
    if count != ROWS:
        raise SystemExit(f"the table holds {count} rows, not {ROWS}")


if __name__ == "__main__":
    main(*sys.argv[1:])
