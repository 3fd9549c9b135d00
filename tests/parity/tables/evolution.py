"""Schemas that change between commits."""

from ..spark.maker import COLUMN_STATS, HIVE_STYLE, MOR, PARTITION, table


def evolved(t, note, **more):
    t.options.update({PARTITION: "part", HIVE_STYLE: "true", COLUMN_STATS: "true", **more})
    one = "id int, n int, st struct<a:int>, ts long, part string"
    two = "id int, n int, st struct<a:int>, ts long, extra string, part string"
    three = "id int, n long, st struct<a:int>, ts long, extra string, part string"
    four = "id int, n long, st struct<a:int,b:string>, ts long, extra string, part string"
    t.write(
        [(i, i, (i,), 1, p) for i in range(4) for p in ("x", "y")],
        "upsert",
        one,
        hoodie__datasource__write__partitionpath__field="part",
    )
    t.write([(1, 10, (10,), 2, "e1", "y"), (100, 100, None, 2, None, "z")], "upsert", two)
    t.write([(2, 2**40, (20,), 3, "e2", "y"), (101, -(2**40), (1,), 3, "e3", "z")], "upsert", three)
    t.write(
        [
            (3, 30, (30, "b30"), 4, "e4", "y"),
            (102, 1, (1, None), 4, "e5", "z"),
            (103, None, None, 4, None, "z"),
        ],
        "upsert",
        four,
    )
    t.record_all()
    t.snapshot(filters=[["n", ">", 5]])
    t.snapshot(filters=[["extra", "=", "e1"]])
    t.snapshot(projection=["id", "n", "extra"])
    t.note = note


@table()
def v9_cow_evolved(t):
    evolved(
        t,
        "A column added, int widened to long, a nested field added; partition x keeps its oldest file, y is rewritten each time.",
    )


@table()
def v9_mor_evolved(t):
    evolved(t, "As v9_cow_evolved with log blocks of four schemas over one base file.", **MOR)


@table()
def v9_cow_schema_on_read(t):
    t.spark.sql("set hoodie.schema.on.read.enable=true")
    t.spark.sql(
        "set hoodie.datasource.write.schema.allow.auto.evolution.column.drop=true"
    )  # else a write after a rename is refused
    try:
        t.create(
            "id int, name string, amount int, gone string, ts long",
            type="cow",
            primaryKey="id",
            preCombineField="ts",
        )
        t.sql("INSERT INTO {t} SELECT 1, 'a', 10, 'g1', 1")
        t.sql("INSERT INTO {t} SELECT 2, 'b', 20, 'g2', 1")
        t.sql("ALTER TABLE {t} RENAME COLUMN name TO title")
        t.sql("UPDATE {t} SET title = 'b renamed' WHERE id = 2")
        t.sql("ALTER TABLE {t} DROP COLUMN gone")
        t.sql("ALTER TABLE {t} ADD COLUMNS (gone string)")
        t.sql("INSERT INTO {t} (id, title, amount, ts, gone) VALUES (3, 'c', 30, 2, 'new g3')")
        t.sql("ALTER TABLE {t} ALTER COLUMN amount TYPE bigint")
        t.sql("INSERT INTO {t} (id, title, amount, ts, gone) VALUES (4, 'd', 3000000000, 3, null)")
        on = {"hudiOptions": {"hoodie.schema.on.read.enable": "true"}}
        t.snapshot()
        t.snapshot(**on)
        for i in t.instants():
            t.snapshot(asOf=i["instant"], **on)
        t.record_changes()
    finally:
        t.spark.sql("set hoodie.schema.on.read.enable=false")
        t.spark.sql("set hoodie.datasource.write.schema.allow.auto.evolution.column.drop=false")
    t.note = "hoodie.schema.on.read.enable: rename, drop, re-add of the same name, int to bigint through ALTER TABLE."


