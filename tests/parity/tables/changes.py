"""Change data capture."""

from ..spark.maker import BY_CITY, CITY, MOR, MOR_LOGS, ORDERING, table
from .all_types import ALL_TYPES, all_types_rows, shifted


def cdc(t, mode, note, **more):
    t.columns = CITY
    t.options.update(
        {
            **BY_CITY,
            "hoodie.table.cdc.enabled": "true",
            "hoodie.table.cdc.supplemental.logging.mode": mode,
            **more,
        }
    )
    t.write([(i, f"n{i}", i + 0.5, 1, "ams" if i % 2 else "bru") for i in range(6)], "insert")
    t.write([(0, "up0", 10.5, 2, "bru"), (1, "up1", 11.5, 2, "ams"), (6, "new6", 6.5, 2, "bru")])
    t.write([(2, "", 0.0, 3, "bru"), (3, "", 0.0, 3, "ams")], "delete")
    t.write([(0, "up0 again", 20.5, 4, "bru"), (7, "new7", 7.5, 4, "cph")])
    if more:
        t.call("run_compaction", op="scheduleAndExecute", options="hoodie.compact.inline.max.delta.commits=1")
        t.write([(0, "after compaction", 30.5, 5, "bru")])
    t.record_all()
    t.record_changes("cdc")
    t.note = note


@table()
def v9_cow_cdc(t):
    cdc(t, "DATA_BEFORE_AFTER", "Change data capture, copy on write, before and after images logged.")


@table()
def v9_cow_cdc_op_key_only(t):
    cdc(t, "OP_KEY_ONLY", "Change data capture, copy on write, only operation and key logged.")


@table()
def v9_cow_cdc_data_before(t):
    cdc(t, "DATA_BEFORE", "Change data capture, copy on write, before images logged.")


@table()
def v9_mor_cdc(t):
    cdc(
        t,
        "DATA_BEFORE_AFTER",
        "Change data capture, merge on read, before and after images logged; one compaction.",
        **MOR,
    )


@table()
def v9_mor_cdc_op_key_only(t):
    cdc(
        t,
        "OP_KEY_ONLY",
        "Change data capture, merge on read, only operation and key logged; one compaction.",
        **MOR,
    )


def cdc_all_types(t, mode, note):
    t.columns = ALL_TYPES
    t.options.update(
        {
            ORDERING: "ord",
            "hoodie.table.cdc.enabled": "true",
            "hoodie.table.cdc.supplemental.logging.mode": mode,
        }
    )
    t.write(all_types_rows(1, False), "insert")
    t.write(shifted(2, False)[:6] + [("later",) + all_types_rows(2, False)[5][1:]])
    t.write([row for row in all_types_rows(3, False) if row[0] in ("high", "nulls", "tiny", "odd")], "delete")
    t.snapshot()
    t.record_changes("cdc")
    t.note = note


@table()
def v9_cow_cdc_all_types(t):
    cdc_all_types(
        t,
        "DATA_BEFORE_AFTER",
        "The columns of v9_cow_all_types in the images of a change log, and in those of new files.",
    )


@table()
def v9_cow_cdc_all_types_op_key_only(t):
    cdc_all_types(t, "OP_KEY_ONLY", "The same with only operation and key logged: images of data files alone.")


@table()
def v9_cow_cdc_replaced(t):
    t.columns = CITY
    t.options.update({**BY_CITY, "hoodie.table.cdc.enabled": "true"})
    t.write([(i, f"n{i}", i + 0.5, 1, ("ams", "bru", "cph")[i % 3]) for i in range(9)], "insert")
    t.write([(0, "over", 10.5, 2, "ams"), (20, "over", 20.5, 2, "ams")], "insert_overwrite")
    t.write([(1, None, 11.5, 3, "bru")])
    t.write(
        [], "delete_partition", **{"hoodie__datasource__write__partitions__to__delete": "city=cph"}
    )
    t.write([(0, "", 0.0, 4, "ams"), (20, "", 0.0, 4, "ams")], "delete")
    t.call("run_clustering", op="scheduleAndExecute")
    t.write([(1, "clustered", None, 5, "bru"), (30, "new", 30.5, 5, "cph")])
    t.write([(40, "all", 40.5, 6, "ams")], "insert_overwrite_table")
    t.record_all()
    t.record_changes("cdc")
    t.note = "Change data capture over insert_overwrite, delete_partition, a delete of every row of a file, clustering and insert_overwrite_table."


@table()
def v9_mor_cdc_logs(t):
    t.columns = CITY
    t.options.update(
        {
            **MOR_LOGS,
            **BY_CITY,
            "hoodie.table.cdc.enabled": "true",
            "hoodie.table.cdc.supplemental.logging.mode": "DATA_BEFORE",
        }
    )
    t.write([(i, f"n{i}", i + 0.5, 10, "ams" if i % 2 else "bru") for i in range(6)], "insert")
    t.write([(0, "up0", 10.5, 11, "bru"), (1, "older", 11.5, 9, "ams")])
    t.write([(0, "up0 again", 20.5, 12, "bru"), (2, "same ts", 22.5, 10, "bru"), (7, "new7", 7.5, 12, "cph")])
    t.write([(2, "", 0.0, 13, "bru"), (3, "", 0.0, 13, "ams")], "delete")
    t.write([(2, "reborn", 2.5, 14, "bru"), (1, None, None, 14, "ams")])
    t.call("run_compaction", op="scheduleAndExecute", options="hoodie.compact.inline.max.delta.commits=1")
    t.write([(0, "after compaction", 30.5, 15, "bru"), (5, "", 0.0, 15, "ams")])
    t.record_all()
    t.record_changes("cdc")
    t.note = "Change data capture, merge on read, before images logged: logs alone, with older, equal and newer ts, deletes and a rebirth; one compaction."
