// Measures hudi-wasm in Node beside native hudi-core, files on the local disk, one core each: `npm run bench:native`.
//
// `--case mor-all,append-gzip` takes some cases alone, `--runs 9` more turns, `--no-build` measures dist/ as it is.
//
// First use builds the native reader (8 minutes, needs protoc: apt install protobuf-compiler libprotobuf-dev) and has real Spark write the
// tables; both stay in the user's cache folder. What is timed: from nothing open to the rows in Arrow, in JavaScript on one side and in
// Rust on the other. The two take turns, each in a process of its own that is pinned to one core, `--runs` of them and for 15 seconds
// at least. "first" is the first turn, which has the engine loaded and nothing compiled yet; the others are medians of the later half.
//
// A write appends the million rows of cow1 to a new table with keys: base files with meta columns and Bloom filters, and a metadata
// table with files, column_stats and record_index, the commit included, the making of the table not. The two differ in this: the rows
// are Arrow in memory on their side, and IPC bytes that are decoded on ours; we look for keys that come twice; we sync each file to
// the disk; they make nine files by an estimate of a row's size, we one by what it has; their record index is not compressed; both
// deflate, they at level 6, we at 4.
//
// Then the table with logs as of three of its commits, hudi-wasm alone: time over log rows, and the memory of the engine.
//
// Ends with code 1 where hudi-wasm takes more than a case allows.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { build } from '../scripts/build.mjs';
import { must, root } from '../scripts/lib/run.mjs';
import { setup } from '../scripts/setup.mjs';
import { here, kept, median, rowsOf, table } from './tables.mjs';

/** @typedef {{ table: string, plan?: boolean, columns?: string[], filters?: string[][], start?: string, asOf?: string, rows?: string, append?: string, codec?: string }} Work */
/** @typedef {{ ms: number, rows: number, sum: number, requests?: number, bytes?: number, wasmMB?: number, error?: string }} Outcome */

const two = ['city', 'price'];
const key = ['id', '=', 'key-0000432100'];

/**
 * `bar` is the part of the peer's time that may be taken, `bytes` that of the bytes that it reads, `requests` how many there may be.
 *
 * @type {Record<string, { table: string, bar: number, bytes?: number, requests?: number, work: Omit<Work, 'table'>, last?: boolean }>}
 */
const cases = {
  'cow-all': { table: 'cow', bar: 1, work: {} },
  'cow-2': { table: 'cow', bar: 0.12, work: { columns: two } },
  'mor-all': { table: 'mor', bar: 0.6, work: {} },
  'mor-2': { table: 'mor', bar: 0.3, work: { columns: two } },
  'cow-last-commit': { table: 'cow', bar: 0.5, work: {}, last: true },
  'cows-last-commit': { table: 'cows', bar: 0.5, work: {}, last: true },
  'cowz-last-commit': { table: 'cowz', bar: 0.5, work: {}, last: true },
  'mor-last-commit': { table: 'mor', bar: 0.5, bytes: 0.3, work: {}, last: true },
  'cow-one-key': { table: 'cow', bar: 0.5, work: { columns: ['id', ...two], filters: [key] } },
  // Its listings, pages of a thousand, are not counted apart here: a folder has no pages.
  'many-plan': { table: 'many', bar: 1, requests: 16, work: { plan: true } },
  'cowp-one-partition': { table: 'cowp', bar: 1, work: { filters: [['shop', '=', 'shop-07']] } },
};

/**
 * `bar` is the part of the peer's time that may be taken, `metadata` that of the bytes beside the base files.
 *
 * @type {Record<string, { codec: string, bar: number, metadata: number }>}
 */
const writes = {
  'append-gzip': { codec: 'gzip', bar: 0.9, metadata: 0.35 },
  'append-snappy': { codec: 'snappy', bar: 0.9, metadata: 0.35 },
};

/** The native reader, built when it is not there, or was built of other sources. */
async function native() {
  const target = path.join(kept, 'native');
  const program = path.join(target, 'release/native-reader');
  const sources = await Promise.all(['Cargo.lock', 'src/main.rs'].map((name) => readFile(path.join(here, 'native', name), 'utf8')));
  const stamp = path.join(target, 'sources');
  const wanted = createHash('sha256').update(sources.join('')).digest('hex');
  if (existsSync(program) && (await readFile(stamp, 'utf8').catch(() => '')) === wanted) return program;
  console.log('bench: cargo builds the native reader, once (some minutes)');
  await must('cargo', ['build', '--release', '--quiet', '--manifest-path', path.join(here, 'native/Cargo.toml'), '--target-dir', target]);
  await writeFile(stamp, wanted);
  return program;
}

/** What a process has read so far, where the system tells: page cache or disk, sockets and pipes too. */
async function readBy(/** @type {number | undefined} */ pid) {
  const told = await readFile(`/proc/${pid}/io`, 'utf8').catch(() => '');
  return Number(/^rchar: (\d+)$/m.exec(told)?.[1] ?? NaN);
}

