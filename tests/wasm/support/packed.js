// Finds the packed package that scripts/pack.mjs installed.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
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

/**
 * Runs module text in a Node process of its own beside the installed package, and gives the JSON it prints.
 *
 * @param {string} source
 * @param {{ commonjs?: boolean, args?: readonly string[], node?: readonly string[], seconds?: number }} [how] `args` are its process.argv
 *   from 2 on, `node` are for Node itself
 * @returns {Promise<any>}
 */
export async function runBeside(source, { commonjs = false, args = [], node = [], seconds = 60 } = {}) {
  const name = path.join(await mkdtemp(path.join(packed, 'consumer-')), commonjs ? 'main.cjs' : 'main.mjs');
  await writeFile(name, source);
  const { stdout } = await promisify(execFile)(process.execPath, [...node, name, ...args], { timeout: seconds * 1000, maxBuffer: 64 << 20 });
  return JSON.parse(stdout);
}
