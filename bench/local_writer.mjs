// hudi-wasm for the native benchmark of writes: a work per line of JSON on stdin, an answer per line on stdout, as native/src/main.rs.
//
// The rows stand in JavaScript's memory as an Arrow IPC stream, so decoding them is part of what is timed.
import { mkdir, readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { HudiTable, createObjectStore } from '../js/entry/node.js';

/** @type {Uint8Array | undefined} */
let rows;

/** The folder's store, and what is asked of it: a part of an upload counts, and so does each end of one. */
function counted(/** @type {string} */ uri) {
  const store = createObjectStore(uri, { type: 'file' });
  const count = { requests: 0 };
  const counting = (/** @type {any} */ object) =>
    new Proxy(object, {
      get(target, name) {
        const value = target[name];
        if (typeof value !== 'function') return value;
        return (/** @type {unknown[]} */ ...given) => {
          count.requests += 1;
          const answer = value.apply(target, given);
          return name === 'upload' ? answer.then(counting) : answer;
        };
      },
    });
  return { storage: counting(store), count };
}

async function run(/** @type {{ rows: string, append: string, codec: 'gzip' | 'snappy' }} */ { rows: file, append: folder, codec }) {
  rows ??= await readFile(file);
  await mkdir(folder, { recursive: true });
  const uri = pathToFileURL(folder).href;
  const { storage, count } = counted(uri);
  // The peer keeps no statistics of partitions where there are none.
  const metadata = /** @type {const} */ (['files', 'column_stats', 'record_index']);
  const table = await HudiTable.create(uri, { tableName: 'appended', schema: rows, recordKeyFields: ['id'], metadata, storage });
  /** @type {any} */ (globalThis).gc?.();
  count.requests = 0;
  const began = performance.now();
  const result = await table.append(rows, { compression: codec });
  const ms = performance.now() - began;
  const { requests } = count;
  const { metrics } = await result.table.read({ projection: [] });
  result.table.close();
  table.close();
  return { ms, rows: result.inserted, sum: 0, requests, wasmMB: Math.round(metrics.wasmBytes / 1e6) };
}

for await (const line of createInterface({ input: process.stdin })) {
  const answer = await run(JSON.parse(line)).catch((error) => ({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }));
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
