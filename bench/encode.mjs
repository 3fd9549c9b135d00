// Measures the encoding of a million rows to snappy Parquet in Node beside parquet-wasm: `npm run bench:encode`.
//
// Both take the rows of `cow1` as one Arrow IPC stream from JavaScript's memory and leave the file there. Ours is an append to a table
// in memory without keys, meta columns and metadata table, its commit included. The two take turns, each in a process of its own that
// is pinned to one core. `--no-build` measures dist/ as it is, `--runs 9` takes more turns.
//
// Ends with code 1 where hudi-wasm takes more time than parquet-wasm.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from '../scripts/build.mjs';
import { must } from '../scripts/lib/run.mjs';
import { setup } from '../scripts/setup.mjs';
import { here, median, rowsOf, table } from './tables.mjs';

/** Encodes; gives how many bytes. @typedef {() => Promise<{ ms: number, bytes: number }>} Encoder */

/** @type {Record<string, (rows: Uint8Array) => Promise<Encoder>>} */
const encoders = {
  async 'hudi-wasm'(rows) {
    const { HudiTable } = await import('../js/entry/node.js');
    return async () => {
      const options = { tableName: 'encoded', schema: rows, populateMetaFields: false, metadata: /** @type {false} */ (false), storage: { type: /** @type {const} */ ('memory') } };
      const made = await HudiTable.create('memory:///encoded', options);
      /** @type {any} */ (globalThis).gc?.();
      const began = performance.now();
      const result = await made.append(rows, { compression: 'snappy' });
      const ms = performance.now() - began;
      result.table.close();
      made.close();
      return { ms, bytes: result.bytesWritten };
    };
  },
  async 'parquet-wasm'(rows) {
    // @ts-ignore: a package of bench/package.json, which the benchmark installs.
    const { Compression, Table, WriterPropertiesBuilder, writeParquet } = await import('parquet-wasm');
    return async () => {
      /** @type {any} */ (globalThis).gc?.();
      const began = performance.now();
      const properties = new WriterPropertiesBuilder().setCompression(Compression.SNAPPY).build();
      const { byteLength: bytes } = writeParquet(Table.fromIPCStream(rows), properties);
      return { ms: performance.now() - began, bytes };
    };
  },
};

/** Answers each line with a run's outcome. */
async function serve(/** @type {string} */ name, /** @type {string} */ file) {
  const encode = await encoders[name](await readFile(file));
  for await (const line of createInterface({ input: process.stdin })) {
    if (line === 'encode') process.stdout.write(`${JSON.stringify(await encode())}\n`);
  }
}

function worker(/** @type {string} */ name, /** @type {string} */ rows) {
  const command = [process.execPath, '--expose-gc', fileURLToPath(import.meta.url), '--serve', name, '--rows', rows];
  const child = spawn('taskset', ['--cpu-list', '0', ...command], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    name,
    /** @returns {ReturnType<Encoder>} */
    run: async () => {
      child.stdin.write('encode\n');
      const { value, done } = await lines.next();
      if (done) throw new Error(`${name} ended`);
      return JSON.parse(value);
    },
    stop: () => void child.kill(),
  };
}

async function compare(/** @type {number} */ runs) {
  if (!existsSync(path.join(here, 'node_modules/.package-lock.json'))) await must('npm', ['ci', '--no-audit', '--no-fund'], { cwd: here });
  const rows = await rowsOf(await table('cow1'));
  const workers = Object.keys(encoders).map((name) => worker(name, rows));
  /** @type {Record<string, { ms: number, bytes: number }[]>} */
  const outcomes = Object.fromEntries(workers.map(({ name }) => [name, []]));
  try {
    for (let turn = 0; turn <= runs; turn += 1) for (const { name, run } of workers) outcomes[name].push(await run());
  } finally {
    for (const { stop } of workers) stop();
  }
  const times = Object.entries(outcomes).map(([who, [first, ...others]]) => {
    const ms = others.map((one) => one.ms);
    return { who, first: Math.round(first.ms), median: Math.round(median(ms)), best: Math.round(Math.min(...ms)), MB: +(first.bytes / 1e6).toFixed(2) };
  });
  console.log('milliseconds');
  console.table(times);
  const [mine, theirs] = times.map((one) => one.median);
  const ratio = mine / theirs;
  console.log(ratio > 1 ? `below the bar: ${ratio.toFixed(2)} of the time of parquet-wasm` : `the bar is met: ${ratio.toFixed(2)} of the time of parquet-wasm`);
  return ratio <= 1;
}

const { values } = parseArgs({
  options: { serve: { type: 'string' }, rows: { type: 'string', default: '' }, runs: { type: 'string', default: '9' }, 'no-build': { type: 'boolean', default: false } },
});
if (values.serve !== undefined) {
  await serve(values.serve, values.rows);
} else {
  try {
    if (!values['no-build']) {
      await setup();
      await build();
    }
    process.exitCode = (await compare(Number(values.runs))) ? 0 : 1;
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
