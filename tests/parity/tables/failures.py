"""Writes that failed or were taken back: rollback, restore, savepoints, pending instants."""

from ..spark.maker import BY_CITY, CITY, COLUMN_STATS, MOR, MOR_LOGS, table


def fail_last(t, action):
    """Takes the completed file of the last commit away, as if its writer had died before it."""
    last = t.instants()[-1]
    for folder in (t.path / ".hoodie", t.path / ".hoodie" / "timeline"):
        for file in folder.glob(f"*{last['instant']}*.{action}*"):
            if "requested" not in file.name and "inflight" not in file.name:
                file.unlink()
    return last["instant"]


@table()
def v9_cow_rollback(t):
    t.columns = CITY
    t.options.update(BY_CITY)
    t.write([(i, f"n{i}", i + 0.5, 1, "ams" if i % 2 else "bru") for i in range(6)], "insert")
    t.write([(1, "kept", 10.5, 2, "ams")])
    undone = t.write([(1, "rolled back", 20.5, 3, "ams"), (9, "rolled back", 9.5, 3, "cph")])
    t.call("rollback_to_instant", instant_time=undone)
    t.write([(2, "after rollback", 30.5, 4, "bru")])
    t.record_all()
    t.snapshot(asOf=undone)
    t.note = "The third commit was rolled back by CALL rollback_to_instant; one commit after it."


def mor_rollback(t, note, by_markers):
    """The markers of the undone write are gone by then, so a rollback that goes by them leaves the log file."""
    t.options.update({**MOR, "hoodie.rollback.using.markers": by_markers})
    t.write([(i, f"n{i}", i + 0.5, 1) for i in range(6)], "insert")
    t.write([(1, "kept", 10.5, 2)])
    t.write([(1, "failed write", 20.5, 3), (2, "failed write", 20.5, 3), (9, "failed insert", 9.5, 3)])
    failed = fail_last(t, "deltacommit")
    t.write([(2, "after rollback", 30.5, 4)])
    t.record_all()
    t.snapshot(asOf=failed)
    t.note = note


@table()
def v9_mor_rollback(t):
    mor_rollback(
        t,
        "A deltacommit lost its completed file; the next write rolled it back by listing: its log files are deleted.",
        "false",
    )


@table("0.15.0")
def v6_mor_rollback(t):
    mor_rollback(
        t,
        "A deltacommit lost its completed file; the next write rolled it back by listing: a command block follows its data block.",
        "false",
    )


@table()
def v9_mor_orphan_log(t):
    mor_rollback(
        t,
        "As v9_mor_rollback, but the rollback went by markers that were gone: the log file of an instant that is on no timeline stays.",
        "true",
    )


# Archives soon, and whatever no cleaner has seen.
ARCHIVE_SOON = {
    "hoodie.keep.min.commits": "2",
    "hoodie.keep.max.commits": "3",
    "hoodie.cleaner.commits.retained": "1",
    "hoodie.clean.automatic": "false",
    "hoodie.compact.inline.max.delta.commits": "1",
    "hoodie.timeline.compaction.batch.size": "2",
    "hoodie.metadata.enable": "false",
}


@table("0.15.0")
def v6_mor_archived(t):
    t.options.update({**MOR_LOGS, **ARCHIVE_SOON, "hoodie.rollback.using.markers": "false"})
    t.write([(i, f"n{i}", i + 0.5, 1) for i in range(6)], "insert")
    t.write([(1, "kept", 10.5, 2)])
    t.write([(1, "failed write", 20.5, 3), (2, "failed write", 20.5, 3)])
    failed = fail_last(t, "deltacommit")
    for n in range(8):
        t.write([(4, f"late {n}", n + 0.25, 4 + n)])
    t.snapshot()
    t.snapshot(readOptimized=True)
    for instant in t.instants():
        t.snapshot(asOf=instant["instant"])
    t.note = f"""Log blocks whose instants are archived, those of {failed}, which failed and was rolled back by a command
        block, among them. No metadata table."""


