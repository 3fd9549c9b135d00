"""Change data capture."""

from ..spark.maker import BY_CITY, CITY, MOR, table


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
