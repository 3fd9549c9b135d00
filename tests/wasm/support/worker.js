// The installed package as the modules of a Worker, so that no bundler stands between.
import { readFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import { folder } from './packed.js';

/**
 * @param {string} main the Worker's own module; it finds the package below `./hudi-wasm/`
 * @param {Record<string, string>} [beside] further modules by name
 */
export async function workerModules(main, beside = {}) {
  const own = Object.entries({ 'main.js': main, ...beside }).map(([name, contents]) => ({ type: /** @type {const} */ ('ESModule'), path: name, contents }));
  const names = (await readdir(folder, { recursive: true })).map((name) => name.split(path.sep).join('/'));
  // Node's modules are not there, and the Worker entry does not reach them.
  const code = names.filter((name) => name.endsWith('.js') && !/file_store|entry\/(node|default)/.test(name));
  const modules = code.map(async (name) => ({
    type: /** @type {const} */ ('ESModule'),
    path: `hudi-wasm/${name}`,
    contents: await readFile(path.join(folder, name), 'utf8'),
  }));
  const wasm = { type: /** @type {const} */ ('CompiledWasm'), path: 'hudi-wasm/dist/core_bg.wasm', contents: await readFile(path.join(folder, 'dist/core_bg.wasm')) };
  return [...own, ...(await Promise.all(modules)), wasm];
}