@table()
def v9_mor_schema_on_read(t):
    t.spark.sql("set hoodie.schema.on.read.enable=true")
    t.spark.sql(
        "set hoodie.datasource.write.schema.allow.auto.evolution.column.drop=true"
    )  # else a write after a rename is refused
    try:
        t.create(
            "id int, name string, amount int, gone string, ts long",
            type="mor",
            primaryKey="id",
            preCombineField="ts",
        )
        t.sql("INSERT INTO {t} VALUES (1, 'a', 10, 'g1', 1), (2, 'b', 20, 'g2', 1), (3, 'c', 30, 'g3', 1)")
        t.sql("UPDATE {t} SET amount = 21 WHERE id = 2")
        t.sql("ALTER TABLE {t} RENAME COLUMN name TO title")
        t.sql("ALTER TABLE {t} ALTER COLUMN amount TYPE bigint")
        t.sql("UPDATE {t} SET title = 'c renamed', amount = 3000000000 WHERE id = 3")
        t.sql("ALTER TABLE {t} DROP COLUMN gone")
        t.sql("INSERT INTO {t} (id, title, amount, ts) VALUES (4, 'd', 40, 3)")
        t.record_changes()
    finally:
        t.spark.sql("set hoodie.schema.on.read.enable=false")
        t.spark.sql("set hoodie.datasource.write.schema.allow.auto.evolution.column.drop=false")
    on = {"hudiOptions": {"hoodie.schema.on.read.enable": "true"}}
    t.snapshot(**on)
    t.snapshot(readOptimized=True, **on)
    for i in t.instants():
        t.snapshot(asOf=i["instant"], **on)
    t.snapshot(hudiOptions={"hoodie.schema.on.read.enable": "false"})
    t.note = "Schema on read with log blocks written before and after a rename, a widening and a drop. The last query shows what Spark reads without the option."


def type_changes(t, kind, note):
    t.spark.sql("set hoodie.schema.on.read.enable=true")
    columns = "id int, i int, l long, f float, d double, n decimal(10,2), day date"
    columns += ", i_to_decimal int, d_to_decimal double, s_to_decimal string, s_to_date string, ts long"
    changes = {column: "string" for column in ("i", "l", "f", "d", "n", "day")}
    changes.update(
        i_to_decimal="decimal(10,2)",
        d_to_decimal="decimal(12,2)",
        s_to_decimal="decimal(10,2)",
        s_to_date="date",
    )
    try:
        t.create(columns, type=kind, primaryKey="id", preCombineField="ts")
        t.sql(
            "INSERT INTO {t} VALUES"
            " (1, 7, 1099511627776L, 1.1f, 1e10d, 1.50, date '2024-02-29', 5, 0.125d, '1.005', '2024-03-01', 1L),"
            " (2, -7, -1L, cast('NaN' as float), 1e-5d, -0.05, date '1969-12-31', -5, -2.675d, '-7', '1970-01-01', 1L),"
            " (3, 0, 0L, 1e-45f, 0.001d, 0.00, date '1900-01-01', 0, 1e7d, '12', '9999-12-31', 1L),"
            " (4, null, null, null, null, null, null, null, null, null, null, 1L)"
        )
        t.sql("UPDATE {t} SET i = 8, f = 16777216f, ts = 2L WHERE id = 1")
        for column, to in changes.items():
            t.sql(f"ALTER TABLE {{t}} ALTER COLUMN {column} TYPE {to}")
        t.snapshot()
        t.snapshot(hudiOptions={"hoodie.schema.on.read.enable": "true"})
    finally:
        t.spark.sql("set hoodie.schema.on.read.enable=false")
    t.note = note


@table()
def v9_cow_type_changes(t):
    type_changes(t, "cow", "Every change of type that schema on read allows besides promotions, over older files.")


@table()
def v9_mor_type_changes(t):
    type_changes(t, "mor", "As v9_cow_type_changes, over an older base file and an older log block.")
