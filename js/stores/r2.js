// A bucket that a Worker is bound to, for reading: no signature, no URL, and a call for each request.
import { HudiError, invalid } from '../errors.js';
import { checkPath, checkSignal, folderOf, notFound } from '../store_answers.js';

/** @typedef {import('../index.d.ts').ObjectStore} ObjectStore */

/**
 * A store over a binding.
 *
 * @param {import('../index.d.ts').R2BucketLike} bucket
 * @param {string} prefix of the table's keys, with or without a slash at its end
 * @returns {ObjectStore}
 */
export function r2Store(bucket, prefix) {
  if (typeof bucket?.get !== 'function' || typeof bucket.list !== 'function') throw invalid('storage.bucket is an R2 bucket');
  const base = folderOf(prefix.replace(/^\/+|\/+$/g, ''));
  return {
    capabilities: { write: false, list: true, putIfAbsent: false, putIfMatch: false },
    async get(path, { range, signal } = {}) {
      checkSignal(signal);
      const key = `${base}${checkPath(path)}`;
      const part = range === undefined ? undefined : 'suffix' in range ? range : { offset: range.start, length: range.end - range.start };
      const object = await ask(path, () => bucket.get(key, part && { range: part }), () => empty(bucket, key));
      if (object === null) throw notFound(path);
      return { data: new Uint8Array(await ask(path, () => object.arrayBuffer())), size: object.size, etag: object.httpEtag };
    },
    async *list(prefix, { delimiter, startAfter, signal } = {}) {
      const folder = folderOf(prefix);
      /** @type {string | undefined} */
      let cursor;
      do {
        checkSignal(signal);
        const options = { prefix: `${base}${folder}`, ...(delimiter && { delimiter }), ...(cursor ? { cursor } : startAfter ? { startAfter: `${base}${startAfter}` } : {}) };
        const page = await ask(folder, () => bucket.list(options));
        for (const { key, size, httpEtag, uploaded } of page.objects) yield { path: key.slice(base.length), size, etag: httpEtag, lastModified: uploaded };
        for (const below of page.delimitedPrefixes ?? []) yield { prefix: below.slice(base.length) };
        if (page.truncated && (!page.cursor || page.cursor === cursor)) throw new HudiError('UNAVAILABLE', 'the bucket lists the same page again', { context: { path: folder } });
        cursor = page.truncated ? page.cursor : undefined;
      } while (cursor !== undefined);
    },
  };
}

/** An object without bytes has no range, and the binding refuses every one: it is read as what it is. */
async function empty(/** @type {import('../index.d.ts').R2BucketLike} */ bucket, /** @type {string} */ key) {
  const info = await bucket.head(key);
  return info?.size === 0 ? bucket.get(key) : undefined;
}

/**
 * Runs a call of the binding. What it throws has no status, but for the number of R2's own error in its message.
 *
 * @param {string} path
 * @param {() => Promise<any>} run
 * @param {() => Promise<any>} [outside] what to give in place of an object that has no such range
 */
async function ask(path, run, outside) {
  try {
    return await run();
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    const number = Number(/\((\d{5})\)/.exec(text)?.[1]);
    const details = { context: { path }, cause: error };
    if (number === 10039) {
      const instead = await outside?.();
      if (instead !== undefined) return instead;
      throw new HudiError('PRECONDITION_FAILED', 'the range begins behind the end of the object', { context: { path, status: '416' }, cause: error });
    }
    if (number === 10002 || number === 10004) throw new HudiError('UNAUTHORIZED', 'the binding may not read this bucket', details);
    if (number === 10058) throw new HudiError('THROTTLED', 'the bucket asks to slow down', details);
    throw new HudiError('UNAVAILABLE', `the bucket failed: ${text}`, details);
  }
}
