// Measures reads of `cow1`, a table of one million rows in one base file, beside other readers: `npm run bench`.
//
// One case alone: `npm run bench -- --runtime node --case 2 --with parquet-wasm --delay 0 --runs 9`. Each of these takes a list
// with commas: runtime (node, chromium), case (2, all: how many columns), with (parquet-wasm, hyparquet, duckdb-wasm), delay
// (milliseconds before the first byte of each answer). `--no-build` measures dist/ as it is.
//
// First use needs Python 3 with venv, Java 11 or 17 and Maven, and takes some minutes: real Spark writes the table, once, into
// the user's cache folder, with the metadata table and all else that Spark does by default.
//
// What is timed: from nothing open to the columns as Arrow in JavaScript; `read` is that without opening the table. The readers of
// files are given the file's URL, hudi-wasm the table's. Contenders take turns, each in a process or page of its own that
// has its wasm loaded; "first" is the first run there, "median" that of the others. DuckDB's Node build has no HTTP, so it reads the disk.
//
// Ends with code 1 unless hudi-wasm takes at most the time of parquet-wasm in each case without delay, and asks for footer and data in
// two dependent rounds.
import { fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { build } from '../scripts/build.mjs';
import { must, root } from '../scripts/lib/run.mjs';
import { manifestOf } from '../scripts/manifest.mjs';
import { setup } from '../scripts/setup.mjs';
import { serve } from './server.mjs';
import { here, kept, median, table } from './tables.mjs';

/** @typedef {import('./contenders.mjs').Outcome} Outcome */
/** @typedef {import('./contenders.mjs').Work} Work */
/** @typedef {{ run: (work: Work) => Promise<Outcome>, stop: () => Promise<void> }} Contender */
/** @typedef {import('./server.mjs').Traffic} Traffic */
/** What the runs of one contender gave, the first one first; the traffic is that of the last. @typedef {{ outcomes: Outcome[], traffic: Traffic }} Measured */

const ours = 'hudi-wasm';
const rival = 'parquet-wasm';
const modules = path.join(here, 'node_modules');
const duckdb = path.join(modules, '@duckdb/duckdb-wasm/dist');

/** @type {Record<string, string[] | undefined>} */
const cases = { 2: ['city', 'price'], all: undefined };

/** The other readers, and the page that runs any of them. */
async function prepare() {
  if (!existsSync(path.join(modules, '.package-lock.json'))) await must('npm', ['ci', '--no-audit', '--no-fund'], { cwd: here });
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
 * @param {{ runtime: string, columns: string, delay: number }} kind
 * @param {{ runs: number, origin: string, folder: string, file: string, traffic: (run: string) => Traffic }} where
 */
async function measure(contenders, { runtime, columns, delay }, { runs, origin, folder, file, traffic }) {
  /** @type {Map<string, Measured>} */
  const measured = new Map();
  for (let turn = 0; turn <= runs; turn += 1) {
    for (const [name, contender] of contenders) {
      const run = `${runtime}-${columns}-${delay}-${name}-${turn}`;
      const table = `${origin}/run/${run}/${delay}`;
      const outcome = await contender.run({ table, file: `${table}/${file}`, path: path.join(folder, file), columns: cases[columns] });
      measured.set(name, { outcomes: [...(measured.get(name)?.outcomes ?? []), outcome], traffic: traffic(run) });
    }
    process.stderr.write('.');
  }
  const answers = new Set([...measured.values()].flatMap(({ outcomes }) => outcomes.map(({ rows, columns, sum }) => `${rows} rows, ${columns} columns, sum ${sum.toFixed(0)}`)));
  if (answers.size !== 1) throw new Error(`they read different rows: ${[...answers].join('; ')}`);
  return measured;
}

/**
 * Lines of the report, and what falls short of the bar.
 *
 * @param {{ runtime: string, columns: string, delay: number }} kind
 * @param {Map<string, Measured>} measured
 */
function judge({ runtime, columns, delay }, measured) {
  const base = median(measured.get(rival)?.outcomes.slice(1).map(({ ms }) => ms) ?? []);
  /** @type {Record<string, unknown>[]} */
  const lines = [];
  const short = [];
  for (const [name, { outcomes, traffic }] of measured) {
    /** @type {[label: string, times: number[]][]} */
    const timed = [[name, outcomes.map(({ ms }) => ms)]];
    if (name === ours) timed.push(['  its read alone', outcomes.map(({ readMs, ms }) => readMs ?? ms)]);
    for (const [label, [first = NaN, ...others]] of timed) {
      const ms = median(others);
      const ratio = ms / base;
      const counts = { requests: traffic.requests, rounds: traffic.rounds, 'all requests': traffic.all, MB: +(traffic.bytes / 1e6).toFixed(1) };
      lines.push({
        runtime, columns, delay, who: label, first: Math.round(first), median: +ms.toFixed(1), best: +Math.min(...others).toFixed(1), [`of ${rival}`]: ratio.toFixed(2),
        ...(label === name && traffic.all > 0 && counts),
      });
      const what = `${runtime}, ${columns} columns, ${delay} ms`;
      if (label === ours && delay === 0 && ratio > 1) short.push(`${what}: ${ratio.toFixed(2)} of the time of ${rival}`);
      // Without delay an answer may end before the next request of the same round has begun; with all columns requests
      // queue for connections, which a server cannot tell from waiting for an answer.
      if (label === ours && delay > 0 && columns === '2' && traffic.rounds > 2) short.push(`${what}: ${traffic.rounds} rounds for footer and data`);
    }
  }
  return { lines, short };
}

function options() {
  const list = (/** @type {string} */ usual) => ({ type: /** @type {const} */ ('string'), default: usual });
  const { values } = parseArgs({
    options: {
      runtime: list('node,chromium'), case: list('2,all'), with: list('parquet-wasm,hyparquet,duckdb-wasm'), delay: list('0,30'), runs: list('6'),
      'no-build': { type: 'boolean', default: false },
    },
  });
  const split = (/** @type {string} */ text) => text.split(',').filter((item) => item !== '');
  return {
    runtimes: split(values.runtime), columns: split(values.case), delays: split(values.delay).map(Number), runs: Number(values.runs),
    names: [ours, ...split(values.with)], build: !values['no-build'],
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
  const report = [];
  const short = [];
  try {
    for (const runtime of chosen.runtimes) {
      for (const columns of chosen.columns) {
        const { contenders, stop } = await start(runtime, chosen.names, server.origin);
        try {
          for (const delay of chosen.delays) {
            const kind = { runtime, columns, delay };
            const judged = judge(kind, await measure(contenders, kind, { runs: chosen.runs, folder, file, ...server }));
            report.push(...judged.lines);
            short.push(...judged.short);
          }
        } finally {
          await stop();
        }
      }
    }
  } finally {
    server.close();
  }
  console.log('\nmilliseconds; requests and rounds are those for the base file, all requests and MB those of the whole run');
  console.table(report);
  for (const line of short) console.log(`below the bar: ${line}`);
  if (short.length === 0) console.log(chosen.names.includes(rival) ? 'the bar is met' : `no bar without ${rival}`);
  return short.length === 0;
}

try {
  process.exitCode = (await main()) ? 0 : 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
