// Who is measured, and how each one reads: the same code in Node (a process each) and in Chromium (a page each).
// Each gives the columns as an Arrow table in JavaScript, but hyparquet, which gives arrays of JavaScript values.
// @ts-ignore: packages of bench/package.json, which the benchmark installs.
import { Table, tableFromIPC } from 'apache-arrow';

/**
 * One read: `table` and `file` are URLs of the table and of its only base file, `path` is that file on the disk (Node).
 *
 * @typedef {{ table: string, file: string, path: string, columns?: string[] }} Work
 */

/** Milliseconds of the whole, and of the part after opening where the two are apart; then what was read, to be compared. @typedef {{ ms: number, readMs?: number, rows: number, columns: number, sum: number }} Outcome */

/** Reads, and leaves the checking of what came to be done after the clock stopped. @typedef {(work: Work) => Promise<{ readMs?: number, check: () => { rows: number, columns: number, sum: number } }>} Reader */

/** Where things are: `wasm` is ours, `duckdb` a folder. @typedef {{ wasm: string, duckdb: string }} Places */

const inNode = typeof process === 'object' && process.versions?.node !== undefined;

/** Whose numbers add up to what tells that the right rows came. */
const summed = 'price';

/** @type {Record<string, (places: Places) => Promise<Reader>>} */
const readers = {
  async 'hudi-wasm'({ wasm }) {
    const { HudiTable, init } = await import('../js/entry/slim.js');
    await init({ module: inNode ? await (await import('node:fs/promises')).readFile(wasm) : wasm });
    return async ({ table: uri, columns }) => {
      const table = await HudiTable.open(uri, { storage: { type: 'http', listing: { manifest: `${uri}/hudi-manifest.json` } } });
      const opened = performance.now();
      const result = await table.read({ projection: columns });
      const batches = [...result].flatMap((batch) => tableFromIPC(batch.ipc).batches);
      const arrow = new Table(batches);
      const readMs = performance.now() - opened;
      table.close();
      return { readMs, check: () => facts(arrow) };
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
    return async ({ file: url, columns }) => {
      const file = await asyncBufferFromUrl({ url });
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
    const from = (/** @type {Work} */ { file, path, columns = ['*'] }) => `SELECT ${columns.join(', ')} FROM parquet_scan('${inNode ? path : file}')`;
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
    const { readMs, check } = await read(work);
    const ms = performance.now() - start;
    return { ms, ...(readMs !== undefined && { readMs }), ...check() };
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
