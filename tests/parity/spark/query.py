"""Queries in the words of js/index.d.ts, run by Spark."""

import re

from pyspark.sql import functions as F

QUERY_TYPE = "hoodie.datasource.query.type"


def read(spark, path, query, metadata=True):
    """The frame of a query; `metadata` says whether Spark may use the metadata table."""
    reader = spark.read.format("hudi").option("hoodie.metadata.enable", str(metadata).lower())
    if query["queryType"] == "snapshot":
        kind = "read_optimized" if query.get("readOptimized") else "snapshot"
        reader = reader.option(QUERY_TYPE, kind)
        if "asOf" in query:
            reader = reader.option("as.of.instant", query["asOf"])
    else:
        reader = reader.option(QUERY_TYPE, "incremental")
        reader = reader.option("hoodie.datasource.read.begin.instanttime", query["start"])
        if "end" in query:
            reader = reader.option("hoodie.datasource.read.end.instanttime", query["end"])
        if query["queryType"] == "cdc":
            reader = reader.option("hoodie.datasource.query.incremental.format", "cdc")
    for key, value in query.get("hudiOptions", {}).items():
        reader = reader.option(key, value)
    frame = reader.load(str(path))
    for column, op, *value in query.get("filters", []):
        frame = frame.where(_condition(frame, column, op.upper(), *value))
    return frame.select(*query["projection"]) if "projection" in query else frame


def _condition(frame, column, op, value=None):
    name = F.col(".".join(f"`{part}`" for part in column.split(".")))
    kind = frame.select(name).schema[0].dataType
    literal = lambda v: F.lit(v).cast(kind)
    if op in ("IN", "NOT IN"):
        inside = name.isin([literal(v) for v in value])
        return inside if op == "IN" else ~inside
    if op in ("IS NULL", "IS NOT NULL"):
        return name.isNull() if op == "IS NULL" else name.isNotNull()
    return {
        "=": name.__eq__,
        "!=": name.__ne__,
        "<": name.__lt__,
        "<=": name.__le__,
        ">": name.__gt__,
        ">=": name.__ge__,
    }[op](literal(value))


def first_line(error):
    """The Java or Spark exception's own first line, without paths."""
    lines = [line for line in str(error).splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith("An error occurred while calling")]
    if not lines:
        return type(error).__name__
    if "Job aborted due to stage failure" in lines[0]:  # the last cause says what happened
        causes = [line.split(": ", 1)[1] for line in lines if line.startswith("Caused by: ")]
        lines = causes[-1:] or lines
    return re.sub(r"(file:)?(/[\w.=-]+){2,}", "<path>", lines[0].lstrip(": "))[:300]


def sums(frame):
    """Sum of every number column and of the lengths of every string column, as text."""
    columns = {}
    for field in frame.schema.fields:
        kind, name = field.dataType.simpleString(), F.col(f"`{field.name}`")
        if kind in ("int", "bigint", "smallint", "tinyint"):
            columns[field.name] = F.sum(name.cast("decimal(38,0)")).cast("string")
        elif kind.startswith("decimal"):
            columns[field.name] = F.sum(name).cast("string")
        elif kind == "string" and not field.name.startswith("_hoodie"):
            columns[field.name] = F.sum(F.length(name)).cast("string")
    row = frame.agg(*[value.alias(name) for name, value in columns.items()]).first()
    return row.asDict()
