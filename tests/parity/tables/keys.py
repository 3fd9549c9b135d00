"""Record keys of several fields."""

from ..spark.maker import CITY, HIVE_STYLE, KEY, KEYGEN, PARTITION, table


@table()
def v9_cow_complex_keys(t):
    t.columns = "a string, b int, v string, ts long, p1 string, p2 int"
    t.options.update(
        {
            KEY: "a,b",
            PARTITION: "p1,p2",
            KEYGEN: "org.apache.hudi.keygen.ComplexKeyGenerator",
            HIVE_STYLE: "false",
        }
    )
    t.write(
        [
            ("x", 1, "v", 1, "p", 1),
            ("x,b:2", 2, "comma and colon in key", 1, "p", 1),
            ("", 3, "empty", 1, "q", 2),
            (None, 4, "null part", 1, "q", 2),
        ],
        "insert",
    )
    t.write([("x", 1, "updated", 2, "p", 1), ("é😀", 5, "unicode", 2, "p", 2)])
    t.record_all()
    t.note = "Two key fields, two partition fields: the record key reads a:x,b:1, with __empty__ and __null__ for empty and null parts."


@table()
def v9_cow_complex_single(t):
    t.columns = CITY
    t.options.update(
        {PARTITION: "city,ts", KEYGEN: "org.apache.hudi.keygen.ComplexKeyGenerator", HIVE_STYLE: "true"}
    )
    t.write([(i, f"n{i}", 1.5, 7, "ams") for i in range(3)], "insert")
    t.write([(1, "updated", 2.5, 7, "ams")])
    t.record_all()
    t.note = "ComplexKeyGenerator with a single key field: see the record keys."


@table()
def v9_cow_nonpartitioned_keygen(t):
    t.columns = "a string, b int, v string, ts long"
    t.options.update({KEY: "a,b", KEYGEN: "org.apache.hudi.keygen.NonpartitionedKeyGenerator"})
    t.write([("x", 1, "v", 1), ("y", 2, "v", 1)], "insert")
    t.write([("x", 1, "updated", 2)])
    t.record_all()
    t.note = "NonpartitionedKeyGenerator with two key fields."
