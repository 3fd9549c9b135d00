// A project of a user beside the installed package, and the table that every one of them reads.
import assert from 'node:assert/strict';
import { mkdtemp, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { tableFromIPC } from 'apache-arrow';
import { packed } from '../../../scripts/pack.mjs';
import { rows, sorted } from './canonical.js';
import { recorded } from './fixtures.js';

export const table = 'v9_cow_all_types';

/**
 * Writes the files of a project; the package is found above it.
 *
 * @param {string} name
 * @param {Record<string, string>} files
 */
export async function project(name, files) {
  const folder = await mkdtemp(path.join(packed, `${name}-`));
  for (const [file, text] of Object.entries({ 'package.json': '{ "private": true, "type": "module" }', ...files })) {
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
    await writeFile(path.join(folder, file), text);
  }
  return folder;
}

/** Holds the IPC bytes that a project read, in base64, against Spark's rows. */
export async function checkIpc(/** @type {string} */ base64) {
  const [first] = await recorded(table);
  assert.deepEqual(rows(tableFromIPC(new Uint8Array(Buffer.from(base64, 'base64')))), sorted(first?.rows ?? []));
}

/** Module text of a page: reads the table at `?table=` and posts its bytes to `/result`, or what went wrong. `open` gives the HudiTable class. */
export const pageSource = (/** @type {string} */ imports, /** @type {string} */ open = 'HudiTable') => `
${imports}
const url = new URLSearchParams(location.search).get('table');
const text = async () => {
  const table = await (${open}).open(url, { storage: { type: 'http', listing: { manifest: 'hudi-manifest.json' } } });
  const { ipc } = await table.read();
  let binary = '';
  for (const byte of ipc) binary += String.fromCharCode(byte);
  return btoa(binary);
};
text().catch((error) => 'ERROR ' + error + ' ' + error?.cause).then((body) => {
  document.title = 'done';
  globalThis.result = body;
  return fetch('/result', { method: 'POST', body });
}).catch(() => {});`;

/** Module text that prints the table at its first argument as base64. */
export const printSource = `
import { HudiTable } from 'hudi-wasm';
const table = await HudiTable.open(process.argv[2]);
console.log('IPC ' + Buffer.from((await table.read()).ipc).toString('base64'));`;

/** The base64 that printSource printed. */
export const printed = (/** @type {string} */ output) => /^IPC (\S+)$/m.exec(output)?.[1] ?? assert.fail(output);
