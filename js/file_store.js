// Local folders, for Node, Deno and Bun; only the entry for those imports it.
import { randomUUID } from 'node:crypto';
import { link, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { HudiError } from './errors.js';
import { arriving, byPath, checkPath, checkSignal, folderOf, full, notFound, proven, refused, span } from './store_answers.js';

/**
 * @typedef {import('./index.d.ts').ObjectStore} ObjectStore
 * @typedef {import('./index.d.ts').ObjectMeta} ObjectMeta
 */

/** A path, or a `file:` URL, as a URL. */
export const fileUrl = (/** @type {string} */ uri) => (uri.startsWith('file:') ? uri : pathToFileURL(uri).href);

/**
 * A store over a folder.
 *
 * @param {string} uri a `file:` URL or a path
 * @returns {ObjectStore}
 */
export function fileStore(uri) {
  const top = uri.startsWith('file:') ? fileURLToPath(uri) : path.resolve(uri);
  const at = (/** @type {string} */ name) => path.join(top, ...checkPath(name).split('/'));
  return proven({
    capabilities: { write: true, list: true, putIfAbsent: true, putIfMatch: false },
    get: (name, { range, signal } = {}) => answer(name, signal, () => read(at(name), name, range)),
    list: (prefix, { delimiter, startAfter = '', signal } = {}) => list(top, folderOf(prefix), delimiter, startAfter, signal),
    put(name, data, { ifNoneMatch, ifMatch, signal } = {}) {
      if (ifMatch !== undefined) throw new HudiError('READ_ONLY_STORAGE', 'a folder has no put-if-match', { context: { path: name } });
      return answer(name, signal, () => put(at(name), name, data, ifNoneMatch !== undefined));
    },
    upload: (name, { signal } = {}) => answer(name, signal, () => upload(at(name), name)),
    async delete(names, { signal } = {}) {
      for (const name of names) await answer(name, signal, () => rm(at(name), { force: true }));
    },
  });
}

/**
 * The bytes of a range, by reads at positions; the size and the ETag are those of the file that was opened.
 *
 * @param {string} file
 * @param {string} name
 * @param {{ start: number, end: number } | { suffix: number } | undefined} range
 */
async function read(file, name, range) {
  const handle = await open(file);
  try {
    const info = await handle.stat({ bigint: true });
    if (!info.isFile()) throw notFound(name);
    const size = Number(info.size);
    const { start, end } = span(name, size, range);
    const data = new Uint8Array(end - start);
    for (let done = 0; done < data.length; ) {
      const { bytesRead } = await handle.read(data, done, data.length - done, start + done);
      if (bytesRead === 0) throw new HudiError('PRECONDITION_FAILED', 'the file became shorter while it was read', { context: { path: name } });
      done += bytesRead;
    }
    return { data, size, etag: etagOf(info) };
  } finally {
    await handle.close();
  }
}

/**
 * A new file beside the target, which is moved in whole or removed.
 *
 * @param {string} file
 */
async function beside(file) {
  await mkdir(path.dirname(file), { recursive: true });
  const name = path.join(path.dirname(file), `${arriving}${randomUUID()}`);
  const handle = await open(name, 'wx');
  const close = async () => {
    await handle.sync();
    await handle.close();
  };
  const discard = async () => {
    await handle.close().catch(() => {});
    await rm(name, { force: true });
  };
  return { name, handle, close, discard };
}

/**
 * A link fails where the target exists, which a rename does not.
 *
 * @param {string} file
 * @param {string} name
 * @param {Uint8Array} data
 * @param {boolean} ifAbsent
 */
async function put(file, name, data, ifAbsent) {
  const arrival = await beside(file);
  try {
    await arrival.handle.writeFile(data);
    await arrival.close();
    if (ifAbsent) await link(arrival.name, file);
    else await rename(arrival.name, file);
    return { etag: etagOf(await stat(file, { bigint: true })) };
  } catch (error) {
    throw codeOf(error) === 'EEXIST' ? refused(name) : error;
  } finally {
    await arrival.discard();
  }
}

/**
 * @param {string} file
 * @param {string} name
 */
async function upload(file, name) {
  const arrival = await beside(file);
  return {
    write: (/** @type {Uint8Array} */ part) => answer(name, undefined, () => arrival.handle.writeFile(part)),
    complete: () =>
      answer(name, undefined, async () => {
        await arrival.close();
        await rename(arrival.name, file);
        return { etag: etagOf(await stat(file, { bigint: true })) };
      }),
    abort: () => answer(name, undefined, arrival.discard),
  };
}

/**
 * @param {string} top
 * @param {string} folder empty, or with a slash at its end
 * @param {'/' | undefined} delimiter
 * @param {string} startAfter
 * @param {AbortSignal | undefined} signal
 * @returns {AsyncGenerator<ObjectMeta | { prefix: string }>}
 */
async function* list(top, folder, delimiter, startAfter, signal) {
  if (folder !== '') checkPath(folder.slice(0, -1));
  const found = await answer(folder, signal, () => scan(top, folder, delimiter === undefined, signal));
  const key = (/** @type {ObjectMeta | { prefix: string }} */ one) => ({ path: 'prefix' in one ? one.prefix : one.path });
  found.sort((a, b) => byPath(key(a), key(b)));
  for (const one of found) if (byPath(key(one), { path: startAfter }) > 0) yield one;
}

/**
 * Everything in a folder, or everything below it; a folder that is not there holds nothing.
 *
 * @param {string} top
 * @param {string} folder
 * @param {boolean} deep
 * @param {AbortSignal | undefined} signal
 * @returns {Promise<(ObjectMeta | { prefix: string })[]>}
 */
async function scan(top, folder, deep, signal) {
  checkSignal(signal);
  const entries = await readdir(path.join(top, folder), { withFileTypes: true }).catch((error) => {
    if (isGone(error)) return [];
    throw error;
  });
  const parts = await Promise.all(
    entries.map(async (entry) => {
      const name = `${folder}${entry.name}`;
      if (entry.name.startsWith(arriving)) return [];
      // stat, not the entry: a link counts as what it leads to.
      const info = await stat(path.join(top, name), { bigint: true }).catch((error) => {
        if (isGone(error)) return undefined;
        throw error;
      });
      if (info?.isDirectory()) return deep ? scan(top, `${name}/`, true, signal) : [{ prefix: `${name}/` }];
      if (!info?.isFile()) return [];
      return [{ path: name, size: Number(info.size), etag: etagOf(info), lastModified: info.mtime }];
    }),
  );
  return parts.flat();
}

const etagOf = (/** @type {import('node:fs').BigIntStats} */ { size, mtimeNs }) => `"${size.toString(16)}-${mtimeNs.toString(16)}"`;

const codeOf = (/** @type {unknown} */ error) => /** @type {NodeJS.ErrnoException} */ (error)?.code;

const isGone = (/** @type {unknown} */ error) => ['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? '');

/**
 * Runs a file operation and gives its error the code that it means to a caller.
 *
 * @template T
 * @param {string} name
 * @param {AbortSignal | undefined} signal
 * @param {() => Promise<T>} run
 * @returns {Promise<T>}
 */
async function answer(name, signal, run) {
  checkSignal(signal);
  try {
    return await run();
  } catch (error) {
    if (HudiError.is(error) || signal?.aborted) throw error;
    if (isGone(error)) throw notFound(name, error);
    const details = { context: { path: name }, cause: error };
    const code = codeOf(error);
    if (code === 'EACCES' || code === 'EPERM') throw new HudiError('UNAUTHORIZED', 'the file may not be opened', details);
    if (code === 'EROFS') throw new HudiError('READ_ONLY_STORAGE', 'the file system is read-only', details);
    if (code === 'ENAMETOOLONG') throw new HudiError('INVALID_ARGUMENT', 'the file system takes no name that long', details);
    if (code === 'ENOSPC' || code === 'EDQUOT') throw full(name, error);
    throw new HudiError('UNAVAILABLE', `the file system failed: ${error instanceof Error ? error.message : error}`, details);
  }
}
