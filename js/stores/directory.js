// A folder that the browser hands out: its own private file system, or one that somebody picked.
import { HudiError, invalid } from '../errors.js';
import { arriving, byPath, checkPath, checkSignal, folderOf, full, notFound, proven, refused, span } from '../store_answers.js';

/** @typedef {import('../index.d.ts').ObjectStore} ObjectStore @typedef {import('../index.d.ts').ObjectMeta} ObjectMeta */

/**
 * A store over a folder's handle. It has no put-if-absent of its own: looking and writing go under a lock that all tabs of the origin share, so in the
 * private file system nobody comes between; a picked folder can be written by other programs too, so it is for one writer. Handles of files are had anew each time: one that is held for long may
 * hold others up, and shows a file as it was.
 *
 * @param {FileSystemDirectoryHandle} top the table's own folder
 * @returns {ObjectStore}
 */
export function directoryStore(top) {
  if (typeof top?.getDirectoryHandle !== 'function') throw invalid('storage.handle is the handle of a folder');
  const write = 'createWritable' in fileMethods();
  const host = { moves: 'move' in fileMethods() };
  const at = (/** @type {string} */ path) => {
    const names = checkPath(path).split('/');
    return { name: names.pop() ?? '', names };
  };
  return proven({
    capabilities: { write, list: true, putIfAbsent: write, putIfMatch: false },
    async get(path, { range, signal } = {}) {
      checkSignal(signal);
      const { name, names } = at(path);
      const file = await answer(path, async () => {
        const folder = await below(top, names);
        return (await folder.getFileHandle(name)).getFile();
      });
      const { start, end } = span(path, file.size, range);
      const data = await answer(path, async () => new Uint8Array(await file.slice(start, end).arrayBuffer()));
      return { data, size: file.size, etag: etagOf(file) };
    },
    async *list(prefix, { delimiter, startAfter = '', signal } = {}) {
      const folder = folderOf(prefix);
      const found = await answer(folder, async () => {
        const names = folder === '' ? [] : checkPath(folder.slice(0, -1)).split('/');
        return scan(await below(top, names), folder, delimiter === undefined, signal);
      }).catch((error) => {
        if (HudiError.is(error, 'NOT_FOUND')) return [];
        throw error;
      });
      const key = (/** @type {ObjectMeta | { prefix: string }} */ one) => ({ path: 'prefix' in one ? one.prefix : one.path });
      found.sort((a, b) => byPath(key(a), key(b)));
      for (const one of found) if (byPath(key(one), { path: startAfter }) > 0) yield one;
    },
    async put(path, data, { ifNoneMatch, ifMatch, signal } = {}) {
      checkSignal(signal);
      if (ifMatch !== undefined) throw new HudiError('UNSUPPORTED', 'a folder has no put-if-match', { context: { path } });
      const { name, names } = at(path);
      return answer(path, async () => {
        const folder = await below(top, names, true);
        return alone(async () => {
          if (ifNoneMatch !== undefined && (await isThere(folder, name))) throw refused(path);
          const arrival = await arrive(folder, name, host);
          try {
            await arrival.write(data);
          } catch (error) {
            await arrival.abort().catch(() => {});
            throw error;
          }
          return arrival.complete();
        });
      });
    },
    async upload(path, { signal } = {}) {
      checkSignal(signal);
      const { name, names } = at(path);
      const arrival = await answer(path, async () => arrive(await below(top, names, true), name, host));
      return {
        write: (part) => answer(path, () => arrival.write(part)),
        complete: () => answer(path, arrival.complete),
        abort: () => answer(path, arrival.abort),
      };
    },
    async delete(paths, { signal } = {}) {
      checkSignal(signal);
      for (const path of paths) {
        const { name, names } = at(path);
        const gone = answer(path, async () => (await below(top, names)).removeEntry(name));
        await gone.catch((error) => {
          if (!HudiError.is(error, 'NOT_FOUND')) throw error;
        });
      }
    },
  });
}

async function below(/** @type {FileSystemDirectoryHandle} */ top, /** @type {string[]} */ names, create = false) {
  let folder = top;
  for (const name of names) folder = await folder.getDirectoryHandle(name, { create });
  return folder;
}

/**
 * Runs while no other tab of the origin does the same. A host without locks has no other tabs to tell of either.
 *
 * @template T
 * @param {() => Promise<T>} run
 * @returns {Promise<T>}
 */
function alone(run) {
  const locks = globalThis.navigator?.locks;
  return locks === undefined ? run() : /** @type {Promise<T>} */ (locks.request('hudi-wasm:directory', run));
}

async function isThere(/** @type {FileSystemDirectoryHandle} */ folder, /** @type {string} */ name) {
  try {
    await folder.getFileHandle(name);
    return true;
  } catch (error) {
    if (error instanceof Error && error.name === 'NotFoundError') return false;
    throw error;
  }
}

