// Local folders, for Node, Deno and Bun; only the entry for those imports it.
import { closeSync, constants, fstatSync, openSync, read as readLater, readdirSync, readSync, statSync } from 'node:fs';
import { link, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
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
  /** @type {(...given: Parameters<ObjectStore['list']>) => ReturnType<typeof all>} */
  const listed = (prefix, { delimiter, startAfter = '', signal } = {}) => all(top, folderOf(prefix), delimiter, startAfter, signal);
  const reads = prompter(readTurnMs);
  /** @type {(...given: Parameters<ObjectStore['get']>) => ReturnType<typeof read>} */
  const lent = (name, { range, signal } = {}) => answer(name, signal, () => read(at(name), name, range, reads, loan));
  /** @type {ObjectStore} */
  const store = {
    capabilities: { write: true, list: true, putIfAbsent: true, putIfMatch: false },
    async get(name, { range, signal } = {}) {
      const { data, size, etag } = await answer(name, signal, () => read(at(name), name, range, reads, given));
      return { data, size, etag };
    },
    list: (prefix, options) => inOrder(listed(prefix, options)),
    put(name, data, { ifNoneMatch, ifMatch, signal } = {}) {
      if (ifMatch !== undefined) throw new HudiError('READ_ONLY_STORAGE', 'a folder has no put-if-match', { context: { path: name } });
      return answer(name, signal, () => put(at(name), name, data, ifNoneMatch !== undefined));
    },
    upload: (name, { signal } = {}) => answer(name, signal, () => upload(at(name), name)),
    async delete(names, { signal } = {}) {
      for (const name of names) await answer(name, signal, () => rm(at(name), { force: true }));
    },
  };
  return proven(store, { listed, lent });
}

/** Without waiting for whoever writes into a pipe, which is no file. */
const readOnly = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** Bytes that are read at once; a prompt disk has them sooner than another thread takes the question. */
const step = 1 << 20;

/** What `step` bytes count for among small questions. */
const stepAsked = 4;

/**
 * The bytes of a range, by reads at positions; the size and the ETag are those of the file that was opened.
 *
 * @param {string} file
 * @param {string} name
 * @param {{ start: number, end: number } | { suffix: number } | undefined} range
 * @param {ReturnType<typeof prompter>} reads
 * @param {(length: number) => Memory} memory
 */
async function read(file, name, range, reads, memory) {
  // To open and to close takes microseconds, where a turn of Node's threads takes ten times as many.
  const handle = openSync(file, readOnly);
  try {
    const info = fstatSync(handle, { bigint: true });
    if (!info.isFile()) throw notFound(name);
    const size = Number(info.size);
    const { start, end } = span(name, size, range);
    const { data, release } = memory(end - start);
    for (let done = 0; done < data.length; ) {
      await reads.pause();
      const length = Math.min(step, data.length - done);
      const place = start + done;
      const bytes = reads.ask(
        { now: () => readSync(handle, data, done, length, place), later: () => bytesAt(handle, data, done, place) },
        Math.ceil((stepAsked * length) / step),
      );
      const bytesRead = typeof bytes === 'number' ? bytes : await bytes;
      if (bytesRead === 0) throw new HudiError('PRECONDITION_FAILED', 'the file became shorter while it was read', { context: { path: name } });
      done += bytesRead;
    }
    return { data, size, etag: etagOf(info), release };
  } finally {
    closeSync(handle);
  }
}

/** How many bytes at a place of a file came into the rest of `data`. */
function bytesAt(/** @type {number} */ handle, /** @type {Uint8Array} */ data, /** @type {number} */ done, /** @type {number} */ place) {
  return /** @type {Promise<number>} */ (
    new Promise((resolve, reject) => {
      readLater(handle, data, done, data.length - done, place, (error, count) => (error ? reject(error) : resolve(count)));
    })
  );
}

/** @typedef {{ data: Uint8Array, release: () => void }} Memory */

/** Memory that is whose it is read for. @returns {Memory} */
const given = (/** @type {number} */ length) => ({ data: new Uint8Array(length), release() {} });

/** Smaller ranges are not worth a loan. */
const leastLent = 64 << 10;

/** Bytes that are kept to be lent again, at most, by all stores together. */
const mostKept = 16 << 20;

/** Memory that was given back. @type {ArrayBuffer[]} */
const kept = [];

/**
 * Memory for what is read and copied on at once: new memory would be cleared first, and collected afterwards. Who does not give it back keeps it.
 *
 * @param {number} length
 * @returns {Memory}
 */
function loan(length) {
  const place = length < leastLent ? -1 : kept.findIndex((buffer) => buffer.byteLength >= length);
  const buffer = place < 0 ? new ArrayBuffer(length) : kept.splice(place, 1)[0];
  const release = () => {
    const held = kept.reduce((sum, { byteLength }) => sum + byteLength, buffer.byteLength);
    if (buffer.byteLength >= leastLent && held <= mostKept) kept.push(buffer);
  };
  return { data: new Uint8Array(buffer, 0, length), release };
}

/**
 * A new file beside the target, which is moved in whole or removed.
 *
 * @param {string} file
 */
