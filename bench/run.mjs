// Measures reads of `cow1`, a table of one million rows in one base file, beside other readers: `npm run bench`.
//
// One case alone: `npm run bench -- --runtime node --case 2 --with parquet-wasm --delay 0 --runs 9`. Each of these takes a list
// with commas: runtime (node, chromium), case (2 and all: how many columns; keys-all and keys-3: so many columns of a range of a hundred
// keys; cold: the first answer of a process), with (parquet-wasm, hyparquet, duckdb-wasm), delay (milliseconds before the first byte of each
// answer). `--no-build` measures dist/ as it is.
//
// First use needs Python 3 with venv, Java 11 or 17 and Maven, and takes some minutes: real Spark writes the tables, once, into
// the user's cache folder, with the metadata table and all else that Spark does by default.
//
// What is timed, until the columns are Arrow in JavaScript: `hudi-wasm` from nothing open; `hudi-wasm, open` the read of a handle that is open
// and knows its schema, nothing of the rows cached, which is what the bars are about. The readers of files are given the file's URL, hudi-wasm
// the table's. Contenders take turns, each in a process or page of its own that has its wasm loaded; "first" is the first run there,
// "median" that of the others. DuckDB's Node build has no HTTP, so it reads the disk. Of keys, hyparquet is asked to use its page index;
// parquet-wasm has no filters.
//
// Two more tell what a read cannot do without: `hudi-wasm, of memory`, the same read where no network is, and `plain fetch`, the ranges of
// the read at once, without delay. A bar that is missed is printed with the time parted by them.
//
// A cold start is measured from the start of a process until it prints how many rows two columns of `small` have, 20,000 rows on the disk, less
// what a process takes that prints at once (see cold.mjs).
//
// Ends with code 1 unless the bars of judge.mjs are met.
import { fork } from 'node:child_process';
import { copyFile, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { build } from '../scripts/build.mjs';
import { root } from '../scripts/lib/run.mjs';
import { manifestOf } from '../scripts/manifest.mjs';
import { setup } from '../scripts/setup.mjs';
import { serve } from './server.mjs';
import { coldStarts } from './cold_starts.mjs';
import { cases, coldCase, judge, ours, readsOf } from './judge.mjs';
import { here, installed, kept, table } from './tables.mjs';

/** @typedef {import('./contenders.mjs').Outcome} Outcome */
/** @typedef {import('./contenders.mjs').Work} Work */
/** @typedef {{ run: (work: Work) => Promise<Outcome>, stop: () => Promise<void> }} Contender */
/** @typedef {import('./server.mjs').Traffic} Traffic */
/** @typedef {import('./judge.mjs').Measured} Measured */

const modules = path.join(here, 'node_modules');
const duckdb = path.join(modules, '@duckdb/duckdb-wasm/dist');

/** The other readers, and the page that runs any of them. */
async function prepare() {
  await installed();
  const out = path.join(kept, 'page');
  const { build: bundleOf } = await import('esbuild');
  await rm(out, { recursive: true, force: true });
  await bundleOf({
    entryPoints: [path.join(here, 'contenders.mjs')],
    outdir: out,
    bundle: true,
    splitting: true,
    format: 'esm',
    conditions: ['browser'],
    external: ['node:*'],
    logLevel: 'error',
  });
  // Asked for by that name; the wasm of a page comes from the server.
  await copyFile(path.join(modules, 'parquet-wasm/esm/parquet_wasm_bg.wasm'), path.join(out, 'parquet_wasm_bg.wasm'));
  return out;
}

/** @param {string} name @returns {Promise<Contender>} */
async function inNode(name) {
  const child = fork(path.join(here, 'contenders.mjs'), { execArgv: ['--expose-gc', '--max-old-space-size=4096'] });
  const places = { wasm: path.join(root, 'dist/core_bg.wasm'), duckdb };
  return {
    run: (work) =>
      new Promise((resolve, reject) => {
        child.once('exit', (code) => reject(new Error(`${name} ended with code ${code}`)));
        child.once('message', (/** @type {{ outcome: Outcome, error?: string }} */ { outcome, error }) => {
          child.removeAllListeners('exit');
          if (error === undefined) resolve(outcome);
          else reject(new Error(`${name}: ${error}`));
        });
        child.send({ name, places, work });
      }),
    stop: async () => void child.kill(),
  };
}

/** @param {import('playwright-core').Browser} browser @param {string} origin @param {string} name @returns {Promise<Contender>} */
async function inPage(browser, origin, name) {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${origin}/page.html`);
  const devtools = await context.newCDPSession(page);
  const given = { name, places: { wasm: `${origin}/core_bg.wasm`, duckdb: `${origin}/duckdb` } };
  await page.evaluate(async ({ name, places }) => {
    const global = /** @type {any} */ (globalThis);
    global.run = await global.ready(name, places);
  }, given);
  return {
    run: async (work) => {
      await devtools.send('HeapProfiler.collectGarbage');
      return page.evaluate((work) => /** @type {any} */ (globalThis).run(work), work);
    },
    stop: () => context.close(),
  };
}

/** Contenders by name, and how to end them all. */
async function start(/** @type {string} */ runtime, /** @type {string[]} */ names, /** @type {string} */ origin) {
  const browser = runtime === 'node' ? undefined : await (await import('../tests/wasm/support/chromium.js')).launch();
  /** @type {Map<string, Contender>} */
  const contenders = new Map();
  for (const name of names) contenders.set(name, browser === undefined ? await inNode(name) : await inPage(browser, origin, name));
  const stop = async () => {
    for (const contender of contenders.values()) await contender.stop();
    await browser?.close();
  };
  return { contenders, stop };
}

/**
 * Lets them take turns on one case.
 *
 * @param {Map<string, Contender>} contenders
 * @param {import('./judge.mjs').Kind} kind
 * @param {{ runs: number, origin: string, folder: string, file: string, traffic: (run: string) => Traffic }} where
 */
async function measure(contenders, { runtime, name: what, delay }, { runs, origin, folder, file, traffic }) {
  /** @type {Map<string, Measured>} */
  const measured = new Map();
  const { columns, keys } = cases[what];
  for (let turn = 0; turn <= runs; turn += 1) {
    for (const [name, contender] of contenders) {
      const run = `${runtime}-${what}-${delay}-${name.replace(/\W+/g, '-')}-${turn}`;
      const [table, near] = [delay, 0].map((late) => `${origin}/run/${run}/${late}`);
      const outcome = await contender.run({ table, near, file: `${table}/${file}`, path: path.join(folder, file), columns, keys });
      measured.set(name, { outcomes: [...(measured.get(name)?.outcomes ?? []), outcome], traffic: traffic(run) });
    }
    process.stderr.write('.');
  }
  const read = [...measured].filter(([name]) => name !== 'plain fetch').flatMap(([, { outcomes }]) => outcomes);
  const answers = new Set(read.map(({ rows, columns, sum }) => `${rows} rows, ${columns} columns, sum ${sum.toFixed(0)}`));
  if (answers.size !== 1) throw new Error(`they read different rows: ${[...answers].join('; ')}`);
  return measured;
}

function options() {
  const list = (/** @type {string} */ usual) => ({ type: /** @type {const} */ ('string'), default: usual });
  const { values } = parseArgs({
    options: {
      runtime: list('node,chromium'), case: list('2,all,keys-all,keys-3,cold'), with: list('parquet-wasm,hyparquet,duckdb-wasm'), delay: list('0,30'), runs: list('6'),
      'no-build': { type: 'boolean', default: false },
    },
  });
  const split = (/** @type {string} */ text) => text.split(',').filter((item) => item !== '');
  return {
    runtimes: split(values.runtime), names: split(values.case), delays: split(values.delay).map(Number), runs: Number(values.runs),
    peers: split(values.with), build: !values['no-build'],
  };
}

async function main() {
  const chosen = options();
  if (chosen.build) {
    await setup();
    await build();
  }
  const folder = await table('cow1');
  const out = await prepare();
  const file = (await readdir(folder)).find((name) => name.endsWith('.parquet')) ?? '';
  const manifest = Buffer.from(JSON.stringify(await manifestOf(folder)));
  const server = await serve((name, ofTable) => {
    if (name === 'hudi-manifest.json') return manifest;
    if (ofTable) return path.join(folder, name);
    if (name === 'page.html') return Buffer.from('<!doctype html><title>bench</title><script type="module" src="/contenders.js"></script>');
    if (name === 'core_bg.wasm') return path.join(root, 'dist', name);
    return name.startsWith('duckdb/') ? path.join(duckdb, path.basename(name)) : path.join(out, path.basename(name));
  });
  const [report, short] = [/** @type {Record<string, unknown>[]} */ ([]), /** @type {string[]} */ ([])];
  const keep = (/** @type {ReturnType<typeof judge>} */ judged) => {
    report.push(...judged.lines);
    short.push(...judged.short);
  };
  try {
    for (const runtime of chosen.runtimes) {
      for (const name of chosen.names.filter((name) => name !== coldCase)) {
        const { contenders, stop } = await start(runtime, readsOf(name, chosen.peers), server.origin);
        try {
          for (const delay of chosen.delays) {
            const kind = { runtime, name, delay };
            keep(judge(kind, await measure(contenders, kind, { runs: chosen.runs, folder, file, ...server }), chosen.peers));
          }
        } finally {
          await stop();
        }
      }
    }
    if (chosen.names.includes(coldCase)) keep(await coldStarts([ours, ...chosen.peers], chosen.runs));
  } finally {
    server.close();
  }
  console.log('\nmilliseconds; ratios are of the peer named, with the bar where there is one');
  console.log('requests are those after the opening, rounds those of the base file, all requests and all MB those of the whole run; MB is what our read counts itself');
  console.table(report);
  for (const line of short) console.log(`below the bar: ${line}`);
  if (short.length === 0) console.log('the bars are met');
  return short.length === 0;
}

try {
  process.exitCode = (await main()) ? 0 : 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
