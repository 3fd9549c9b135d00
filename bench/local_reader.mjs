// hudi-wasm for the native benchmark: a work per line of JSON on stdin, an answer per line on stdout, as native/src/main.rs.
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { Table, tableFromIPC } from 'apache-arrow';
import { HudiTable } from '../js/entry/node.js';

async function run(/** @type {{ table: string, plan?: boolean, columns?: string[], filters?: any, start?: string, asOf?: string }} */ { table: folder, plan, columns, filters, start, asOf }) {
  /** @type {any} */ (globalThis).gc?.();
  const began = performance.now();
  let [asked, moved] = [0, 0];
  const table = await HudiTable.open(pathToFileURL(folder).href, { ...(plan && { onRequest: ({ bytes }) => void ([asked, moved] = [asked + 1, moved + bytes]) }) });
  if (plan) {
    const { length } = await table.getFileSlices({ filters });
    const ms = performance.now() - began;
    table.close();
    return { ms, rows: length, sum: 0, requests: asked, bytes: moved };
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
  const { requests, bytes, wasmBytes } = result.metrics;
  return { ms, rows: arrow.numRows, sum, requests, bytes, wasmMB: Math.round(wasmBytes / 1e6) };
}

for await (const line of createInterface({ input: process.stdin })) {
  const answer = await run(JSON.parse(line)).catch((error) => ({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }));
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
