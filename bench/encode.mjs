// Measures the encoding of a million rows to snappy Parquet in Node beside other writers: `npm run bench:encode`.
//
// All have the rows of `cow1` in JavaScript's memory and leave the file there. Ours, parquet-wasm and DuckDB take one Arrow IPC stream,
// hyparquet-writer arrays of values, which it is given ready-made. Ours is an append to a table in memory without keys, meta columns and
// metadata table, its commit included. DuckDB holds the rows in a table and copies them to a file in the temporary folder; taking them in is left
// out. They take turns, each in a process of its own that is pinned to one core. `--no-build` measures dist/ as it is, `--runs 9` takes more
// turns, `--with parquet-wasm,hyparquet-writer` names peers.
//
// Ends with code 1 where hudi-wasm takes more of a peer's time than its bar.
import { spawn } from 'node:child_process';
import { readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Type, tableFromIPC } from 'apache-arrow';
import { build } from '../scripts/build.mjs';
import { setup } from '../scripts/setup.mjs';
import { compare } from './judge.mjs';
import { installed, median, rowsOf, table } from './tables.mjs';

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
  async 'hyparquet-writer'(rows) {
    // @ts-ignore: as above
    const { parquetWriteBuffer } = await import('hyparquet-writer');
    const given = tableFromIPC(rows);
    const columnData = given.schema.fields.map((field) => columnOf(given, field));
    return async () => {
      /** @type {any} */ (globalThis).gc?.();
      const began = performance.now();
      const { byteLength: bytes } = parquetWriteBuffer({ columnData, codec: 'SNAPPY' });
      return { ms: performance.now() - began, bytes };
    };
  },
  async 'duckdb-wasm'(rows) {
    const { duckdbInNode } = await import('./duckdb.mjs');
    const db = await duckdbInNode();
    const connection = db.connect();
    connection.insertArrowFromIPCStream(rows, { name: 'given', create: true });
    const file = path.join(tmpdir(), `bench-${process.pid}.parquet`);
    return async () => {
      /** @type {any} */ (globalThis).gc?.();
      const began = performance.now();
      connection.query(`COPY given TO '${file}' (FORMAT PARQUET, CODEC 'SNAPPY')`);
      const ms = performance.now() - began;
      const { size: bytes } = await stat(file);
      await rm(file);
      return { ms, bytes };
    };
  },
};

/** Parts of a peer's time that may be taken. @type {Record<string, number>} */
const bars = { 'parquet-wasm': 1, 'hyparquet-writer': 0.2, 'duckdb-wasm': 0.4 };
const ours = 'hudi-wasm';

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

/** A column as hyparquet-writer takes it: decimals and times as the integers that they are kept in, which spares it their conversion. @returns {any} */
function columnOf(/** @type {import('apache-arrow').Table} */ table, /** @type {import('apache-arrow').Field} */ { name, typeId, nullable }) {
  const vector = table.getChild(name);
  if (vector === null) throw new Error(`no column ${name}`);
  if (typeId === Type.Utf8) return { name, type: 'STRING', data: [...vector], nullable };
  if (typeId === Type.Bool) return { name, type: 'BOOLEAN', data: [...vector], nullable };
  const values = vector.toArray();
  // Of a decimal of 18 digits the lower half of each.
  if (typeId === Type.Decimal) return { name, type: 'INT64', data: new BigInt64Array(values.buffer, values.byteOffset, values.byteLength / 8).filter((_, at) => at % 2 === 0), nullable };
  return { name, type: typeId === Type.Float ? 'DOUBLE' : values instanceof Int32Array ? 'INT32' : 'INT64', data: values, nullable };
}

async function measure(/** @type {number} */ runs, /** @type {string[]} */ names) {
  await installed();
  const rows = await rowsOf(await table('cow1'));
  const workers = names.map((name) => worker(name, rows));
  /** @type {Record<string, { ms: number, bytes: number }[]>} */
  const outcomes = Object.fromEntries(workers.map(({ name }) => [name, []]));
  try {
    for (let turn = 0; turn <= runs; turn += 1) for (const { name, run } of workers) outcomes[name].push(await run());
  } finally {
    for (const { stop } of workers) stop();
  }
  const medians = new Map(Object.entries(outcomes).map(([who, [, ...others]]) => [who, median(others.map(({ ms }) => ms))]));
  const peers = new Map([...medians].filter(([who]) => who !== ours));
  const { columns, missed } = compare(medians.get(ours) ?? NaN, peers, bars);
  const lines = Object.entries(outcomes).map(([who, [first, ...others]]) => {
    const [ms, best] = [medians.get(who) ?? NaN, Math.min(...others.map((one) => one.ms))];
    return { who, first: Math.round(first.ms), median: Math.round(ms), best: Math.round(best), MB: +(first.bytes / 1e6).toFixed(2), ...(who === ours && columns) };
  });
  console.log('milliseconds; ratios are of the peer named, with its bar');
  console.table(lines);
  for (const one of missed) console.log(`below the bar: ${one}`);
  if (missed.length === 0) console.log('the bars are met');
  return missed.length === 0;
}

const { values } = parseArgs({
  options: { serve: { type: 'string' }, with: { type: 'string', default: Object.keys(bars).join(',') }, rows: { type: 'string', default: '' }, runs: { type: 'string', default: '9' }, 'no-build': { type: 'boolean', default: false } },
});
if (values.serve !== undefined) {
  await serve(values.serve, values.rows);
} else {
  try {
    if (!values['no-build']) {
      await setup();
      await build();
    }
    process.exitCode = (await measure(Number(values.runs), [ours, ...values.with.split(',').filter((name) => name !== '')])) ? 0 : 1;
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
