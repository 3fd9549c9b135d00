// Reads a Hudi table in Node: `node examples/read.mjs [path or URL]`. Without one, a small table that Spark wrote.
import { tableFromIPC } from 'apache-arrow';
import { readFile } from 'node:fs/promises';
import process from 'node:process';
import { HudiTable } from 'hudi-wasm';
import { unzip } from '../scripts/lib/unzip.mjs';

/** The table `tests/data/<name>.zip`, kept in memory. */
async function sample(/** @type {string} */ name) {
  const zip = await readFile(new URL(`../tests/data/${name}.zip`, import.meta.url));
  const files = unzip(zip).map(({ path, data }) => /** @type {const} */ ([path.slice(name.length + 1), data]));
  return HudiTable.open(`memory:///${name}`, { storage: { type: 'memory', files } });
}

const [where] = process.argv.slice(2);
const table = where === undefined ? await sample('v9_cow_hive_parts') : await HudiTable.open(where);
console.log(`${table.tableName}: ${table.tableType}, version ${table.tableVersion}`);

const result = await table.read({ limit: 10 });
const columns = tableFromIPC(result.ipc);
console.table(columns.toArray().map((row) => row.toJSON()));

const { requests, bytes, ms } = result.metrics;
console.log(`${result.numRows} rows, ${requests} requests, ${bytes} bytes, ${ms} ms`);
table.close();