/** A process on one core that answers a line of JSON with a line of JSON. */
function worker(/** @type {string[]} */ command) {
  const child = spawn('taskset', ['--cpu-list', '0', ...command], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    /** @returns {Promise<Outcome>} */
    run: async (/** @type {Work} */ work) => {
      const before = await readBy(child.pid);
      child.stdin.write(`${JSON.stringify(work)}\n`);
      const { value, done } = await lines.next();
      if (done) throw new Error(`${command[0]} ended`);
      const outcome = JSON.parse(value);
      if (outcome.error !== undefined) throw new Error(outcome.error);
      return { bytes: (await readBy(child.pid)) - before, ...outcome };
    },
    stop: () => void child.kill(),
  };
}

/** The commits of a table, in the order of their completion. */
async function commits(/** @type {string} */ folder) {
  const names = await readdir(path.join(folder, '.hoodie/timeline'));
  const completed = names.flatMap((name) => {
    const [, requested, time] = /^(\d+)_(\d+)\.(?:delta)?commit$/.exec(name) ?? [];
    return time === undefined ? [] : [{ requested, time }];
  });
  return completed.sort((a, b) => a.time.localeCompare(b.time));
}

const inNode = (/** @type {string} */ script) => worker([process.execPath, '--expose-gc', path.join(here, script)]);
const reader = () => inNode('local_reader.mjs');

/** Milliseconds that the turns of a case take at least: on one core V8 compiles beside the reads, and has what is hot only after some two hundred of them. */
const WARM = 15_000;

/** The median of the later half of the turns. */
const settled = (/** @type {Outcome[]} */ list) => median(list.slice(Math.ceil(list.length / 2)).map(({ ms }) => ms));

/** Lets the two take turns on one case. */
async function measure(/** @type {string} */ name, /** @type {number} */ runs) {
  const { table: tableName, work, last } = cases[name];
  const folder = await table(tableName);
  const asked = { ...work, table: folder, ...(last && { start: (await commits(folder)).at(-2)?.time }) };
  const workers = { ours: reader(), native: worker([await native()]) };
  /** @type {Record<string, Outcome[]>} */
  const outcomes = { ours: [], native: [] };
  try {
    const begun = performance.now();
    for (let turn = 0; turn <= runs || performance.now() - begun < WARM; turn += 1) {
      for (const [who, { run }] of Object.entries(workers)) outcomes[who].push(await run(asked));
      process.stderr.write('.');
    }
  } finally {
    for (const { stop } of Object.values(workers)) stop();
  }
  const answers = new Set(Object.values(outcomes).flatMap((list) => list.map(({ rows, sum }) => `${rows} rows, sum ${sum.toFixed(0)}`)));
  if (answers.size !== 1) throw new Error(`${name}: they read different rows: ${[...answers].join('; ')}`);
  return outcomes;
}

/** Bytes of base files, and of everything else. */
async function sizes(/** @type {string} */ folder) {
  let [data, metadata] = [0, 0];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const { size } = await stat(path.join(entry.parentPath, entry.name));
    if (entry.name.endsWith('.parquet') && !entry.parentPath.includes('.hoodie')) data += size;
    else metadata += size;
  }
  return { data, metadata };
}

/** Lets the two take turns on one append, each time to a new table. */
async function measureWrite(/** @type {string} */ name, /** @type {number} */ runs) {
  const { codec, bar, metadata: most } = writes[name];
  const source = await table('cow1');
  const rows = await rowsOf(source);
  const workers = { ours: inNode('local_writer.mjs'), native: worker([await native()]) };
  /** @type {Record<string, Outcome[]>} */
  const outcomes = { ours: [], native: [] };
  /** @type {Record<string, { data: number, metadata: number }>} */
  const written = {};
  try {
    for (let turn = 0; turn <= runs; turn += 1) {
      for (const [who, { run }] of Object.entries(workers)) {
        const append = path.join(kept, `appended-${who}`);
        await rm(append, { recursive: true, force: true });
        outcomes[who].push(await run({ table: source, rows, append, codec }));
        written[who] = await sizes(append);
        await rm(append, { recursive: true, force: true });
      }
      process.stderr.write('.');
    }
  } finally {
    for (const { stop } of Object.values(workers)) stop();
  }
  const [mine, theirs] = [outcomes.ours, outcomes.native].map((list) => median(list.slice(1).map(({ ms }) => ms)));
  const { rows: count, requests, wasmMB } = outcomes.ours.at(-1) ?? outcomes.ours[0];
  if (outcomes.native.some(({ rows }) => rows !== count)) throw new Error(`${name}: they wrote different rows`);
  const [ratio, share] = [mine / theirs, written.ours.metadata / written.native.metadata];
  const mb = (/** @type {number} */ bytes) => +(bytes / 1e6).toFixed(2);
  const line = {
    case: name, rows: count, 'hudi-wasm first': Math.round(outcomes.ours[0].ms), 'hudi-wasm': +mine.toFixed(0), 'hudi-core': +theirs.toFixed(0), ratio: ratio.toFixed(2), bar,
    'base MB': mb(written.ours.data), 'its base MB': mb(written.native.data), 'metadata MB': mb(written.ours.metadata), 'its metadata MB': mb(written.native.metadata),
    requests, 'wasm MB': wasmMB,
  };
  const short = [];
  if (ratio > bar) short.push(`${name}: ${ratio.toFixed(2)} of the time of hudi-core, where ${bar} is the bar`);
  if (share > most) short.push(`${name}: ${share.toFixed(2)} of the metadata of hudi-core, where ${most} is the bar`);
  if ((wasmMB ?? 0) > MEMORY) short.push(`${name}: ${wasmMB} MB of wasm memory, where ${MEMORY} are allowed`);
  return { line, short };
}

