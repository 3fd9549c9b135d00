import { engineCache } from './cache/persistent.js';
import { invalid } from './errors.js';
import { Handle, sink } from './handle.js';
import { createOptions, openOptions, usualCache } from './options.js';
import { isPrivate } from './stores/directory.js';
import { engineStore } from './stores.js';
import { engine } from './wasm.js';

/**
 * Opens a table in the engine.
 *
 * @param {string | URL} uri
 * @param {import('./index.d.ts').OpenOptions} [options]
 * @returns {Promise<{ handle: Handle, uri: string, storageOptions: Readonly<Record<string, string>> }>}
 */
export function openHandle(uri, options = {}) {
  return handleOf(uri, openOptions(options), ({ base, storage, kept, json, cancel, event }, glue) => glue.Table.open(base, storage, kept, json, cancel, event));
}

/**
 * Makes a table in the engine.
 *
 * @param {string | URL} uri
 * @param {import('./index.d.ts').CreateOptions} options
 */
export function createHandle(uri, options) {
  const { schema, ...open } = createOptions(options);
  return handleOf(uri, open, ({ base, storage, kept, json, cancel, event }, glue) => glue.Table.create(base, storage, kept, schema, json, cancel, event));
}

/**
 * @param {string | URL} uri
 * @param {ReturnType<typeof openOptions>} options
 * @param {(asked: any, glue: import('./glue.d.ts').Glue) => Promise<import('./glue.d.ts').RawTable>} start
 */
async function handleOf(uri, { json, storage: given, cache, onRequest, onProgress, signal }, start) {
  const { uri: base, storage } = engineStore(uri, given);
  const place = placeOf(base, given, cache);
  const kept = engineCache(cache, place);
  const event = sink(onRequest, onProgress);
  const asked = JSON.parse(json);
  if (asked.cache.memory === undefined) Object.assign(asked.cache, usualCache(isAtHand(base, given)));
  const words = JSON.stringify({ canonicalUri: canonicalOf(base), ...asked, lock: lockOf(place, given), withinOrigin: await isWithinOrigin(given) });
  const host = await engine();
  const raw = await host.run(signal, (glue, cancel) => start({ base, storage, kept, json: words, cancel, event }, glue));
  return { handle: new Handle(host, raw, onRequest), uri: base, storageOptions: shown(storage) };
}

/** The name of a table among locks: the same in every handle and every tab. Two tables that share one wait for each other, no more. */
function lockOf(/** @type {string} */ place, /** @type {import('./index.d.ts').OpenOptions['storage']} */ storage) {
  return storage !== undefined && 'type' in storage && storage.type === 'directory' ? `directory ${storage.handle?.name}` : place;
}

/** Whether nothing but the tabs of this origin reaches a table's place: who holds its lock knows that a pending write has failed. */
async function isWithinOrigin(/** @type {import('./index.d.ts').OpenOptions['storage']} */ storage) {
  return storage !== undefined && 'type' in storage && storage.type === 'directory' && isPrivate(storage.handle);
}

/**
 * A table as Spark names it, for the absolute paths in plans of table services: a bucket of S3 by Hadoop's scheme, a local path without one. What Spark
 * does not reach has no such name.
 *
 * @param {string} uri
 */
export function canonicalOf(uri) {
  const [, scheme = '', rest = ''] = /^([a-z][a-z0-9+.-]*):(.*)$/i.exec(uri) ?? [];
  switch (scheme.toLowerCase()) {
    case 's3':
    case 's3a':
    case 's3n':
      return `s3a:${rest}`;
    case 'file':
      return decodeURIComponent(new URL(uri).pathname);
    case '':
    case 'http':
    case 'https':
    case 'memory':
    case 'directory':
    case 'r2':
      return undefined;
    default:
      return uri;
  }
}

/** Whether a table lies in this process's memory or in a folder of the system. */
function isAtHand(/** @type {string} */ uri, /** @type {import('./index.d.ts').OpenOptions['storage']} */ storage) {
  if (storage === undefined) return /^file:/.test(uri);
  return 'type' in storage && ['memory', 'file'].includes(storage.type);
}

/**
 * What tells a table from every other one, for a cache that outlives this visit: its URI without what is secret, and a bucket's server.
 *
 * @param {string} uri
 * @param {import('./index.d.ts').OpenOptions['storage']} storage
 * @param {import('./index.d.ts').CacheInit} cache
 */
function placeOf(uri, storage, { persistent = 'none' }) {
  const near = /^file:/.test(uri) || isAtHand(uri, storage) || (storage !== undefined && 'type' in storage && storage.type === 'directory');
  if (persistent !== 'none' && near) {
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
