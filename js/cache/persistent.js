// Pieces of files that never change, kept beyond a visit: what the engine asks before it asks the network. It never fails: a full or
// forbidden disk ends it for this visit, and its next answer says so.
import { invalid } from '../errors.js';
import { cacheApiBackend } from './cache_api.js';
import { opfsBackend } from './opfs.js';

/**
 * @typedef {import('../index.d.ts').CacheInit} CacheInit
 * @typedef {import('../index.d.ts').ByteRangeCache} ByteRangeCache
 * @typedef {import('../glue.d.ts').EngineCache} EngineCache
 *
 * @typedef {{ name: string, size: number }} Stored
 * @typedef {{ key: string, sum: string, etag?: string | undefined }} About kept beside a piece; `sum` is of its bytes
 * @typedef {object} Backend a flat store of named pieces, the same for all tabs of an origin
 * @property {() => Promise<Stored[]>} list
 * @property {(name: string) => Promise<{ data: Uint8Array<ArrayBuffer>, about: About } | undefined>} read
 * @property {(name: string, data: Uint8Array, about: About) => Promise<void>} write whole or not at all
 * @property {(name: string) => Promise<void>} remove
 */

const usualBytes = 256 * 2 ** 20;

/**
 * What the engine is given for a table, or undefined for none.
 *
 * @param {CacheInit} cache checked before
 * @param {string} place of the table: all that tells it from another
 * @returns {EngineCache | undefined}
 */
export function engineCache({ persistent = 'none', persistentBytes = usualBytes }, place) {
  if (persistent === 'none') return undefined;
  const kept = typeof persistent === 'string' ? shared(persistent, persistentBytes) : persistent;
  return new CacheOfTable(kept, place);
}

/** One for all tables of a visit, so that they share the bound. @type {Map<string, PieceCache>} */
const live = new Map();

/** @param {'cache-api' | 'opfs'} kind @param {number} bytes */
function shared(kind, bytes) {
  const make = { 'cache-api': cacheApiBackend, opfs: opfsBackend }[kind];
  if (make === undefined) throw invalid(`unknown persistent cache ${JSON.stringify(kind)}`, { hint: "Known are: 'none', 'cache-api', 'opfs', and an object with get() and put()." });
  const known = live.get(kind) ?? new PieceCache(make());
  live.set(kind, known);
  known.bytes = bytes;
  return known;
}

/**
 * Writes to a cache one after the other, whichever table they are of: else what is dropped might arrive after that. `leaving` are keys on their way out.
 *
 * @type {WeakMap<ByteRangeCache, { last: Promise<unknown>, leaving: Map<string, Promise<unknown>> }>}
 */
const turns = new WeakMap();

/** A cache as the engine wants it. @implements {EngineCache} */
class CacheOfTable {
  #cache;
  #turn;
  #place;
  /** @type {string | undefined} */
  #warning;
  #over = false;

