// What cannot be posted, in a form that can: functions become numbers, and calls go back to where they are.
import { HudiError } from '../errors.js';

/** @typedef {(fn: number, args: unknown[]) => Promise<unknown>} Call @typedef {{ keep: (fn: Function) => number, drop: (fn: number) => void }} Functions */

const mark = { fn: 'hudi:function', response: 'hudi:response', url: 'hudi:url' };

/**
 * Options on their way to the worker.
 *
 * @param {unknown} value
 * @param {Functions} functions
 * @returns {unknown}
 */
export function packed(value, functions) {
  if (typeof value === 'function') return { [mark.fn]: functions.keep(value) };
  if (value instanceof URL) return { [mark.url]: value.href };
  if (typeof Headers === 'function' && value instanceof Headers) return [...value];
  if (!isPlain(value)) {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || isCloned(value)) return value;
    // A store that is an object of somebody's class: its methods are found along its prototypes.
    if (typeof (/** @type {any} */ (value).get) === 'function' && typeof (/** @type {any} */ (value).list) === 'function') return packedStore(value, functions);
    return Symbol.iterator in value ? [.../** @type {Iterable<unknown>} */ (value)] : value;
  }
  if (typeof value.get === 'function') return packedStore(value, functions);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, packed(inner, functions)]));
}

function packedStore(/** @type {any} */ store, /** @type {Functions} */ functions) {
  const methods = ['get', 'list', 'put', 'delete'].filter((name) => typeof store[name] === 'function');
  const bound = methods.map((name) => [name, packed((/** @type {any} */ ...args) => store[name](...args), functions)]);
  const upload = async (/** @type {string} */ path) => lentUpload(await store.upload(path), functions);
  const large = typeof store.upload === 'function' ? { upload: packed(upload, functions) } : {};
  return { capabilities: { ...store.capabilities }, ...Object.fromEntries(bound), ...large };
}

/** An upload whose end is asked for from there: its functions are kept until then. */
function lentUpload(/** @type {any} */ upload, /** @type {Functions} */ functions) {
  const drop = () => kept.forEach(functions.drop);
  const lent = {
    write: (/** @type {Uint8Array} */ part) => upload.write(part),
    async complete() {
      const { etag } = (await upload.complete()) ?? {};
      drop();
      return { etag };
    },
    abort: () => Promise.resolve(upload.abort()).finally(drop),
  };
  const kept = Object.values(lent).map(functions.keep);
  return Object.fromEntries(Object.keys(lent).map((name, i) => [name, { [mark.fn]: kept[i] }]));
}

/**
 * Options as they came: a number of a function is a function that calls back.
 *
 * @param {any} value
 * @param {Call} call
 * @returns {any}
 */
export function unpacked(value, call) {
  if (!isPlain(value)) return value;
  const [fn, url, response] = [value[mark.fn], value[mark.url], value[mark.response]];
  if (typeof fn === 'number') return (/** @type {unknown[]} */ ...args) => answered(call(fn, args.map(sendable)), call);
  if (typeof url === 'string') return new URL(url);
  if (response !== undefined) return new Response(response.body, response);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, unpacked(inner, call)]));
}

/** What a callback gives: a promise, which a caller that expects an async iterable may walk as well. */
function answered(/** @type {Promise<unknown>} */ reply, /** @type {Call} */ call) {
  const value = reply.then((found) => unpacked(found, call));
  return Object.assign(value, {
    async *[Symbol.asyncIterator]() {
      yield* /** @type {Iterable<unknown>} */ (await value);
    },
  });
}

/** An argument without what belongs to one call on its own side: signals. @returns {unknown} */
function sendable(/** @type {unknown} */ value) {
  return isPlain(value) ? { ...value, signal: undefined } : value;
}

/**
 * What a function of this side gave, fit to be posted: bodies are read, lists walked.
 *
 * @param {any} value
 * @returns {Promise<unknown>}
 */
export async function result(value) {
  const given = await value;
  if (typeof given !== 'object' || given === null) return given;
  if (given instanceof URL) return given.href;
  if (ArrayBuffer.isView(given)) return copied(given);
  if (typeof Headers === 'function' && given instanceof Headers) return [...given];
  if (typeof Response === 'function' && given instanceof Response) {
    const { status, headers } = given;
    const empty = [101, 204, 205, 304].includes(status);
    return { [mark.response]: { status, headers: [...headers], body: empty ? null : new Uint8Array(await given.arrayBuffer()) } };
  }
  if (Symbol.asyncIterator in given || (Symbol.iterator in given && !Array.isArray(given))) {
    const all = [];
    for await (const one of given) all.push(one);
    return all;
  }
  if (typeof given.data?.getReader === 'function') return { ...given, data: new Uint8Array(await new Response(given.data).arrayBuffer()) };
  return ArrayBuffer.isView(given.data) ? { ...given, data: copied(given.data) } : given;
}

/** The bytes of a view alone: it would be posted with the whole of its buffer, which may be much larger and is its owner's. */
function copied(/** @type {ArrayBufferView} */ { buffer, byteOffset, byteLength }) {
  return new Uint8Array(buffer, byteOffset, byteLength).slice();
}

/** The buffers of what `result` made, which nobody else holds. @returns {Transferable[]} */
export function buffersOf(/** @type {any} */ made) {
  return [made, made?.data, made?.[mark.response]?.body].filter((one) => one instanceof Uint8Array).map(({ buffer }) => buffer);
}

/** An error as plain data. */
export function packedError(/** @type {any} */ error) {
  const { name, message, code, status, hint, context } = error ?? {};
  const cause = error?.cause instanceof Error ? error.cause.message : undefined;
  return { ours: HudiError.is(error), name, message: message ?? String(error), code, status, hint, context: context && { ...context }, cause };
}

/** The same error on the other side. @returns {Error} */
export function unpackedError(/** @type {any} */ { ours, name, message, code, status, hint, context, cause }) {
  const options = cause === undefined ? {} : { cause: new Error(cause) };
  if (ours) return new HudiError(code, message, { context, hint, ...options });
  return Object.assign(new Error(message, options), { name }, code !== undefined && { code }, status !== undefined && { status }, hint !== undefined && { hint });
}

/** @returns {value is Record<string, any>} */
function isPlain(/** @type {unknown} */ value) {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

/** Classes that postMessage knows. */
function isCloned(/** @type {object} */ value) {
  const name = Object.prototype.toString.call(value);
  return value instanceof Date || ArrayBuffer.isView(value) || value instanceof ArrayBuffer || /FileSystem|WebAssembly|Blob|File\]/.test(name);
}
