// Rows on their way into the engine: an ArrowInput, of whatever form, as pieces that the engine asks for one at a time.
import { HudiError, invalid } from './errors.js';

/** @typedef {import('./index.d.ts').ArrowInput} ArrowInput */

/** Bytes of a piece: a larger one would stand in wasm memory as a whole. */
const pieceLength = 1 << 20;
/** Rows of a piece of plain rows. */
const pieceRows = 4096;

/** What the engine pulls from: `next()` gives bytes, or rows as JSON text, or undefined at the end. */
export class Source {
  /** @type {AsyncIterator<Uint8Array | string>} */
  #pieces;
  /** What the caller's own input failed with. @type {HudiError | undefined} */
  failure;

  /** @param {ArrowInput} input */
  constructor(input) {
    this.#pieces = piecesOf(input);
  }

  async next() {
    try {
      const { done, value } = await this.#pieces.next();
      return done ? undefined : value;
    } catch (error) {
      this.failure = HudiError.is(error) ? error : new HudiError('INVALID_ARGUMENT', 'the input failed', { cause: error });
      throw this.failure;
    }
  }

  /** Tells the input that no more is asked of it. */
  async end() {
    await this.#pieces.return?.().catch(() => {});
  }
}

/** @returns {AsyncIterator<Uint8Array | string>} */
function piecesOf(/** @type {any} */ input) {
  if (input instanceof ArrayBuffer) return cut([new Uint8Array(input)]);
  if (ArrayBuffer.isView(input)) return cut([input]);
  if (Array.isArray(input?.rows)) return rowTexts(input.rows);
  if (typeof input?.getReader === 'function') return cut(chunksOf(input));
  if (typeof input === 'object' && input !== null && (Symbol.asyncIterator in input || Symbol.iterator in input)) return cut(input);
  throw invalid('not an input of rows', { hint: 'Give Arrow IPC as bytes, a stream or an iterable of bytes, or { rows: […] }.' });
}

/** Older hosts cannot iterate a stream. */
async function* chunksOf(/** @type {ReadableStream<Uint8Array>} */ stream) {
  const reader = stream.getReader();
  try {
    for (let step = await reader.read(); !step.done; step = await reader.read()) yield step.value;
  } finally {
    await reader.cancel().catch(() => {});
  }
}

async function* cut(/** @type {AsyncIterable<unknown> | Iterable<unknown>} */ chunks) {
  for await (const chunk of chunks) {
    const bytes = chunk instanceof ArrayBuffer ? new Uint8Array(chunk) : chunk;
    if (!ArrayBuffer.isView(bytes)) throw invalid('a piece of the input is not a Uint8Array');
    const all = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let at = 0; at < all.length; at += pieceLength) yield all.subarray(at, at + pieceLength);
  }
}

async function* rowTexts(/** @type {readonly unknown[]} */ rows) {
  // The first piece, which may be empty, says that rows come.
  for (let at = 0; at === 0 || at < rows.length; at += pieceRows) {
    const some = rows.slice(at, at + pieceRows).map((row, index) => {
      if (typeof row !== 'object' || row === null || Array.isArray(row)) {
        throw new HudiError('SCHEMA', 'a row is an object by column', { context: { row: String(at + index) } });
      }
      return members(row, String(at + index));
    });
    yield JSON.stringify(some);
  }
}

function members(/** @type {object} */ given, /** @type {string} */ row) {
  const plain = Object.create(null);
  for (const [name, value] of Object.entries(given)) if (value !== undefined) plain[name] = marked(value, row);
  return plain;
}

/** A value, and what JSON has no word for as `{"$": kind, "v": …}`: see src/table/row_input.rs. @returns {unknown} */
function marked(/** @type {unknown} */ value, /** @type {string} */ row) {
  switch (typeof value) {
    case 'undefined':
      return null;
    case 'bigint':
      return { $: 'n', v: String(value) };
    case 'number':
      return Number.isFinite(value) && !Object.is(value, -0) ? value : { $: 'f', v: Object.is(value, -0) ? '-0' : String(value) };
    case 'string':
      // JSON would keep half of a pair, and UTF-8 cannot.
      if (/\p{Surrogate}/u.test(value)) throw new HudiError('SCHEMA', 'text holds half of a surrogate pair', { context: { row } });
      return value;
    case 'boolean':
      return value;
    case 'object':
      break;
    default:
      throw new HudiError('SCHEMA', `a value of a row is a ${typeof value}`, { context: { row } });
  }
  if (value === null) return null;
  if (value instanceof Date) return { $: 'd', v: value.getTime() };
  if (value instanceof ArrayBuffer) return { $: 'b', v: base64(new Uint8Array(value)) };
  if (value instanceof Uint8Array) return { $: 'b', v: base64(value) };
  if (Array.isArray(value)) return value.map((one) => marked(one, row));
  if (value instanceof Map) return { $: 'm', v: [...value].map(([key, one]) => [marked(key, row), marked(one, row)]) };
  return { $: 'o', v: members(value, row) };
}

function base64(/** @type {Uint8Array} */ bytes) {
  let text = '';
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(text);
}
