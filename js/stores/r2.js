// A bucket that a Worker is bound to: no signature, no URL, and a call for each request.
import { HudiError, invalid } from '../errors.js';
import { checkPath, checkSignal, folderOf, notFound, proven, refused } from '../store_answers.js';

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
  const write = ['put', 'delete', 'createMultipartUpload'].every((name) => typeof (/** @type {any} */ (bucket)[name]) === 'function');
  const keyOf = (/** @type {string} */ path) => `${base}${checkPath(path)}`;
  return proven({
    capabilities: { write, list: true, putIfAbsent: write, putIfMatch: false },
    async get(path, { range, signal } = {}) {
      checkSignal(signal);
      const key = keyOf(path);
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
    async put(path, data, { ifNoneMatch, ifMatch, signal } = {}) {
      checkSignal(signal);
      if (ifMatch !== undefined) throw new HudiError('UNSUPPORTED', 'a put that asks for an ETag is not handled here', { context: { path } });
      const options = ifNoneMatch === undefined ? {} : { onlyIf: new Headers({ 'If-None-Match': ifNoneMatch }) };
      const put = await ask(path, () => call(bucket, 'put', keyOf(path), data, options));
      // The binding gives no object where the condition does not hold.
      if (put === null || put === undefined) throw refused(path);
      return { etag: put.httpEtag };
    },
    async upload(path, { signal } = {}) {
      checkSignal(signal);
      const upload = await ask(path, () => call(bucket, 'createMultipartUpload', keyOf(path)));
      /** @type {any[]} */
      const parts = [];
      return {
        async write(part) {
          parts.push(await ask(path, () => upload.uploadPart(parts.length + 1, part)));
        },
        async complete() {
          const put = await ask(path, () => upload.complete(parts));
          return { etag: put.httpEtag };
        },
        abort: () => ask(path, () => upload.abort()),
      };
    },
    async delete(paths, { signal } = {}) {
      checkSignal(signal);
      for (const path of paths) await ask(path, () => call(bucket, 'delete', keyOf(path)));
    },
  });
}

/** A method that a binding for reading need not have. */
const call = (/** @type {any} */ bucket, /** @type {string} */ method, /** @type {any[]} */ ...given) => bucket[method](...given);

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
    if (number === 10002 || number === 10004) throw new HudiError('UNAUTHORIZED', 'the binding may not use this bucket', details);
    if (number === 10058) throw new HudiError('THROTTLED', 'the bucket asks to slow down', details);
    throw new HudiError('UNAVAILABLE', `the bucket failed: ${text}`, details);
  }
}
