// hudi-wasm for the native benchmark: a work per line of JSON on stdin, an answer per line on stdout, as native/src/main.rs.
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { Table, tableFromIPC } from 'apache-arrow';
import { HudiTable } from '../js/entry/node.js';

/** Bytes that the last work left to be collected. */
let left = 0;

async function run(/** @type {{ table: string, plan?: boolean, columns?: string[], filters?: any, start?: string, asOf?: string }} */ { table: folder, plan, columns, filters, start, asOf }) {
  // A full collection also throws compiled code away, which a short read then waits for: it is for what large results leave.
  if (left > 16e6) /** @type {any} */ (globalThis).gc?.();
  left = 0;
  const began = performance.now();
  const table = await HudiTable.open(pathToFileURL(folder).href);
  if (plan) {
    // What `explain()` and `getFileSlices()` do besides, row counts and footers, is no part of planning.
    const { metrics } = await table.read({ filters, limit: 0 });
    const ms = performance.now() - began;
    table.close();
    const { filesTotal, filesPruned, requests, bytes } = metrics;
    return { ms, rows: filesTotal - filesPruned, sum: 0, requests, bytes };
  }
  const query = start === undefined ? { asOf } : { queryType: /** @type {const} */ ('incremental'), start };
  const result = await table.read({ projection: columns, filters, ...query });
  const batches = [...result].flatMap((batch) => tableFromIPC(batch.ipc).batches);
  const ms = performance.now() - began;
  table.close();
  const arrow = new Table(batches);
  const price = arrow.getChild('price');
  let sum = 0;
  for (const value of price ?? []) sum += value;
  for (const { ipc } of result) left += ipc.byteLength;
  const { requests, bytes, wasmBytes } = result.metrics;
  return { ms, rows: arrow.numRows, sum, requests, bytes, wasmMB: Math.round(wasmBytes / 1e6) };
}

for await (const line of createInterface({ input: process.stdin })) {
  const answer = await run(JSON.parse(line)).catch((error) => ({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }));
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
