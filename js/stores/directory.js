// A folder that the browser hands out: its own private file system, or one that somebody picked.
import { HudiError, invalid } from '../errors.js';
import { byPath, checkPath, checkSignal, folderOf, notFound, span } from '../store_answers.js';

/** @typedef {import('../index.d.ts').ObjectStore} ObjectStore @typedef {import('../index.d.ts').ObjectMeta} ObjectMeta */

/**
 * A store over a folder's handle, for reading. Handles of files are had anew each time: one that is held for long may
 * hold others up, and shows a file as it was.
 *
 * @param {FileSystemDirectoryHandle} top the table's own folder
 * @returns {ObjectStore}
 */
export function directoryStore(top) {
  if (typeof top?.getDirectoryHandle !== 'function') throw invalid('storage.handle is the handle of a folder');
  return {
    capabilities: { write: false, list: true, putIfAbsent: false, putIfMatch: false },
    async get(path, { range, signal } = {}) {
      checkSignal(signal);
      const names = checkPath(path).split('/');
      const name = names.pop() ?? '';
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
  };
}

async function below(/** @type {FileSystemDirectoryHandle} */ top, /** @type {string[]} */ names) {
  let folder = top;
  for (const name of names) folder = await folder.getDirectoryHandle(name);
  return folder;
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
      throw new HudiError('UNAUTHORIZED', 'the folder may not be read', { ...details, hint: 'Ask for the permission again: handle.requestPermission().' });
    }
    // The file was replaced between its handle and its bytes.
    if (name === 'NotReadableError') throw new HudiError('PRECONDITION_FAILED', 'the file changed while it was read', details);
    throw new HudiError('UNAVAILABLE', `the file system failed: ${error instanceof Error ? error.message : error}`, details);
  }
}
