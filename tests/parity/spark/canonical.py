"""Rows of Spark as JSON that any language can compare; tests/README.md says how each type is written."""

import base64
import datetime
import decimal
import json

from pyspark.sql import types

LEFT_OUT = ("_hoodie_file_name", "_hoodie_commit_seqno")


def rows(frame):
    """The rows of a frame without LEFT_OUT, sorted by their JSON text."""
    kept = [f for f in frame.schema.fields if f.name not in LEFT_OUT]
    collected = frame.select(*[f"`{f.name}`" for f in kept]).collect()
    found = [{f.name: canonical(v, f.dataType) for f, v in zip(kept, row)} for row in collected]
    return sorted(found, key=lambda row: json.dumps(row, ensure_ascii=False, sort_keys=True))


def canonical(value, kind=None):
    """One value; `kind` is its Spark type, where known."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return value if abs(value) < 2**53 else str(value)
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, decimal.Decimal):
        return _decimal(value, kind)
    if isinstance(value, datetime.datetime):
        zoned = value.tzinfo is not None or isinstance(kind, types.TimestampType)
        text = value.replace(tzinfo=None).isoformat(timespec="microseconds")
        return text + ("Z" if zoned else "")
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(bytes(value)).decode()
    return _nested(value, kind)


def _decimal(value, kind):
    if isinstance(kind, types.DecimalType):  # small ones arrive as 100E-12
        exact = decimal.Context(prec=76)
        value = value.quantize(decimal.Decimal(1).scaleb(-kind.scale), context=exact)
    return format(value, "f")


def _nested(value, kind):
    if hasattr(value, "asDict"):
        struct = isinstance(kind, types.StructType)
        kinds = {f.name: f.dataType for f in kind.fields} if struct else {}
        return {k: canonical(v, kinds.get(k)) for k, v in value.asDict().items()}
    if isinstance(value, dict):
        known = isinstance(kind, types.MapType)
        of_key, of_value = (kind.keyType, kind.valueType) if known else (None, None)
        pairs = ([canonical(k, of_key), canonical(v, of_value)] for k, v in value.items())
        return sorted(pairs, key=lambda pair: json.dumps(pair[0]))
    item = kind.elementType if isinstance(kind, types.ArrayType) else None
    return [canonical(v, item) for v in value]