  /** @param {ByteRangeCache} cache @param {string} place */
  constructor(cache, place) {
    this.#cache = cache;
    this.#place = place;
    this.#turn = turns.get(cache) ?? { last: Promise.resolve(), leaving: new Map() };
    turns.set(cache, this.#turn);
  }

  /** @param {string} key @param {number} start @param {number} end */
  async get(key, start, end) {
    try {
      const name = `${this.#place}/${key}`;
      await this.#turn.leaving.get(name);
      const found = this.#over ? undefined : await this.#cache.get(name, start, end);
      const { data, etag } = ArrayBuffer.isView(found) ? { data: found, etag: undefined } : (found ?? {});
      return { ...(data && { data }), ...(etag && { etag }), ...this.#told() };
    } catch (error) {
      this.#end(error);
      return this.#told();
    }
  }

  /** @param {string} key @param {number} start @param {Uint8Array} data @param {string | undefined} etag */
  put(key, start, data, etag) {
    if (!this.#over) this.#next(() => this.#cache.put(`${this.#place}/${key}`, start, data, etag));
  }

  /** @param {string} key */
  forget(key) {
    if (this.#over) return;
    const name = `${this.#place}/${key}`;
    const { leaving } = this.#turn;
    const gone = this.#next(async () => this.#cache.delete?.(name));
    leaving.set(name, gone);
    void gone.then(() => {
      if (leaving.get(name) === gone) leaving.delete(name);
    });
  }

  /** Runs when the writes before are done; never rejects. */
  #next(/** @type {() => Promise<void>} */ run) {
    const done = this.#turn.last.then(() => (this.#over ? undefined : run())).catch((error) => this.#end(error));
    this.#turn.last = done;
    return done;
  }

  #end(/** @type {unknown} */ error) {
    if (this.#over) return;
    this.#over = true;
    this.#warning = `the persistent cache is not used any more: ${error instanceof Error ? `${error.name}: ${error.message}` : error}`;
  }

  #told() {
    const warning = this.#warning;
    this.#warning = undefined;
    return warning === undefined ? {} : { warning };
  }
}

/** When a piece is overwritten or dropped, by the hash of its file, its range and its time. */
const nameOf = (/** @type {string} */ hash, /** @type {number} */ start, /** @type {number} */ end, /** @type {number} */ at) => `${hash}-${start}-${end}-${at}`;

/** The name of the list of when pieces were last used. */
const usesName = 'uses';

/**
 * Pieces in a backend: found by their ranges, dropped by when they were last used. Several tabs may be at it: each writes pieces under names of
 * its own, and only one at a time drops any; a piece that is gone when it is asked for was not there.
 *
 * @implements {ByteRangeCache}
 */
export class PieceCache {
  bytes = usualBytes;
  #backend;
  /** Pieces by the hash of their file, as last seen. @type {Promise<Map<string, Map<string, { start: number, end: number }>>> | undefined} */
  #pieces;
  /** When this tab used a piece, until that is written down. @type {Map<string, number>} */
  #uses = new Map();
  #putSince = Infinity;
  /** @type {Promise<void>} */
  #trimming = Promise.resolve();

  /** @param {Backend} backend */
  constructor(backend) {
    this.#backend = backend;
  }

  /** @param {string} key @param {number} start @param {number} end */
  async get(key, start, end) {
    const hash = await hashOf(key);
    const pieces = (await this.#known()).get(hash);
    for (const [name, piece] of pieces ?? []) {
      if (piece.start > start || piece.end < end) continue;
      const found = await this.#backend.read(name);
      const whole = found !== undefined && found.data.length === piece.end - piece.start && found.about.key === key;
      if (!whole || found.about.sum !== (await sumOf(found.data))) {
        pieces?.delete(name);
        if (found !== undefined) await this.#backend.remove(name);
        continue;
      }
      this.#uses.set(name, Date.now());
      return { data: found.data.subarray(start - piece.start, end - piece.start), etag: found.about.etag };
    }
    return undefined;
  }

  /** @param {string} key @param {number} start @param {Uint8Array} data @param {string} [etag] */
  async put(key, start, data, etag) {
    if (data.length === 0 || data.length > this.bytes / 8) return;
    const hash = await hashOf(key);
    const known = await this.#known();
    const pieces = known.get(hash) ?? new Map();
    known.set(hash, pieces);
    const end = start + data.length;
    if ([...pieces.values()].some((piece) => piece.start <= start && piece.end >= end)) return;
    const name = nameOf(hash, start, end, Date.now());
    const about = { key, sum: await sumOf(data), etag };
    await this.#make(data.length);
    try {
      await this.#backend.write(name, data, about);
    } catch (error) {
      if (!isFull(error)) throw error;
      // The origin has less room than the bound: half of what is here has to do.
      await this.#trim(0.5);
      await this.#backend.write(name, data, about);
    }
    pieces.set(name, { start, end });
  }

  /** @param {string} key */
  async delete(key) {
    const hash = await hashOf(key);
    (await this.#known()).delete(hash);
    for (const { name } of await this.#backend.list()) if (name.startsWith(`${hash}-`)) await this.#backend.remove(name);
  }

  #known() {
    this.#pieces ??= this.#load();
    return this.#pieces;
  }

  async #load() {
    const known = new Map();
    for (const { name } of await this.#backend.list()) {
      const [, hash, start, end] = /^([0-9a-f]+)-(\d+)-(\d+)-\d+$/.exec(name) ?? [];
      if (hash === undefined) continue;
      const pieces = known.get(hash) ?? new Map();
      known.set(hash, pieces.set(name, { start: Number(start), end: Number(end) }));
    }
    return known;
  }

  /** Makes room, now and then: so often that no more than an eighth of the bound is added between two looks. */
  async #make(/** @type {number} */ length) {
    this.#putSince += length;
    if (this.#putSince > this.bytes / 8) {
      this.#putSince = length;
      await this.#trim(6 / 8);
    }
  }

  /** Drops the pieces used least lately until no more than a part of the bound is left. */
  #trim(/** @type {number} */ part) {
    const trim = () => alone(() => this.#drop(part));
    this.#trimming = this.#trimming.then(trim, trim);
    return this.#trimming;
  }

  async #drop(/** @type {number} */ part) {
    const stored = (await this.#backend.list()).filter(({ name }) => name !== usesName);
    const bound = this.bytes * part;
    let total = stored.reduce((sum, { size }) => sum + size, 0);
    const uses = await this.#readUses();
    for (const [name, at] of this.#uses) uses.set(name, Math.max(at, uses.get(name) ?? 0));
    const written = (/** @type {string} */ name) => Number(/-(\d+)$/.exec(name)?.[1] ?? 0);
    const last = (/** @type {Stored} */ { name }) => uses.get(name) ?? written(name);
    const known = await this.#known();
    const left = new Set(stored.map(({ name }) => name));
    for (const { name, size } of stored.sort((a, b) => last(a) - last(b))) {
      if (total <= bound) break;
      await this.#backend.remove(name);
      known.get(name.split('-')[0] ?? '')?.delete(name);
      left.delete(name);
      total -= size;
    }
    this.#uses.clear();
    const lines = [...uses].filter(([name]) => left.has(name));
    await this.#backend.write(usesName, new TextEncoder().encode(JSON.stringify(lines)), { key: usesName, sum: '' });
  }

  /** @returns {Promise<Map<string, number>>} */
  async #readUses() {
    try {
      const found = await this.#backend.read(usesName);
      return new Map(found === undefined ? [] : JSON.parse(new TextDecoder().decode(found.data)));
    } catch {
      return new Map();
    }
  }
}

/** Runs while no other tab does; where the host has no such lock there is one tab. @param {() => Promise<void>} run @returns {Promise<void>} */
async function alone(run) {
  const locks = typeof navigator === 'object' ? navigator?.locks : undefined;
  if (locks === undefined) return run();
  await locks.request('hudi-wasm-cache', run);
}

const hashOf = (/** @type {string} */ text) => sumOf(new TextEncoder().encode(text));

async function sumOf(/** @type {Uint8Array} */ data) {
  const bytes = new Uint8Array(await crypto.subtle.digest('SHA-256', /** @type {Uint8Array<ArrayBuffer>} */ (data)));
  return [...bytes.subarray(0, 16)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

const isFull = (/** @type {unknown} */ error) => error instanceof Error && error.name === 'QuotaExceededError';
