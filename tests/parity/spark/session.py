"""One Spark session over one Hudi bundle and one zone: a process holds no second one."""

import os
import time

from pyspark.sql import SparkSession

os.environ["TZ"] = "UTC"  # what PySpark hands timestamps over in; the JVM's zone is the session's
time.tzset()


def session(jar, zone, work, memory="2g"):
    """`jar` is the bundle, `zone` both the JVM's and Spark's, `work` takes what Spark keeps beside tables."""
    settings = {
        "spark.jars": jar,
        "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
        "spark.kryo.registrator": "org.apache.spark.HoodieSparkKryoRegistrar",
        "spark.sql.extensions": "org.apache.spark.sql.hudi.HoodieSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.hudi.catalog.HoodieCatalog",
        "spark.sql.session.timeZone": zone,
        # The bloom index ships locks to tasks, hence the opened module.
        "spark.driver.extraJavaOptions": f"-Duser.timezone={zone} "
        "--add-opens=java.base/java.util.concurrent.locks=ALL-UNNAMED",
        "spark.driver.memory": memory,
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.local.dir": str(work),
        "spark.sql.warehouse.dir": str(work / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.default.parallelism": "2",
    }
    builder = SparkSession.builder.master("local[2]").appName("hudi")
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    spark.sql("set hoodie.compact.inline=false")
    checksums(spark, False)
    return spark


def checksums(spark, on):
    """Whether the local file system heeds and writes `.NAME.crc` side files.

    Off in every session: whoever overwrites a file of a table without Hadoop leaves such a side file stale, and
    Hadoop would refuse the file. Local mode has one JVM, and Hadoop one cached file system in it.
    """
    jvm, conf = spark.sparkContext._jvm, spark.sparkContext._jsc.hadoopConfiguration()
    files = jvm.org.apache.hadoop.fs.FileSystem.get(jvm.java.net.URI("file:///"), conf)
    files.setVerifyChecksum(on)
    files.setWriteChecksum(on)