/** What an append may hold: 96 MB, and of each of the million rows its key of 14 bytes and 32 bytes. */
const MEMORY = 96 + 14 + 32;

/** Bytes of the largest file slice: its base file, which is one row group, and its logs, whose rows are held. */
async function largestSlice(/** @type {string} */ folder) {
  /** @type {Map<string, number>} */
  const slices = new Map();
  for (const name of await readdir(folder)) {
    const fileId = /^\.?([0-9a-f-]{36}-\d+)_/.exec(name)?.[1];
    if (fileId !== undefined) slices.set(fileId, (slices.get(fileId) ?? 0) + (await stat(path.join(folder, name))).size);
  }
  return Math.max(...slices.values());
}

/** The table with logs as of its first, middle and last change: time over log rows, and memory beside what has to be held. */
async function logRows(/** @type {number} */ runs) {
  const folder = await table('mor');
  const all = await commits(folder);
  const allowed = 64 + (await largestSlice(folder)) / 1e6;
  const report = [];
  for (const changes of [1, 3, 5]) {
    const { run, stop } = reader();
    try {
      const times = [];
      let last;
      for (let turn = 0; turn <= runs; turn += 1) {
        last = await run({ table: folder, asOf: all[changes].requested });
        times.push(last.ms);
      }
      report.push({ 'commits in logs': changes, 'log rows, about': changes * 50_000, 'hudi-wasm': +median(times.slice(1)).toFixed(1), 'wasm MB': last?.wasmMB, 'MB allowed': Math.round(allowed) });
    } finally {
      stop();
    }
  }
  console.log('\nthe table mor as of three commits, all columns: time should grow evenly, and memory stay below 64 MB and one slice');
  console.table(report);
  return report.flatMap(({ 'wasm MB': used = 0 }) => (used > allowed ? [`memory: ${used} MB, where ${Math.round(allowed)} are allowed`] : []));
}

function options() {
  const { values } = parseArgs({
    options: { case: { type: 'string', default: Object.keys({ ...cases, ...writes }).join(',') }, runs: { type: 'string', default: '15' }, 'no-build': { type: 'boolean', default: false } },
  });
  return { names: values.case.split(','), runs: Number(values.runs), build: !values['no-build'] };
}

async function main() {
  const { names, runs, build: building } = options();
  if (building) {
    await setup();
    await build();
  }
  await readFile(path.join(root, 'dist/core_bg.wasm'));
  const report = [];
  const short = [];
  for (const name of names.filter((name) => name in cases)) {
    const { ours, native: peer } = await measure(name, runs);
    const [mine, theirs] = [ours, peer].map(settled);
    const ratio = mine / theirs;
    const { rows, requests, bytes = 0, wasmMB } = ours.at(-1) ?? ours[0];
    const share = bytes / median(peer.map((outcome) => outcome.bytes ?? NaN));
    const { bar, bytes: most = Infinity, requests: asked = Infinity } = cases[name];
    report.push({
      case: name, rows, 'hudi-wasm first': Math.round(ours[0].ms), 'hudi-wasm': +mine.toFixed(1), 'hudi-core': +theirs.toFixed(1), ratio: ratio.toFixed(2), bar,
      requests, MB: +(bytes / 1e6).toFixed(2), 'of its MB': share.toFixed(2), 'wasm MB': wasmMB,
    });
    if (ratio > bar) short.push(`${name}: ${ratio.toFixed(2)} of the time of hudi-core, where ${bar} is the bar`);
    if ((requests ?? 0) > asked) short.push(`${name}: ${requests} requests, where ${asked} are the bar`);
    if (share > most) short.push(`${name}: ${share.toFixed(2)} of the bytes of hudi-core, where ${most} is the bar`);
  }
  if (report.length > 0) {
    console.log('\nmedian milliseconds; requests and MB are those of the last run of hudi-wasm');
    console.table(report);
  }
  if (names.includes('mor-all')) short.push(...(await logRows(Math.min(runs, 6))));
  const written = [];
  for (const name of names.filter((name) => name in writes)) {
    const { line, short: missed } = await measureWrite(name, Math.min(runs, 7));
    written.push(line);
    short.push(...missed);
  }
  if (written.length > 0) {
    console.log('\nappends, median milliseconds; requests, MB written and wasm memory are those of the last run');
    console.table(written);
  }
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
