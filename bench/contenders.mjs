// Who is measured, and how each one reads: the same code in Node (a process each) and in Chromium (a page each).
// Each gives the columns as an Arrow table in JavaScript, but hyparquet, which gives arrays of JavaScript values.
// @ts-ignore: packages of bench/package.json, which the benchmark installs.
import { Table, tableFromIPC } from 'apache-arrow';

/**
 * One read: `table` and `file` are URLs of the table and of its only base file, `path` is that file on the disk (Node), `near` the table
 * without delay. `keys` are the first and the last record key wanted.
 *
 * @typedef {{ table: string, near: string, file: string, path: string, columns?: string[], keys?: [string, string] }} Work
 */

/**
 * Milliseconds, and what was read, to be compared. Bytes where the reader itself counts them. `ms` leaves out what came before
 * the clock of the reader began.
 *
 * @typedef {{ ms: number, rows: number, columns: number, sum: number, bytes?: number }} Outcome
 */

/** Reads, and leaves the checking of what came to be done after the clock stopped. @typedef {(work: Work) => Promise<{ ms?: number, bytes?: number, check?: () => { rows: number, columns: number, sum: number } }>} Reader */

/** Where things are: `wasm` is ours, `duckdb` a folder. @typedef {{ wasm: string, duckdb: string }} Places */

const inNode = typeof process === 'object' && process.versions?.node !== undefined;

/** Whose numbers add up to what tells that the right rows came. */
const summed = 'price';

const filtersOf = (/** @type {Work['keys']} */ keys) => keys && /** @type {const} */ ([['id', '>=', keys[0]], ['id', '<=', keys[1]]]);

const throughManifest = (/** @type {string} */ table) => /** @type {const} */ ({ type: 'http', listing: { manifest: `${table}/hudi-manifest.json` } });

/** Our package, its wasm loaded. */
async function hudi(/** @type {Places} */ { wasm }) {
  const { HudiTable, init } = await import('../js/entry/slim.js');
  await init({ module: inNode ? await (await import('node:fs/promises')).readFile(wasm) : wasm });
  return HudiTable;
}

/** The rows as an Arrow table in JavaScript. */
async function arrowOf(/** @type {import('../js/index.d.ts').HudiTable} */ table, /** @type {Work} */ { columns, keys }) {
  const result = await table.read({ projection: columns, filters: filtersOf(keys) });
  const arrow = new Table([...result].flatMap((batch) => tableFromIPC(batch.ipc).batches));
  return { arrow, bytes: result.metrics.bytes };
}

/** The read of a handle that is open and knows its schema; nothing of the rows is there yet. */
async function readOpen(/** @type {import('../js/index.d.ts').HudiTable} */ table, /** @type {Work} */ work) {
  await table.getSchema();
  const began = performance.now();
  const { arrow, bytes } = await arrowOf(table, work);
  const ms = performance.now() - began;
  table.close();
  return { ms, bytes, check: () => facts(arrow) };
}

