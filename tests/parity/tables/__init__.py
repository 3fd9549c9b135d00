"""Recipes of tables, by topic: importing this registers them all."""

from ..spark.maker import TABLES
from . import (
    all_types,
    basics,
    changes,
    evolution,
    failures,
    indexes,
    keys,
    large,
    logs,
    matrix,
    ordering,
    partitions,
    payloads,
    releases,
    services,
    writers,
    zones,
)

__all__ = ["TABLES"]
