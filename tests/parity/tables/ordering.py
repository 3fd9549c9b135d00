"""Which of two versions of a record wins: merge modes, ordering fields, delete markers."""

from ..spark.maker import COLUMN_STATS, MERGE_MODE, MOR, MOR_LOGS, NUM_ENTRIES, ORDERING, PAYLOAD, table

DELETABLE = "id int, name string, price double, ts long, _hoodie_is_deleted boolean"


@table()
def v9_mor_event_time(t):
    t.columns = DELETABLE
    t.options.update({**MOR, MERGE_MODE: "EVENT_TIME_ORDERING"})
    t.write([(i, f"base{i}", i * 1.0, 100, False) for i in range(16)], "insert")
    t.write(
        [
            (0, "newer", 0.1, 200, False),
            (1, "older loses", 1.1, 50, False),
            (2, "equal", 2.1, 100, False),
            (3, "deleted by flag", 3.1, 200, True),
            (4, "older flag loses", 4.1, 50, True),
            (5, "equal flag", 5.1, 100, True),
            (12, "once", 12.1, 150, False),
        ]
    )
    t.write(
        [
            (6, "", 0.0, 200, False),
            (7, "", 0.0, 50, False),
            (8, "", 0.0, 100, False),
            (12, "", 0.0, 120, False),
        ],
        "delete",
    )
    t.register()
    t.sql("DELETE FROM {t} WHERE id IN (9, 0)")
    t.write(
        [
            (0, "after SQL delete, lower", 0.2, 150, False),
            (3, "reborn, lower than its delete", 3.2, 150, False),
            (6, "reborn, higher", 6.2, 300, False),
            (9, "after SQL delete, higher", 9.2, 101, False),
            (8, "reborn, equal to its delete", 8.2, 100, False),
            (20, "new", 20.0, 1, False),
        ]
    )
    t.write(
        [
            (20, "new, equal", 20.1, 1, False),
            (10, None, None, 100, False),
            (11, "same batch low", 0.0, 300, False),
            (11, "same batch high", 1.0, 301, False),
        ]
    )
    t.record_all()
    t.note = "Event-time ordering over five log files: newer, older and equal updates; deletes by flag, by operation and by SQL; rebirths."


@table()
def v9_mor_commit_time(t):
    del (
        t.options[NUM_ENTRIES],
        t.options[COLUMN_STATS],
        t.options[ORDERING],
    )  # commit-time ordering keeps no ordering field
    t.columns = DELETABLE
    t.options.update({**MOR, MERGE_MODE: "COMMIT_TIME_ORDERING"})
    t.write([(i, f"base{i}", i * 1.0, 100, False) for i in range(8)], "insert")
    t.write(
        [
            (0, "newer", 0.1, 200, False),
            (1, "older ts, still wins", 1.1, 50, False),
            (2, "deleted by flag", 2.1, 1, True),
        ]
    )
    t.write([(3, "", 0.0, 1, False), (0, "", 0.0, 1, False)], "delete")
    t.write([(0, "reborn", 0.2, 1, False), (1, "oldest ts wins", 1.2, 0, False), (8, "new", 8.0, 0, False)])
    t.record_all()
    t.note = "Commit-time ordering: whatever comes later wins, whatever its ts. Bloom filter size left at its default."


@table()
def v9_mor_delete_marker(t):
    t.columns = "id int, name string, ts long, op string"
    t.options.update(
        {
            **MOR_LOGS,
            PAYLOAD: "org.apache.hudi.common.model.DefaultHoodieRecordPayload",
            "hoodie.payload.delete.field": "op",
            "hoodie.payload.delete.marker": "gone",
        }
    )
    t.write([(i, f"n{i}", 10, "here") for i in range(1, 6)], "insert")
    t.write(
        [
            (1, "deleted", 20, "gone"),
            (2, "older, stays", 5, "gone"),
            (3, "equal", 10, "gone"),
            (4, "up", 20, "here"),
            (9, "never was", 1, "gone"),
        ]
    )
    t.write(
        [
            (1, "reborn, lower than its delete", 15, "here"),
            (3, "reborn, higher", 30, "here"),
            (9, "born", 1, "here"),
        ]
    )
    t.record_all()
    t.note = "Event-time ordering with hoodie.payload.delete.field=op and marker gone."


@table()
def v9_mor_multi_ordering(t):
    t.columns = "id int, name string, o1 int, o2 string, ts long"
    t.options.update({**MOR_LOGS, ORDERING: "o1,o2", MERGE_MODE: "EVENT_TIME_ORDERING"})
    t.write([(i, f"n{i}", 5, "m", 1) for i in range(1, 7)], "insert")
    t.write(
        [
            (1, "o1 higher, o2 lower", 6, "a", 2),
            (2, "o1 equal, o2 higher", 5, "z", 2),
            (3, "o1 equal, o2 lower loses", 5, "a", 2),
            (4, "o1 lower, o2 higher loses", 4, "z", 2),
            (5, "equal", 5, "m", 2),
        ]
    )
    t.write([(6, "", 5, "a", 3), (1, "", 6, "b", 3)], "delete")
    t.record_all()
    t.note = "Two ordering fields compared left to right; deletes with lower and higher ordering."
