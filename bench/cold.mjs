// One reader's first answer in a process of its own: two columns of the table `small`, from its folder. Prints how many rows came, in a line.
//
// Nothing else is loaded: each gives what it gives by itself, so Arrow IPC of wasm, values of hyparquet, Arrow of DuckDB.
import { createRequire } from 'node:module';

/** `columns` of a base file at `path`, or of the table in `folder`. @typedef {{ folder: string, path: string, columns: string[] }} Work */

/** How many rows the first answer has. @type {Record<string, (work: Work) => Promise<number>>} */
const readers = {
  // What the process itself takes.
  node: async () => 0,

  async 'hudi-wasm'({ folder, columns }) {
    // @ts-ignore: the build makes it.
    const { HudiTable } = await import('../dist/entry/node.js');
    const table = await HudiTable.open(folder);
    return (await table.read({ projection: columns })).numRows;
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
    const load = createRequire(import.meta.url);
    const folder = '@duckdb/duckdb-wasm/dist';
    const duckdb = load(`${folder}/duckdb-node-blocking.cjs`);
    const mainModule = load.resolve(`${folder}/duckdb-eh.wasm`);
    const bundle = { mainModule };
    const db = await duckdb.createDuckDB({ mvp: bundle, eh: bundle }, new duckdb.VoidLogger(), duckdb.NODE_RUNTIME);
    await db.instantiate(() => {});
    return db.connect().query(`SELECT ${columns.join(', ')} FROM parquet_scan('${path}')`).numRows;
  },
};

const [name = '', folder = '', path = '', ...columns] = process.argv.slice(2);
process.stdout.write(`${await readers[name]({ folder, path, columns })}\n`);
