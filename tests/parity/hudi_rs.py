"""The rows that hudi-rs reads of a table, as JSON: `python hudi_rs.py FOLDER COLUMN...`"""

import json
import sys

import pyarrow
from hudi import HudiTableBuilder

folder, *columns = sys.argv[1:]
batches = HudiTableBuilder.from_base_uri(folder).build().read()
rows = pyarrow.Table.from_batches(batches).select(columns).to_pylist() if batches else []
# Doubles as the canonical form has them: the text of Python.
print(json.dumps([{name: repr(value) if isinstance(value, float) else value for name, value in row.items()} for row in rows]))
