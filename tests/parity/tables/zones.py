"""Tables written in a zone that is not UTC."""

from ..spark.maker import HIVE_STYLE, KEYGEN, PARTITION, table
from .all_types import at


# First in its process: after an instant in Shanghai's clock Hudi waits until UTC's clock passes it, eight hours.
@table(zone="Asia/Shanghai")
def v9_cow_utc_zone(t):
    t.columns = "id int, name string, at timestamp, ts long"
    t.options["hoodie.table.timeline.timezone"] = "UTC"
    t.write([(i, f"n{i}", at(f"2024-01-0{i + 1}T20:00:00"), 1) for i in range(4)], "insert")
    t.write([(1, "updated", at("2024-01-02T20:00:00"), 2)])
    t.record_all()
    t.note = "Written by a JVM in Asia/Shanghai with hoodie.table.timeline.timezone=UTC."


@table(zone="Asia/Shanghai")
def v9_cow_local_zone(t):
    t.columns = "id int, name string, at timestamp, ts long"
    t.write([(i, f"n{i}", at(f"2024-01-0{i + 1}T20:00:00"), 1) for i in range(4)], "insert")
    t.write([(1, "updated", at("2024-01-02T20:00:00"), 2)])
    t.record_all()
    t.note = "Written by a JVM in Asia/Shanghai with the default timeline zone (LOCAL): instants are Shanghai's wall clock."


@table(zone="Asia/Shanghai")
def v9_cow_local_zone_partitions(t):
    t.columns = "id int, v string, ts long, happened long"
    t.options.update(
        {
            PARTITION: "happened",
            HIVE_STYLE: "false",
            KEYGEN: "org.apache.hudi.keygen.TimestampBasedKeyGenerator",
            "hoodie.keygen.timebased.timestamp.type": "EPOCHMILLISECONDS",
            "hoodie.keygen.timebased.output.dateformat": "yyyy/MM/dd",
            "hoodie.keygen.timebased.timezone": "GMT+8:00",
        }
    )
    t.write([(i, f"v{i}", 1, 1_704_124_800_000 + i * 43_200_000) for i in range(4)], "insert")
    t.record_all()
    t.note = "Timestamp key generator whose zone is GMT+8:00."