/** @type {Record<string, (places: Places) => Promise<Reader>>} */
const readers = {
  async 'hudi-wasm'(places) {
    const HudiTable = await hudi(places);
    return async (work) => {
      const table = await HudiTable.open(work.table, { storage: throughManifest(work.table) });
      const { arrow, bytes } = await arrowOf(table, work);
      table.close();
      return { bytes, check: () => facts(arrow) };
    };
  },

  async 'hudi-wasm, open'(places) {
    const HudiTable = await hudi(places);
    return async (work) => readOpen(await HudiTable.open(work.table, { storage: throughManifest(work.table) }), work);
  },

  // The same of memory: what decoding takes in the same wasm.
  async 'hudi-wasm, of memory'(places) {
    const HudiTable = await hudi(places);
    /** @type {[string, Uint8Array][] | undefined} */
    let files;
    return async (work) => {
      files ??= await filesOf(work.near);
      return readOpen(await HudiTable.open('memory:///bench', { storage: { type: 'memory', files } }), work);
    };
  },

  // The very ranges of our read at once, and nothing made of them: what the link takes.
  async 'plain fetch'(places) {
    const HudiTable = await hudi(places);
    /** @type {Map<string, { path: string, start?: number, end?: number }[]>} */
    const known = new Map();
    return async (work) => {
      const key = JSON.stringify([work.columns, work.keys]);
      const ranges = known.get(key) ?? (await rangesOf(HudiTable, work));
      known.set(key, ranges);
      const began = performance.now();
      const bodies = ranges.map(async ({ path, start, end }) => {
        const headers = start === undefined ? undefined : { range: `bytes=${start}-${(end ?? start) - 1}` };
        return (await (await fetch(`${work.near}/${path}`, { headers })).arrayBuffer()).byteLength;
      });
      const bytes = (await Promise.all(bodies)).reduce((all, one) => all + one, 0);
      return { ms: performance.now() - began, bytes };
    };
  },

  async 'parquet-wasm'() {
    // @ts-ignore: as above
    const parquet = /** @type {any} */ (await import('parquet-wasm'));
    if (!inNode) await parquet.default('/parquet_wasm_bg.wasm');
    return async ({ file: url, columns }) => {
      const file = await parquet.ParquetFile.fromUrl(url);
      // Its default of 1,024 rows a batch is slower.
      const table = await file.read({ columns, batchSize: 65536 });
      const arrow = tableFromIPC(table.intoIPCStream());
      file.free();
      return { check: () => facts(arrow) };
    };
  },

  async hyparquet() {
    // @ts-ignore: as above
    const { asyncBufferFromUrl, parquetRead } = await import('hyparquet');
    // @ts-ignore: as above
    const { compressors } = await import('hyparquet-compressors');
    return async ({ file: url, columns, keys }) => {
      const file = await asyncBufferFromUrl({ url });
      if (keys !== undefined) {
        /** @type {any[]} */
        let rows = [];
        const filter = { id: { $gte: keys[0], $lte: keys[1] } };
        const onComplete = (/** @type {any[]} */ found) => void (rows = found);
        await parquetRead({ file, columns, compressors, rowFormat: 'object', filter, usePageIndex: true, useOffsetIndex: true, onComplete });
        return { check: () => ({ rows: rows.length, columns: Object.keys(rows[0] ?? {}).length, sum: total(rows.map((row) => row[summed])) }) };
      }
      /** @type {Map<string, ArrayLike<any>[]>} */
      const read = new Map();
      const onChunk = (/** @type {any} */ { columnName, columnData }) => read.set(columnName, [...(read.get(columnName) ?? []), columnData]);
      await parquetRead({ file, columns, compressors, onChunk });
      const check = () => {
        const chunks = read.get(summed) ?? [];
        const rows = chunks.reduce((all, chunk) => all + chunk.length, 0);
        return { rows, columns: read.size, sum: chunks.reduce((all, chunk) => all + total(chunk), 0) };
      };
      return { check };
    };
  },

  async 'duckdb-wasm'({ duckdb: folder }) {
    const from = (/** @type {Work} */ { file, path, columns = ['*'], keys }) => {
      const where = keys === undefined ? '' : ` WHERE id BETWEEN '${keys[0]}' AND '${keys[1]}'`;
      return `SELECT ${columns.join(', ')} FROM parquet_scan('${inNode ? path : file}')${where}`;
    };
    if (inNode) {
      const { createRequire } = await import('node:module');
      const duckdb = createRequire(import.meta.url)('@duckdb/duckdb-wasm/dist/duckdb-node-blocking.cjs');
      const bundle = { mainModule: `${folder}/duckdb-eh.wasm` };
      const db = await duckdb.createDuckDB({ mvp: bundle, eh: bundle }, new duckdb.VoidLogger(), duckdb.NODE_RUNTIME);
      await db.instantiate(() => {});
      const connection = db.connect();
      return async (work) => {
        const arrow = connection.query(from(work));
        return { check: () => facts(arrow) };
      };
    }
    // @ts-ignore: as above
    const duckdb = await import('@duckdb/duckdb-wasm');
    const db = new duckdb.AsyncDuckDB(new duckdb.VoidLogger(), new Worker(`${folder}/duckdb-browser-eh.worker.js`));
    await db.instantiate(`${folder}/duckdb-eh.wasm`);
    const connection = await db.connect();
    return async (work) => {
      const arrow = await connection.query(from(work));
      return { check: () => facts(arrow) };
    };
  },
};

/** All files of the table that its manifest names. @returns {Promise<[string, Uint8Array][]>} */
async function filesOf(/** @type {string} */ table) {
  const { files } = await (await fetch(`${table}/hudi-manifest.json`)).json();
  const bodies = files.map(async (/** @type {{ path: string }} */ { path }) => [path, new Uint8Array(await (await fetch(`${table}/${path}`)).arrayBuffer())]);
  return Promise.all(bodies);
}

/** What a read of an open table asks the network for. */
async function rangesOf(/** @type {typeof import('../js/index.d.ts').HudiTable} */ HudiTable, /** @type {Work} */ work) {
  /** @type {import('../js/index.d.ts').RequestInfoEvent[]} */
  const asked = [];
  const onRequest = (/** @type {import('../js/index.d.ts').RequestInfoEvent} */ request) => void asked.push(request);
  const table = await HudiTable.open(work.near, { storage: throughManifest(work.near), onRequest });
  await table.getSchema();
  asked.length = 0;
  await arrowOf(table, work);
  table.close();
  // A listing by the manifest moves nothing.
  return asked.filter(({ source, path }) => source === 'network' && path !== '');
}

function facts(/** @type {any} */ arrow) {
  const column = arrow.getChild(summed);
  const sum = column.data.reduce((/** @type {number} */ all, /** @type {any} */ data) => all + total(data.values.subarray(0, data.length)), 0);
  return { rows: arrow.numRows, columns: arrow.schema.fields.length, sum };
}

function total(/** @type {ArrayLike<number>} */ values) {
  let sum = 0;
  for (let at = 0; at < values.length; at += 1) sum += values[at];
  return sum;
}

/**
 * Makes one of them ready; the answer runs it once by the clock.
 *
 * @param {string} name
 * @param {Places} places
 * @returns {Promise<(work: Work) => Promise<Outcome>>}
 */
export async function ready(name, places) {
  const read = await readers[name](places);
  return async (work) => {
    /** @type {any} */ (globalThis).gc?.();
    const start = performance.now();
    const { check, ms, ...counts } = await read(work);
    const elapsed = performance.now() - start;
    return { ms: ms ?? elapsed, ...counts, ...(check?.() ?? { rows: 0, columns: 0, sum: 0 }) };
  };
}

if (inNode && process.send !== undefined) {
  /** @type {Promise<(work: Work) => Promise<Outcome>> | undefined} */
  let one;
  process.on('message', async (/** @type {{ name: string, places: Places, work: Work }} */ { name, places, work }) => {
    try {
      one ??= ready(name, places);
      const run = await one;
      process.send?.({ outcome: await run(work) });
    } catch (error) {
      process.send?.({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
  });
} else if (!inNode) {
  /** @type {any} */ (globalThis).ready = ready;
}
