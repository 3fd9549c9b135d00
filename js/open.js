import { Handle, sink } from './handle.js';
import { openOptions } from './options.js';
import { engineStore } from './stores.js';
import { engine } from './wasm.js';

/**
 * Opens a table in the engine.
 *
 * @param {string | URL} uri
 * @param {import('./index.d.ts').OpenOptions} [options]
 * @returns {Promise<{ handle: Handle, uri: string, storageOptions: Readonly<Record<string, string>> }>}
 */
export async function openHandle(uri, options = {}) {
  const { json, storage: given, onRequest, onProgress, signal } = openOptions(options);
  const { uri: base, storage } = engineStore(uri, given);
  const event = sink(onRequest, onProgress);
  const host = await engine();
  const raw = await host.run(signal, (glue, cancel) => glue.Table.open(base, storage, json, cancel, event));
  return { handle: new Handle(host, raw, onRequest), uri: base, storageOptions: shown(storage) };
}

/** What a store was opened with, fit to be shown. */
export function shown(/** @type {object} */ storage) {
  const init = 'get' in storage ? { type: 'custom' } : storage;
  const secret = ['credentials', 'headers', 'fetch', 'sign'];
  const entries = Object.entries(init).map(([key, value]) => {
    const plain = typeof value === 'string' || typeof value === 'boolean' || value instanceof URL;
    return [key, secret.includes(key) || !plain ? '***' : String(value)];
  });
  return Object.freeze(Object.fromEntries(entries));
}