async function beside(file) {
  await mkdir(path.dirname(file), { recursive: true });
  const name = path.join(path.dirname(file), `${arriving}${crypto.randomUUID()}`);
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

/** @typedef {ObjectMeta | { prefix: string }} Entry */

const key = (/** @type {Entry} */ one) => ({ path: 'prefix' in one ? one.prefix : one.path });

async function* inOrder(/** @type {Promise<Entry[]>} */ listed) {
  const found = await listed;
  yield* found.sort((a, b) => byPath(key(a), key(b)));
}

/** A file system is quick while its answers took no longer than the first of these milliseconds and the second for each: those of other machines do. */
const [headStartMs, answerMs] = [20, 0.2];

/** So long others may wait for their turn, while folders are read and while files are. */
const [turnMs, readTurnMs] = [10, 40];

/** @template T @typedef {{ now: () => T, later: () => Promise<T> }} Ask */

/** Of more questions than these only half is remembered: a file system may become slow, and quick again. */
const remembered = 200;

/**
 * Asks a file system for small facts and short pieces. Handing a question to another thread takes many times as long as a disk at hand takes to
 * answer it, so it is asked on the spot as long as it is quick.
 */
function prompter(/** @type {number} */ most) {
  let [asked, spent] = [0, 0];
  let turn = performance.now();
  const isQuick = () => spent <= headStartMs + answerMs * asked;
  return {
    isQuick,
    /** @template T @param {Ask<T>} ask @param {number} [questions] as how many small ones it counts @returns {T | Promise<T>} */
    ask(ask, questions = 1) {
      const quick = isQuick();
      asked += questions;
      if (asked > remembered) [asked, spent] = [asked / 2, spent / 2];
      if (!quick) return ask.later();
      const began = performance.now();
      try {
        return ask.now();
      } finally {
        spent += performance.now() - began;
      }
    },
    /** Lets others have their turn, when they have waited for it. */
    async pause() {
      if (performance.now() - turn < most) return;
      await setImmediate();
      turn = performance.now();
    },
  };
}

/** What a question gives, or undefined when what it is about is gone. @template T @param {() => T | Promise<T>} ask */
async function unlessGone(ask) {
  try {
    return await ask();
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

/**
 * Everything in a folder, or everything below it, in any order; a folder that is not there holds nothing.
 *
 * @param {string} top
 * @param {string} folder empty, or with a slash at its end
 * @param {'/' | undefined} delimiter
 * @param {string} startAfter
 * @param {AbortSignal | undefined} signal
 * @returns {Promise<Entry[]>}
 */
async function all(top, folder, delimiter, startAfter, signal) {
  if (folder !== '') checkPath(folder.slice(0, -1));
  /** @type {Search} */
  const search = { top, deep: delimiter === undefined, startAfter, signal, found: [], prompter: prompter(turnMs) };
  await answer(folder, signal, () => scan(search, folder));
  return search.found;
}

/** @typedef {{ top: string, deep: boolean, startAfter: string, signal: AbortSignal | undefined, found: Entry[], prompter: ReturnType<typeof prompter> }} Search */

/**
 * @param {Search} search
 * @param {string} folder
 * @returns {Promise<void>}
 */
async function scan(search, folder) {
  const { top, deep, startAfter, found, prompter } = search;
  await prompter.pause();
  checkSignal(search.signal);
  const place = path.join(top, folder);
  const options = /** @type {const} */ ({ withFileTypes: true });
  const entries = await unlessGone(() => prompter.ask({ now: () => readdirSync(place, options), later: () => readdir(place, options) }));
  const isBehind = (/** @type {string} */ name) => startAfter === '' || byPath({ path: name }, { path: startAfter }) > 0;
  /** @type {string[]} */
  const folders = [];
  const add = (/** @type {string} */ name, /** @type {import('node:fs').BigIntStats | undefined} */ info) => {
    if (info?.isDirectory()) folders.push(`${name}/`);
    else if (info?.isFile() && isBehind(name)) found.push({ path: name, size: Number(info.size), etag: etagOf(info), lastModified: info.mtime });
  };
  /** @type {Promise<void>[]} */
  const pending = [];
  for (const entry of entries ?? []) {
    const name = `${folder}${entry.name}`;
    if (entry.name.startsWith(arriving)) continue;
    // A link counts as what it leads to.
    if (entry.isDirectory()) {
      folders.push(`${name}/`);
    } else if (isBehind(name) || entry.isSymbolicLink()) {
      const file = path.join(top, name);
      const facts = unlessGone(() => prompter.ask({ now: () => statSync(file, { bigint: true }), later: () => stat(file, { bigint: true }) }));
      const added = facts.then((info) => add(name, info));
      if (prompter.isQuick()) await added;
      else pending.push(added);
      if (prompter.isQuick()) await prompter.pause();
    }
  }
  await Promise.all(pending);
  const wanted = folders.filter((below) => isBehind(below) || (deep && startAfter.startsWith(below)));
  if (!deep) for (const below of wanted) found.push({ prefix: below });
  else if (prompter.isQuick()) for (const below of wanted) await scan(search, below);
  else await Promise.all(wanted.map((below) => scan(search, below)));
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
