"""Record payload classes, which Hudi 1.1 turns into merge properties of the table."""

from ..spark.maker import MOR_LOGS, ORDERING, PAYLOAD, table


def payload(t, name, **more):
    t.columns = "id int, name string, price double, qty int, ts long"
    t.options.update({**MOR_LOGS, PAYLOAD: f"org.apache.hudi.common.model.{name}", **more})
    t.write([(i, f"n{i}", i + 0.5, i * 10, 10) for i in range(1, 7)], "insert")
    t.write(
        [
            (1, None, 100.5, None, 20),
            (2, "n2 new", None, None, 20),
            (3, None, None, 33, 5),
            (7, None, 7.5, None, 20),
        ]
    )
    t.write([(1, "n1 late", None, 11, 15), (3, "n3 new", None, None, 30), (4, "equal", None, None, 10)])
    t.write([(5, None, 0.0, 0, 40), (6, None, 0.0, 0, 1)], "delete")
    t.record_all()
    t.note = f"{name}: updates with nulls, with higher, equal and lower ts; deletes. The table's merge properties are in hoodie.properties."


@table()
def v9_mor_payload_overwrite_non_defaults(t):
    payload(t, "OverwriteNonDefaultsWithLatestAvroPayload")


@table()
def v9_mor_payload_partial_update(t):
    payload(t, "PartialUpdateAvroPayload")


@table()
def v9_mor_payload_event_time(t):
    payload(t, "EventTimeAvroPayload")


@table()
def v9_mor_payload_default(t):
    payload(t, "DefaultHoodieRecordPayload")


@table()
def v9_mor_payload_overwrite_latest(t):
    payload(t, "OverwriteWithLatestAvroPayload")


def postgres(t):
    t.columns = "id int, name string, note string, _event_lsn long, _change_operation_type string"
    t.options.update(
        {
            **MOR_LOGS,
            ORDERING: "_event_lsn",
            PAYLOAD: "org.apache.hudi.common.model.debezium.PostgresDebeziumAvroPayload",
        }
    )
    t.write([(i, f"n{i}", f"toast {i}", 10, "c") for i in range(1, 7)], "insert")
    t.write(
        [
            (1, "up", "__debezium_unavailable_value", 20, "u"),
            (2, "late", "loses", 5, "u"),
            (3, "gone", None, 20, "d"),
            (4, "equal", "__debezium_unavailable_value", 10, "u"),
        ]
    )
    t.write(
        [
            (1, "__debezium_unavailable_value", "toast new", 30, "u"),
            (3, "reborn", "t", 40, "c"),
            (5, "late delete", None, 1, "d"),
            (8, "new", "__debezium_unavailable_value", 1, "c"),
        ]
    )
    t.record_all()
    t.note = "PostgresDebeziumAvroPayload: unavailable values are filled from the older version, _change_operation_type d deletes."


def mysql(t, ordering="_event_bin_file,_event_pos"):
    t.columns = "id int, name string, _event_seq string, _event_bin_file string, _event_pos long, _change_operation_type string"
    t.options.update(
        {
            **MOR_LOGS,
            ORDERING: ordering,
            PAYLOAD: "org.apache.hudi.common.model.debezium.MySqlDebeziumAvroPayload",
        }
    )
    row = lambda i, name, file, pos, op: (i, name, f"{file}.{pos}", f"mysql-bin.{file:06}", pos, op)
    t.write([row(i, f"n{i}", 2, 100, "c") for i in range(1, 6)], "insert")
    t.write(
        [
            row(1, "next file, lower position", 3, 1, "u"),
            row(2, "earlier file loses", 1, 900, "u"),
            row(3, "gone", 2, 101, "d"),
            row(4, "same file, lower position", 2, 99, "u"),
        ]
    )
    t.write([row(1, "position 20 beats 1", 3, 20, "u"), row(5, "position 1000 beats 100", 2, 1000, "u")])
    t.record_all()
    t.note = "MySqlDebeziumAvroPayload: two ordering fields, binlog file then position."


def awsdms(t):
    t.columns = "id int, name string, ts long, Op string"
    t.options.update({**MOR_LOGS, PAYLOAD: "org.apache.hudi.common.model.AWSDmsAvroPayload"})
    t.write([(i, f"n{i}", 10, "I") for i in range(1, 5)], "insert")
    t.write([(1, "up", 20, "U"), (2, "gone", 20, "D"), (3, "older ts", 5, "U")])
    t.write([(2, "reborn", 30, "I"), (4, "gone, older ts", 1, "D")])
    t.record_all()
    t.note = "AWSDmsAvroPayload: commit-time ordering, Op = D deletes."


@table()
def v9_mor_payload_postgres(t):
    postgres(t)


@table()
def v9_mor_payload_mysql(t):
    mysql(t)


@table()
def v9_mor_payload_awsdms(t):
    awsdms(t)


def before_version_9(bundle, version):
    """The same classes where a table keeps the class itself, and a reader calls it."""

    def kept(recipe, name):
        recipe.__name__ = f"v{version}_mor_payload_{name}"
        table(bundle)(recipe)

    def of_class(name):
        def recipe(t):
            payload(t, name)
            t.note = f"As the v9 table, version {version}: {name} is in hoodie.properties."

        return recipe

    def of(make, *more):
        def recipe(t):
            make(t, *more)
            t.note = f"As the v9 table, version {version}: the class is in hoodie.properties."

        return recipe

    kept(of_class("OverwriteWithLatestAvroPayload"), "overwrite_latest")
    kept(of_class("DefaultHoodieRecordPayload"), "default")
    kept(of_class("OverwriteNonDefaultsWithLatestAvroPayload"), "overwrite_non_defaults")
    kept(of_class("PartialUpdateAvroPayload"), "partial_update")
    kept(of(postgres), "postgres")
    kept(of(mysql, "_event_seq"), "mysql")
    kept(of(awsdms), "awsdms")


before_version_9("0.15.0", 6)
before_version_9("1.0.2", 8)
