// Fixture tables by Spark, with what Spark reads from them: `npm run tables -- NAME…` or `-- all`.
//   --out FOLDER   where NAME.zip and NAME.expected.json go (default tests/data)
//   --check        reads the first snapshot of each again, and compares it with what is recorded
//   --readme       writes the list of tables in tests/README.md anew from what is recorded
//   --list         names, releases, zones
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { root, since } from '../../scripts/lib/run.mjs';
import { bundles, sparkTools } from '../../scripts/lib/spark.mjs';
import { rewritten } from './lib/readme.js';
import { Spark, recipes } from './lib/spark.js';

/** @typedef {import('./lib/spark.js').Session} Session */

const { values: options, positionals: names } = parseArgs({
  allowPositionals: true,
  options: {
    out: { type: 'string', default: path.join(root, 'tests', 'data') },
    check: { type: 'boolean', default: false },
    readme: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
  },
});
const out = path.resolve(options.out);
let failed = 0;

async function main() {
  if (options.readme) return readme();
  const tools = await sparkTools(/** @type {(keyof typeof bundles)[]} */ (Object.keys(bundles)));
  const known = await recipes(tools);
  if (options.list) return console.log(Object.entries(known).map(([name, { bundle, zone }]) => `${name}  Hudi ${bundle}  ${zone}`).join('\n'));
  const wanted = chosen(Object.keys(known));
  const work = await mkdtemp(path.join(tmpdir(), 'hudi-tables-'));
  await inGroups(wanted, known, async (session, members) => {
    const spark = await Spark.start(tools, session, work);
    for (const name of members) await one(name, () => spark.ask(options.check ? 'check' : 'make', { name, out, ...(options.check ? {} : { save: true }) }));
    await spark.stop();
  });
  const again = options.check ? [] : wanted.filter((name) => (known[name]?.bundle === '1.0.2' || name === 'v6_mor_rollback') && existsSync(path.join(out, `${name}.zip`)));
  if (again.length > 0) await reread(again, tools, work);
  if (failed === 0) await rm(work, { recursive: true });
  else console.log(`tables and Spark's logs: ${work}`);
  console.log(`${wanted.length - failed} tables ${options.check ? 'checked' : 'made'}, ${failed} failed`);
}

/** @param {string[]} known */
function chosen(known) {
  const strange = names.filter((name) => name !== 'all' && !known.includes(name));
  if (strange.length > 0) throw new Error(`no recipe makes ${strange.join(', ')}; --list prints the names`);
  if (names.length === 0 && !options.check) throw new Error('name tables, or all; --list prints the names');
  const all = names.length === 0 || names.includes('all');
  return all ? known.filter((name) => !options.check || existsSync(path.join(out, `${name}.zip`))) : names;
}

/**
 * Names by Spark process, older releases first: upgraded tables start from theirs.
 *
 * @param {string[]} wanted
 * @param {Record<string, Session>} known
 * @param {(session: Session, members: string[]) => Promise<void>} work
 */
async function inGroups(wanted, known, work) {
  const keys = [...new Set(wanted.map((name) => JSON.stringify(known[name])))].sort();
  for (const key of keys) await work(JSON.parse(key), wanted.filter((name) => JSON.stringify(known[name]) === key));
}

/** @param {string} name @param {() => Promise<unknown>} work */
async function one(name, work) {
  const start = performance.now();
  const said = await work().then(
    () => 'ok',
    (error) => {
      failed += 1;
      return `FAILED\n    ${error.message.replaceAll('\n', '\n    ')}`;
    },
  );
  console.log(`${name} (${since(start)}) ${said}`);
}

/**
 * Hudi 1.0.2 counts the start of an incremental range in, later ones do not, and 0.15.0 loses rows behind a rollback's block: what 1.1.1 reads
 * is what is expected.
 *
 * @param {string[]} members
 * @param {import('./lib/spark.js').Tools} tools
 * @param {string} work
 */
async function reread(members, tools, work) {
  const spark = await Spark.start(tools, { bundle: '1.1.1', zone: 'UTC' }, work);
  for (const name of members) await one(`${name}, read by 1.1.1`, () => spark.ask('reread', { name, out }));
  await spark.stop();
}

async function readme() {
  const file = path.join(root, 'tests', 'README.md');
  const found = (await readdir(out)).filter((name) => name.endsWith('.expected.json')).sort();
  const tables = await Promise.all(found.map(async (name) => JSON.parse(await readFile(path.join(out, name), 'utf8'))));
  await writeFile(file, rewritten(await readFile(file, 'utf8'), tables));
}

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  failed += 1;
}
process.exitCode = failed > 0 ? 1 : 0;
