import { engineCache } from './cache/persistent.js';
import { invalid } from './errors.js';
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
  const { json, storage: given, cache, onRequest, onProgress, signal } = openOptions(options);
  const { uri: base, storage } = engineStore(uri, given);
  const kept = engineCache(cache, placeOf(base, given, cache));
  const event = sink(onRequest, onProgress);
  const host = await engine();
  const raw = await host.run(signal, (glue, cancel) => glue.Table.open(base, storage, kept, json, cancel, event));
  return { handle: new Handle(host, raw, onRequest), uri: base, storageOptions: shown(storage) };
}

/**
 * What tells a table from every other one, for a cache that outlives this visit: its URI without what is secret, and a bucket's server.
 *
 * @param {string} uri
 * @param {import('./index.d.ts').OpenOptions['storage']} storage
 * @param {import('./index.d.ts').CacheInit} cache
 */
function placeOf(uri, storage, { persistent = 'none' }) {
  const near = storage !== undefined && 'type' in storage && ['memory', 'file', 'directory'].includes(storage.type);
  if (persistent !== 'none' && (near || /^file:/.test(uri))) {
    throw invalid('cache.persistent is for tables on another machine', { hint: 'Leave it out here.' });
  }
  const endpoint = storage !== undefined && 'endpoint' in storage ? String(storage.endpoint ?? '') : '';
  return `${endpoint}|${uri.replace(/[?#].*$/, '').replace(/^([a-z]+:\/\/)[^/@]*@/i, '$1')}`;
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
