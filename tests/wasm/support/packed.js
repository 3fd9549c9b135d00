// Finds the packed package that scripts/pack.mjs installed.
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { packed } from '../../../scripts/pack.mjs';

/** The installed package's folder. */
export const folder = path.join(packed, 'node_modules', 'hudi-wasm');

/** A file of the installed package. */
export const file = (/** @type {string} */ name) => readFile(path.join(folder, name));

/**
 * Runs module text as a user's file beside the installed package, and gives its exports.
 *
 * @param {string} source
 */
export async function importBeside(source) {
  const name = path.join(await mkdtemp(path.join(packed, 'consumer-')), 'main.js');
  await writeFile(name, source);
  return import(pathToFileURL(name).href);
}
