// What the stores of this package share: slices of a range, levels of a listing, a missing object.
import { HudiError, invalid } from './errors.js';

/** @typedef {import('./index.d.ts').ObjectMeta} ObjectMeta */

/**
 * The bytes that a range names in an object of `size` bytes; a range is cut at the object's end.
 *
 * @param {string} path
 * @param {number} size
 * @param {{ start: number, end: number } | { suffix: number } | undefined} range
 * @returns {{ start: number, end: number }}
 */
export function span(path, size, range) {
  if (range === undefined) return { start: 0, end: size };
  if ('suffix' in range) return { start: Math.max(0, size - range.suffix), end: size };
  if (range.start < size || (range.start === 0 && size === 0)) return { start: range.start, end: Math.min(range.end, size) };
  throw new HudiError('PRECONDITION_FAILED', 'the range begins behind the end of the object', { context: { path, status: '416' } });
}

/**
 * One level of a sorted listing: files directly below the prefix, and each folder once.
 *
 * @param {Iterable<ObjectMeta>} files
 * @param {string} prefix empty, or with a slash at its end
 * @returns {Iterable<ObjectMeta | { prefix: string }>}
 */
export function* oneLevel(files, prefix) {
  let last = '';
  for (const file of files) {
    const slash = file.path.indexOf('/', prefix.length);
    if (slash < 0) {
      yield file;
      continue;
    }
    const folder = file.path.slice(0, slash + 1);
    if (folder !== last) yield { prefix: folder };
    last = folder;
  }
}

/** A prefix as a folder: empty, or with one slash at its end. */
export const folderOf = (/** @type {string} */ prefix) => (prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`);

/** Paths by the bytes of their UTF-8, as object stores list them: the order of code points, not of UTF-16 units. */
export function byPath(/** @type {{ path: string }} */ { path: left }, /** @type {{ path: string }} */ { path: right }) {
  let i = 0;
  while (i < left.length && left[i] === right[i]) i += 1;
  return (left.codePointAt(i) ?? -1) - (right.codePointAt(i) ?? -1);
}

export const notFound = (/** @type {string} */ path, /** @type {unknown} */ cause = undefined) =>
  new HudiError('NOT_FOUND', 'no such object', { context: { path, status: '404' }, cause });

export const refused = (/** @type {string} */ path) =>
  new HudiError('PRECONDITION_FAILED', 'the object is not in the state that the put asked for', { context: { path, status: '412' } });

/**
 * A store of this package: that it keeps to ifNoneMatch needs no proof. Whoever wraps it answers for the wrapping, so a copy of it says nothing.
 *
 * What else the engine may ask, in place of the function that it is kept with, so that whoever puts another one there is asked alone:
 * - `listed` gives what `list` does at once, in any order: a step of an iterator for each of thousands of files takes longer than to find them.
 * - `lent` answers as `get`, by bytes that are the store's own and are written over once `release` was called.
 *
 * @template {import('./index.d.ts').ObjectStore} T
 * @param {T} store
 * @param {{
 *   listed?: (...given: Parameters<T['list']>) => Promise<(ObjectMeta | { prefix: string })[]>,
 *   lent?: (...given: Parameters<T['get']>) => Promise<{ data: Uint8Array, size: number, etag: string, release: () => void }>,
 * }} [more]
 */
export function proven(store, { listed, lent } = {}) {
  if (listed !== undefined) Object.defineProperty(store.list, Symbol.for('hudi-wasm.listed'), { value: listed });
  if (lent !== undefined) Object.defineProperty(store.get, Symbol.for('hudi-wasm.lent'), { value: lent });
  return Object.defineProperty(store, Symbol.for('hudi-wasm.proven'), { value: true });
}

/** Begins the name of a file on its way in; a listing does not show it. */
export const arriving = '.hudi-wasm-';

export const full = (/** @type {string} */ path, /** @type {unknown} */ cause) =>
  new HudiError('LIMIT_EXCEEDED', 'there is no room left', { context: { path }, cause });

/** A path below the table, and nowhere else. */
export function checkPath(/** @type {string} */ path) {
  const bad = path === '' || path.startsWith('/') || path.split('/').some((part) => part === '' || part === '.' || part === '..');
  if (bad) throw invalid('not a path below the table', { context: { path } });
  return path;
}

/** Throws the signal's reason as a fetch would. */
export function checkSignal(/** @type {AbortSignal | undefined} */ signal) {
  signal?.throwIfAborted();
}
