// Prints how Spark and our engine differ on a table: `node tests/parity/compare.js FOLDER [--query JSON] [--hudi 1.1.1]`.
// FOLDER is a table, or the name of one in tests/data. --query is in the words of js/index.d.ts. dist/ must have been built.
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { sparkTools } from '../../scripts/lib/spark.mjs';
import { tableNames, unpack } from '../wasm/support/fixtures.js';
import { difference } from './lib/compare.js';
import { Ours } from './lib/ours.js';
import { Spark } from './lib/spark.js';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    query: { type: 'string', default: '{}' },
    hudi: { type: 'string', default: '1.1.1' },
    zone: { type: 'string', default: 'UTC' },
  },
});

/** The table's folder: as given, or unpacked from tests/data. @param {string} name */
async function folderOf(name) {
  if (existsSync(path.join(name, '.hoodie'))) return path.resolve(name);
  if ((await tableNames()).includes(name)) return unpack(name);
  throw new Error(`${name} is neither a folder with a table nor a name in tests/data`);
}

async function main() {
  const [name] = positionals;
  if (name === undefined) throw new Error('usage: node tests/parity/compare.js FOLDER [--query JSON] [--hudi 1.1.1] [--zone UTC]');
  const query = { queryType: 'snapshot', ...JSON.parse(options.query) };
  const bundle = /** @type {import('./lib/spark.js').Bundle} */ (options.hudi);
  const work = await mkdtemp(path.join(tmpdir(), 'hudi-compare-'));
  const spark = await Spark.start(await sparkTools([bundle]), { bundle, zone: options.zone }, work);
  try {
    const table = await folderOf(name);
    const answer = await (await Ours.install(path.join(work, 'package'))).read(table, query);
    /** @type {import('./lib/spark.js').Entry} */
    const entry = await spark.ask('read', { path: table, query }).then(
      (rows) => ({ query, rows }),
      (error) => ({ query, error: error.message.split('\n')[0] }),
    );
    const found = difference(entry, answer);
    console.log(found ?? `no difference: ${entry.error ?? `${entry.rows?.length} rows`}`);
    process.exitCode = found === undefined ? 0 : 1;
  } finally {
    await spark.stop();
    await rm(work, { recursive: true });
  }
}

await main().catch((error) => {
  console.error(error.message);
  process.exitCode = 2;
});
