"""The matrix that every bundle writes: copy on write and merge on read, with and without partitions."""

import datetime
from decimal import Decimal

from ..spark.maker import BY_CITY, COLUMN_STATS, MOR_LOGS, any_bundle

CITIES = ["berlin", "paris", "rome"]
FILTERS = [
    [["city", "=", "paris"]],
    [["city", "!=", "paris"], ["price", ">=", "3.00"]],
    [["city", "IN", ["rome", "oslo"]], ["id", "<", 9]],
    [["name", "NOT IN", ["n3", "up0"]]],
    [["day", ">", "2024-01-05"], ["day", "<=", "2024-01-10"]],
    [["price", "<", "2.5"]],
    [["name", "IS NULL"]],
    [["name", "IS NOT NULL"], ["id", ">", 100]],
]


def rows(ids, tag, ts):
    first = datetime.date(2024, 1, 1)
    return [
        (
            i,
            f"{tag}{i}" if i % 5 else None,
            Decimal(i) * 3 / 4,
            ts,
            first + datetime.timedelta(i),
            CITIES[i % 3],
        )
        for i in ids
    ]


def matrix(t, mor, parted):
    """Inserts, updates, deletes; merge on read compacts after every second commit, and its last commit stays in logs."""
    t.columns = "id int, name string, price decimal(9,2), ts long, day date, city string"
    del t.options[COLUMN_STATS]
    if parted:
        t.options.update(BY_CITY)
    if mor:
        compact = {"hoodie.compact.inline": "true", "hoodie.compact.inline.max.delta.commits": "2"}
        t.options.update({**MOR_LOGS, **compact})
    t.write(rows(range(12), "n", 1), "insert")
    t.write(rows([0, 1, 4, 20], "up", 2))
    t.write(rows([2, 3], "", 3), "delete")
    t.write(rows([1, 30], "late", 4))
    t.write(rows([4, 5, 31], "last", 5))
    t.record_all()
    for filters in FILTERS:
        t.snapshot(filters=filters)
    t.snapshot(filters=FILTERS[0], projection=["name", "id"])


@any_bundle
def cow_flat(t):
    matrix(t, mor=False, parted=False)


@any_bundle
def cow_parts(t):
    matrix(t, mor=False, parted=True)


@any_bundle
def mor_flat(t):
    matrix(t, mor=True, parted=False)


@any_bundle
def mor_parts(t):
    matrix(t, mor=True, parted=True)