/**
 * A file on its way in: beside its place, and moved there whole. A folder that refuses to have its files moved, as picked ones of some browsers
 * do, gets the first file by a copy and later ones written in place: until its end an empty file is seen there.
 *
 * @param {FileSystemDirectoryHandle} folder
 * @param {string} name
 * @param {{ moves: boolean }} host what the store has found out
 */
async function arrive(folder, name, host) {
  const own = host.moves ? `${arriving}${crypto.randomUUID()}` : name;
  const handle = /** @type {any} */ (await folder.getFileHandle(own, { create: true }));
  const stream = await handle.createWritable();
  return {
    write: (/** @type {Uint8Array} */ part) => stream.write(part),
    async complete() {
      await stream.close();
      const placed = own === name || (await moved(folder, handle, name, host)) ? handle : await copied(folder, handle, name);
      return { etag: etagOf(await placed.getFile()) };
    },
    async abort() {
      await stream.abort().catch(() => {});
      await folder.removeEntry(own).catch(() => {});
    },
  };
}

/** Moves a file to its place; false where the folder is one whose files stay where they are. */
async function moved(/** @type {FileSystemDirectoryHandle} */ folder, /** @type {any} */ handle, /** @type {string} */ name, /** @type {{ moves: boolean }} */ host) {
  try {
    await handle.move(name);
    return true;
  } catch (error) {
    if (await isPrivate(folder)) throw error;
    host.moves = false;
    return false;
  }
}

/** Copies a file to its place, and removes it where it was. */
async function copied(/** @type {FileSystemDirectoryHandle} */ folder, /** @type {FileSystemFileHandle} */ handle, /** @type {string} */ name) {
  const whole = await handle.getFile();
  const there = await isThere(folder, name);
  const target = await folder.getFileHandle(name, { create: true });
  const stream = await target.createWritable();
  try {
    await stream.write(whole);
    await stream.close();
  } catch (error) {
    await stream.abort().catch(() => {});
    if (!there) await folder.removeEntry(name).catch(() => {});
    throw error;
  }
  await folder.removeEntry(handle.name).catch(() => {});
  return target;
}

/** What this host can do with a file. @returns {object} */
const fileMethods = () => /** @type {any} */ (globalThis).FileSystemFileHandle?.prototype ?? {};

/** Whether a folder lies in the private file system of the origin. */
export async function isPrivate(/** @type {FileSystemDirectoryHandle} */ folder) {
  const top = await globalThis.navigator?.storage?.getDirectory?.().catch(() => undefined);
  return top !== undefined && (await top.resolve(folder).catch(() => null)) !== null;
}

/**
 * Everything in a folder, or everything below it.
 *
 * @param {FileSystemDirectoryHandle} folder
 * @param {string} prefix
 * @param {boolean} deep
 * @param {AbortSignal | undefined} signal
 * @returns {Promise<(ObjectMeta | { prefix: string })[]>}
 */
async function scan(folder, prefix, deep, signal) {
  const parts = [];
  for await (const [name, handle] of /** @type {any} */ (folder).entries()) {
    checkSignal(signal);
    if (name.startsWith(arriving) || name.endsWith('.crswap')) continue;
    const path = `${prefix}${name}`;
    if (handle.kind === 'directory') parts.push(deep ? scan(handle, `${path}/`, true, signal) : [{ prefix: `${path}/` }]);
    else parts.push(handle.getFile().then((/** @type {File} */ file) => [{ path, size: file.size, etag: etagOf(file), lastModified: new Date(file.lastModified) }]));
  }
  return (await Promise.all(parts)).flat();
}

const etagOf = (/** @type {File} */ { size, lastModified }) => `"${size.toString(16)}-${lastModified.toString(16)}"`;

/**
 * Runs an operation and gives its error the code that it means to a caller.
 *
 * @template T
 * @param {string} path
 * @param {() => Promise<T>} run
 * @returns {Promise<T>}
 */
async function answer(path, run) {
  try {
    return await run();
  } catch (error) {
    const name = error instanceof Error ? error.name : '';
    if (HudiError.is(error) || name === 'AbortError') throw error;
    if (name === 'NotFoundError' || name === 'TypeMismatchError') throw notFound(path, error);
    const details = { context: { path }, cause: error };
    if (name === 'NotAllowedError' || name === 'SecurityError') {
      throw new HudiError('UNAUTHORIZED', 'the folder may not be read, or not written', { ...details, hint: 'Ask for the permission again: handle.requestPermission({ mode: "readwrite" }).' });
    }
    if (name === 'QuotaExceededError') throw full(path, error);
    // The file was replaced between its handle and its bytes.
    if (name === 'NotReadableError') throw new HudiError('PRECONDITION_FAILED', 'the file changed while it was read', details);
    throw new HudiError('UNAVAILABLE', `the file system failed: ${error instanceof Error ? error.message : error}`, details);
  }
}
