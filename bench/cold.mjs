// One reader's first answer in a process of its own: two columns of the table `small`, from its folder. Prints how many rows came, and what ours spent on the way, in a line.
//
// Nothing else is loaded: each gives what it gives by itself, so Arrow IPC of wasm, values of hyparquet, Arrow of DuckDB.

/** `columns` of a base file at `path`, or of the table in `folder`. @typedef {{ folder: string, path: string, columns: string[] }} Work */

/** Milliseconds of ours by what they went into, in order. @type {Record<string, number>} */
const spent = {};
let before = performance.now();
function spend(/** @type {string} */ on) {
  const now = performance.now();
  [spent[on], before] = [now - before, now];
}

/** How many rows the first answer has. @type {Record<string, (work: Work) => Promise<number>>} */
const readers = {
  // What the process itself takes.
  node: async () => 0,

  async 'hudi-wasm'({ folder, columns }) {
    // What the build makes is not checked.
    const entry = new URL('../dist/entry/node.js', import.meta.url).href;
    const { HudiTable, init } = await import(entry);
    spend('finding and loading JavaScript');
    await init();
    spend('reading, checking and instantiating wasm');
    const table = await HudiTable.open(folder);
    spend('opening the table');
    const { numRows } = await table.read({ projection: columns });
    spend('reading the columns');
    return numRows;
  },

  async 'parquet-wasm'({ path, columns }) {
    const { readFile } = await import('node:fs/promises');
    // @ts-ignore: packages of bench/package.json, which the benchmark installs.
    const { readParquet } = await import('parquet-wasm');
    const table = readParquet(await readFile(path), { columns });
    const rows = table.recordBatches().reduce((/** @type {number} */ all, /** @type {any} */ batch) => all + batch.numRows, 0);
    table.intoIPCStream();
    return rows;
  },

  async hyparquet({ path, columns }) {
    // @ts-ignore: as above
    const { asyncBufferFromFile, parquetRead } = await import('hyparquet');
    // @ts-ignore: as above
    const { compressors } = await import('hyparquet-compressors');
    const file = await asyncBufferFromFile(path);
    let rows = 0;
    const onChunk = (/** @type {any} */ { columnName, columnData }) => void (rows += columnName === columns[0] ? columnData.length : 0);
    await parquetRead({ file, columns, compressors, onChunk });
    return rows;
  },

  async 'duckdb-wasm'({ path, columns }) {
    const { duckdbInNode } = await import('./duckdb.mjs');
    const db = await duckdbInNode();
    return db.connect().query(`SELECT ${columns.join(', ')} FROM parquet_scan('${path}')`).numRows;
  },
};

const [name = '', folder = '', path = '', ...columns] = process.argv.slice(2);
const rows = await readers[name]({ folder, path, columns });
process.stdout.write(`${JSON.stringify({ rows, spent })}\n`);
