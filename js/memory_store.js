import { byPath, checkPath, checkSignal, folderOf, notFound, oneLevel, proven, refused, span } from './store_answers.js';

/** @typedef {import('./index.d.ts').ObjectStore} ObjectStore */

/**
 * A store in memory, filled with `files` whose paths are relative to the table.
 *
 * @param {Iterable<readonly [path: string, data: Uint8Array]>} [files]
 * @returns {ObjectStore}
 */
export function memoryStore(files = []) {
  /** @type {Map<string, { data: Uint8Array, etag: string, lastModified: Date }>} */
  const objects = new Map();
  let puts = 0;
  const keep = (/** @type {string} */ path, /** @type {Uint8Array} */ data) => {
    const etag = `"${(puts += 1)}"`;
    // A copy, so that what the caller does to its array later does not change an object.
    objects.set(checkPath(path), { data: data.slice(), etag, lastModified: new Date() });
    return { etag };
  };
  for (const [path, data] of files) keep(path, data);
  return proven({
    capabilities: { write: true, list: true, putIfAbsent: true, putIfMatch: true },
    async get(path, { range, signal } = {}) {
      checkSignal(signal);
      const object = objects.get(path);
      if (object === undefined) throw notFound(path);
      const { start, end } = span(path, object.data.length, range);
      return { data: object.data.slice(start, end), size: object.data.length, etag: object.etag };
    },
    async *list(prefix, { delimiter, startAfter = '', signal } = {}) {
      checkSignal(signal);
      const folder = folderOf(prefix);
      const all = [...objects].map(([path, { data, etag, lastModified }]) => ({ path, size: data.length, etag, lastModified }));
      const below = all
        .filter(({ path }) => path.startsWith(folder) && byPath({ path }, { path: startAfter }) > 0)
        .sort(byPath);
      yield* delimiter === undefined ? below : oneLevel(below, folder);
    },
    async put(path, data, { ifNoneMatch, ifMatch, signal } = {}) {
      checkSignal(signal);
      const held = objects.get(path);
      if (ifNoneMatch !== undefined && held !== undefined) throw refused(path);
      if (ifMatch !== undefined && held?.etag !== ifMatch) throw refused(path);
      return keep(path, data);
    },
    async upload(path) {
      /** @type {Uint8Array[]} */
      const parts = [];
      return {
        async write(part) {
          parts.push(part.slice());
        },
        async complete() {
          const data = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
          let at = 0;
          for (const part of parts.splice(0)) {
            data.set(part, at);
            at += part.length;
          }
          return keep(path, data);
        },
        async abort() {
          parts.length = 0;
        },
      };
    },
    async delete(paths, { signal } = {}) {
      checkSignal(signal);
      for (const path of paths) objects.delete(path);
    },
  });
}