@table()
def v9_mor_archived(t):
    t.columns = CITY
    t.options.update({**MOR_LOGS, **BY_CITY, **ARCHIVE_SOON})
    t.write([(i, f"n{i}", i + 0.5, 1, "ams" if i % 2 else "bru") for i in range(6)], "insert")
    t.write([(1, "before compaction", 10.5, 2, "ams"), (2, "log only", 10.5, 2, "bru")])
    t.call("run_compaction", op="schedule", options="hoodie.compact.inline.max.delta.commits=1")
    t.write([(3, "while it waits", 11.5, 3, "ams")])
    t.call("run_compaction", op="run")
    t.write([(5, "after compaction", 12.5, 4, "ams")])
    for n in range(8):
        t.write([(7, f"late {n}", n + 0.25, 5 + n, "cph")])
    t.snapshot()
    t.snapshot(readOptimized=True)
    for instant in t.instants():
        t.snapshot(asOf=instant["instant"])
    t.note = """Partitions ams and bru have logs and a compaction whose instants are archived, and older slices that no
        cleaner took away; cph goes on. No metadata table."""


@table()
def v9_mor_inflight(t):
    t.options.update(MOR)
    t.write([(i, f"n{i}", i + 0.5, 1) for i in range(6)], "insert")
    t.write([(1, "kept", 10.5, 2)])
    t.write([(1, "failed write", 20.5, 3), (9, "failed insert", 9.5, 3)])
    failed = fail_last(t, "deltacommit")
    t.record_all()
    t.snapshot(asOf=failed)
    t.note = "The last deltacommit is still inflight: its log file lies there and must not be read."


@table()
def v9_cow_inflight(t):
    t.options.update()
    t.write([(i, f"n{i}", i + 0.5, 1) for i in range(6)], "insert")
    t.write([(1, "kept", 10.5, 2)])
    t.write([(1, "failed write", 20.5, 3), (9, "failed insert", 9.5, 3)])
    failed = fail_last(t, "commit")
    t.record_all()
    t.snapshot(asOf=failed)
    t.note = "The last commit is still inflight: its base file lies there and must not be read."


@table()
def v9_mor_rollback_to_instant(t):
    t.options.update(MOR)
    t.write([(i, f"n{i}", i + 0.5, 1) for i in range(6)], "insert")
    t.write([(1, "kept", 10.5, 2)])
    undone = t.write([(1, "rolled back", 20.5, 3), (2, "rolled back", 20.5, 3)])
    t.call("rollback_to_instant", instant_time=undone)
    t.write([(2, "after rollback", 30.5, 4)])
    t.record_all()
    t.note = "A completed deltacommit rolled back by CALL rollback_to_instant."


def savepointed(t):
    # Column stats on, as procedures have them by default: with them off here, restore fails on the metadata table.
    t.options.update(
        {COLUMN_STATS: "true", "hoodie.cleaner.commits.retained": "1", "hoodie.clean.automatic": "true"}
    )
    t.write([(i, f"n{i}", i + 0.5, 1) for i in range(4)], "insert")
    t.write([(1, "savepointed", 10.5, 2)])
    saved = t.instants()[-1]["instant"]
    t.call("create_savepoint", commit_time=saved)
    for n in range(4):
        t.write([(n, f"after {n}", 20.5 + n, 3 + n)])
    return saved


@table()
def v9_cow_savepoint(t):
    saved = savepointed(t)
    t.record_all()
    t.note = f"Instant {saved} is savepointed, so the cleaner (one commit retained) keeps its file among those it removes."


@table()
def v9_cow_restored(t):
    saved = savepointed(t)
    t.call("rollback_to_savepoint", instant_time=saved)
    t.write([(3, "after restore", 99.5, 9)])
    t.record_all()
    t.note = f"As v9_cow_savepoint, then restored to {saved} and written once more."


@table()
def v9_mor_restored(t):
    # Column stats on, as procedures have them by default: with them off here, restore fails on the metadata table.
    t.options.update({**MOR_LOGS, COLUMN_STATS: "true"})
    t.write([(i, f"n{i}", i + 0.5, 1) for i in range(6)], "insert")
    t.write([(1, "savepointed", 10.5, 2)])
    saved = t.instants()[-1]["instant"]
    t.call("create_savepoint", commit_time=saved)
    t.write([(1, "undone", 20.5, 3), (9, "undone", 20.5, 3)])
    t.call("run_compaction", op="scheduleAndExecute", options="hoodie.compact.inline.max.delta.commits=1")
    t.write([(2, "undone", 21.5, 4)])
    t.call("rollback_to_savepoint", instant_time=saved)
    t.write([(3, "after restore", 30.5, 5)])
    t.record_all()
    t.note = f"Two deltacommits and a compaction after savepoint {saved}, restored to it, and one more deltacommit."
