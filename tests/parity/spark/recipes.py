"""Prints the registered recipes as JSON: name to the bundle and zone that make it."""

import json

from ..tables import TABLES

if __name__ == "__main__":
    print(json.dumps({name: {"bundle": b, "zone": z} for name, (b, z, _) in TABLES.items()}))
