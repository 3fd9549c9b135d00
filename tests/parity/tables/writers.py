"""Several writers at once."""

import os
import threading
import time

from pyspark.sql import functions as F

from ..spark.maker import BY_CITY, CITY, COLUMN_STATS, MERGE_MODE, MOR, ORDERING, table
from ..spark.query import first_line
from .indexes import BY_RECORD_INDEX, ONE_LOCK

OCC = {
    **ONE_LOCK,
    "hoodie.write.concurrency.mode": "optimistic_concurrency_control",
    "hoodie.clean.failed.writes.policy": "LAZY",
}


def pending(t):
    """Instants requested and not completed."""
    names = [f.name for f in (t.path / ".hoodie" / "timeline").iterdir() if f.is_file()]
    done = {n.split("_")[0] for n in names if "_" in n}
    return {n.split(".")[0] for n in names if n.endswith("requested")} - done


def overlapped(t, slow, fast, **more):
    """A second thread writes `slow`, whose rows wait until each list of rows in `fast` is committed. Returns what the slow write raised."""
    go = t.work / f"{t.name}.go"
    go.unlink(missing_ok=True)
    path, raised = str(go), []

    def wait(value):
        for _ in range(1200):
            if os.path.exists(path):
                break
            time.sleep(0.05)
        return value

    def write():
        try:
            t.write(t.frame(slow).coalesce(1).withColumn("name", F.udf(wait, "string")("name")), **more)
        except Exception as error:
            raised.append(first_line(error))

    before = pending(t)
    thread = threading.Thread(target=write)
    thread.start()
    for _ in range(600):
        if pending(t) - before:
            break
        time.sleep(0.05)
    try:
        for rows in fast:
            t.write(rows, **more)
    finally:
        go.touch()
        thread.join()
    return raised


@table()
def v9_mor_multi_writer(t):
    t.columns = CITY
    t.options.update({**MOR, **BY_CITY, **OCC, **BY_RECORD_INDEX, COLUMN_STATS: "true"})
    row = lambda i, tag, ts, city: (i, f"{tag}{i}", i + 0.5, ts, city)
    t.write([row(i, "n", 1, city) for i, city in enumerate(["ams", "bru", "cph"] * 3)], "insert")
    raised = overlapped(
        t,
        [row(0, "slow", 2, "ams"), row(3, "slow", 2, "ams"), row(30, "slow new", 2, "ams")],
        [[row(1, "fast", 3, "bru")], [row(4, "fast again", 4, "bru"), row(2, "fast again", 4, "cph")]],
    )
    raised += overlapped(t, [row(2, "slow", 5, "cph")], [[row(0, "fast", 6, "ams")]])
    t.write([row(1, "alone", 7, "bru")])
    assert not raised, raised
    instants = t.instants()
    assert [i["instant"] for i in instants] != sorted(i["instant"] for i in instants), instants
    t.record_all()
    for start, end in ((0, 3), (1, 3), (2, 4), (3, 5), (3, 6)):
        t.incremental(instants[start]["completion"], instants[end]["completion"])
    t.incremental(instants[3]["instant"], instants[3]["completion"])
    t.note = "Two writers under optimistic concurrency control in one JVM: a slow deltacommit is requested first and completes after two others, then another after one. Different file groups, no conflict."


@table()
def v9_cow_multi_writer_conflict(t):
    t.columns = CITY
    t.options.update(
        {**BY_CITY, **OCC, "hoodie.clean.automatic": "true", "hoodie.client.heartbeat.interval_in_ms": "1000"}
    )
    row = lambda i, tag, ts, city: (i, f"{tag}{i}", i + 0.5, ts, city)
    t.write([row(i, "n", 1, city) for i, city in enumerate(["ams", "bru"] * 3)], "insert")
    raised = overlapped(
        t, [row(0, "loses", 2, "ams"), row(3, "loses", 2, "bru")], [[row(0, "wins", 3, "ams")]]
    )
    assert raised, "no conflict"
    time.sleep(5)
    t.write([row(1, "after", 4, "bru")])
    t.write([row(2, "later", 5, "ams")])
    t.record_all()
    rolled = sorted(f.name for f in (t.path / ".hoodie" / "timeline").glob("*_*.rollback"))
    t.note = f"Two writers update the same file group under optimistic concurrency control: the one requested first loses ({raised[0].split(': ', 1)[-1][:120]}) and {'is rolled back later, ' + rolled[0] if rolled else 'stays pending'}."


@table()
def v9_mor_nonblocking_writers(t):
    t.options.update(
        {
            **MOR,
            **ONE_LOCK,
            "hoodie.table.type": "MERGE_ON_READ",
            "hoodie.write.concurrency.mode": "NON_BLOCKING_CONCURRENCY_CONTROL",
            "hoodie.clean.failed.writes.policy": "LAZY",
            "hoodie.index.type": "BUCKET",
            "hoodie.index.bucket.engine": "SIMPLE",
            "hoodie.bucket.index.num.buckets": "1",
            "hoodie.storage.layout.type": "BUCKET",
            "hoodie.storage.layout.partitioner.class": "org.apache.hudi.table.action.commit.SparkBucketIndexPartitioner",
            MERGE_MODE: "COMMIT_TIME_ORDERING",
        }
    )
    del t.options[ORDERING]
    t.write([(i, f"n{i}", i + 0.5, 1) for i in range(5)])
    raised = overlapped(
        t,
        [(0, "slow, requested first", 1.0, 2), (1, "slow only", 1.0, 2)],
        [[(0, "fast, requested second", 2.0, 3), (2, "fast only", 2.0, 3)]],
    )
    assert not raised, raised
    t.write([(3, "alone", 3.0, 4)])
    t.record_all()
    t.note = "Non-blocking concurrency control: two writers log to the same file group by commit-time ordering; the one requested first completes last."
