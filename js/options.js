// Option objects, checked where they are given, and the form in which they reach the engine.
//
// Read options cross as JSON: { filters: [{ field, operator, values }], projection?, queryType, asOf?, start?, end?,
// streaming, batchSize?, readOptimized, limit?, strictLogs, cdcImages?, hudiOptions }. Values are text; a Date is RFC 3339 text in UTC.
// Times are { "text": … }, unread. Open options: { hudiOptions, timezone?, canonicalUri?, concurrency?, memoryLimit?, cache? }.
import { HudiError, invalid } from './errors.js';
import { dateText, parseFilters } from './filters.js';

/**
 * @typedef {import('./index.d.ts').ReadOptionsInit} ReadOptionsInit
 * @typedef {import('./index.d.ts').ReadOptions} ReadOptions
 * @typedef {import('./index.d.ts').OpenOptions} OpenOptions
 * @typedef {import('./index.d.ts').CallOptions} CallOptions
 * @typedef {import('./index.d.ts').HudiReadOptions} BuilderShape
 */

export const HudiQueryType = Object.freeze(
  /** @type {const} */ ({ Snapshot: 'snapshot', Incremental: 'incremental', Cdc: 'cdc' }),
);

export const HudiReadConfig = Object.freeze(
  /** @type {const} */ ({
    QueryType: 'hoodie.read.query.type',
    AsOfTimestamp: 'hoodie.read.as.of.timestamp',
    StartTimestamp: 'hoodie.read.start.timestamp',
    EndTimestamp: 'hoodie.read.end.timestamp',
    StreamBatchSize: 'hoodie.read.stream.batch_size',
    UseReadOptimizedMode: 'hoodie.read.use.read_optimized.mode',
  }),
);

const defaultBatchSize = 1024;
const callKeys = ['signal', 'onProgress'];
const readKeys = [
  ...callKeys,
  ...['filters', 'projection', 'queryType', 'asOf', 'start', 'end', 'batchSize', 'readOptimized', 'limit', 'strictLogs', 'checkListing', 'cdcImages', 'hudiOptions'],
];
const openKeys = [
  ...callKeys,
  ...['storage', 'cache', 'hudiOptions', 'timezone', 'canonicalUri', 'concurrency', 'memoryLimit', 'onRequest'],
];

/**
 * Python's builder of read options. The named ones live in `hudiOptions` under their hoodie.read.* keys, as there.
 *
 * @implements {BuilderShape}
 */
export class HudiReadOptions {
  /** @type {number | undefined} */
  #limit;
  /** @type {boolean} */
  #checkListing;
  /** @type {boolean} */
  #strictLogs;
  /** @type {'json' | 'struct' | undefined} */
  #cdcImages;
  /** @type {CallOptions} */
  #call;

  /** @param {ReadOptionsInit} [init] */
  constructor(init = {}) {
    checkKeys(init, readKeys, 'read option');
    const { queryType, asOf, start, end, batchSize, readOptimized, limit, strictLogs, projection } = init;
    /** @type {readonly import('./index.d.ts').Filter[]} */
    this.filters = Object.freeze(parseFilters(init.filters ?? []));
    /** @type {readonly string[] | undefined} */
    this.projection = projection === undefined ? undefined : Object.freeze(columns(projection));
    /** @type {Readonly<Record<string, string>>} */
    this.hudiOptions = Object.freeze({
      ...record('hudiOptions', init.hudiOptions ?? {}),
      ...(queryType !== undefined && { [HudiReadConfig.QueryType]: queryType }),
      ...(asOf !== undefined && { [HudiReadConfig.AsOfTimestamp]: time('asOf', asOf) }),
      ...(start !== undefined && { [HudiReadConfig.StartTimestamp]: time('start', start) }),
      ...(end !== undefined && { [HudiReadConfig.EndTimestamp]: time('end', end) }),
      ...(batchSize !== undefined && { [HudiReadConfig.StreamBatchSize]: String(count('batchSize', batchSize, 1)) }),
      ...(readOptimized !== undefined && { [HudiReadConfig.UseReadOptimizedMode]: String(flag('readOptimized', readOptimized)) }),
    });
    this.#limit = limit === undefined ? undefined : count('limit', limit, 0);
    this.#checkListing = init.checkListing ?? false;
    if (typeof this.#checkListing !== 'boolean') throw invalid('checkListing is true or false');
    this.#strictLogs = strictLogs === undefined ? false : flag('strictLogs', strictLogs);
    this.#cdcImages = imageForm(init.cdcImages);
    this.#call = callOptions(init);
    this.queryType();
    this.batchSize();
    readOptimizedOf(this);
    Object.freeze(this);
  }

  /** @param {import('./index.d.ts').Filters} filters */
  withFilters(filters) {
    return this.#with({ filters });
  }

  /** @param {readonly string[]} projection */
  withProjection(projection) {
    return this.#with({ projection });
  }

  /** @param {import('./index.d.ts').HudiQueryType} queryType */
  withQueryType(queryType) {
    return this.#with({ queryType });
  }

  /** @param {import('./index.d.ts').TimestampInput} asOf */
  withAsOfTimestamp(asOf) {
    return this.#with({ asOf });
  }

  /** @param {import('./index.d.ts').TimestampInput} start */
  withStartTimestamp(start) {
    return this.#with({ start });
  }

  /** @param {import('./index.d.ts').TimestampInput} end */
  withEndTimestamp(end) {
    return this.#with({ end });
  }

  /** @param {number} batchSize */
  withBatchSize(batchSize) {
    return this.#with({ batchSize });
  }

  /** @param {string} key @param {string} value */
  withHudiOption(key, value) {
    return this.#with({ hudiOptions: { ...this.hudiOptions, [key]: value } });
  }

  /** @param {boolean} [readOptimized] */
  withReadOptimized(readOptimized = true) {
    return this.#with({ readOptimized });
  }

  /** @param {number} limit */
  withLimit(limit) {
    return this.#with({ limit });
  }

  /** @param {boolean} [strictLogs] */
  withStrictLogs(strictLogs = true) {
    return this.#with({ strictLogs });
  }

  /** @param {AbortSignal} signal */
  withSignal(signal) {
    return this.#with({ signal });
  }

  /** @returns {import('./index.d.ts').HudiQueryType} */
  queryType() {
    const type = this.hudiOptions[HudiReadConfig.QueryType] ?? 'snapshot';
    const known = Object.values(HudiQueryType).find((known) => known === String(type).toLowerCase());
    if (known === undefined) throw invalid(`unknown query type ${JSON.stringify(type)}`);
    return known;
  }

  asOfTimestamp() {
    return this.hudiOptions[HudiReadConfig.AsOfTimestamp];
  }

  startTimestamp() {
    return this.hudiOptions[HudiReadConfig.StartTimestamp];
  }

  endTimestamp() {
    return this.hudiOptions[HudiReadConfig.EndTimestamp];
  }

  batchSize() {
    const text = this.hudiOptions[HudiReadConfig.StreamBatchSize];
    return text === undefined ? defaultBatchSize : count('batchSize', Number(text), 1);
  }

  #with(/** @type {ReadOptionsInit} */ change) {
    const { filters, projection, hudiOptions } = this;
    const kept = { filters, projection, hudiOptions, limit: this.#limit, strictLogs: this.#strictLogs, checkListing: this.#checkListing, cdcImages: this.#cdcImages };
    return new HudiReadOptions({ ...kept, ...this.#call, ...change });
  }

  /**
   * Brings read options of either form to the builder's.
   *
   * @param {ReadOptions} [given]
   */
  static from(given = {}) {
    return given instanceof HudiReadOptions ? given : new HudiReadOptions(/** @type {ReadOptionsInit} */ (given));
  }

  /**
   * What the engine is given, and what stays on this side.
   *
   * @param {HudiReadOptions} options
   * @param {{ stream?: boolean }} [how]
   * @returns {{ json: string } & CallOptions}
   */
  static forEngine(options, { stream = false } = {}) {
    const text = (/** @type {string | undefined} */ given) => given && { text: given };
    const json = JSON.stringify({
      filters: options.filters,
      projection: options.projection,
      queryType: options.queryType(),
      asOf: text(options.asOfTimestamp()),
      start: text(options.startTimestamp()),
      end: text(options.endTimestamp()),
      streaming: stream,
      batchSize: stream ? options.batchSize() : undefined,
      readOptimized: readOptimizedOf(options),
      limit: options.#limit,
      checkListing: options.#checkListing,
      strictLogs: options.#strictLogs,
      cdcImages: options.#cdcImages,
      hudiOptions: options.hudiOptions,
    });
    return { json, ...options.#call };
  }
}

/**
 * Open options, checked: what the engine is given, and what stays on this side.
 *
 * @param {OpenOptions} options
 */
export function openOptions(options) {
  checkKeys(options, openKeys, 'open option');
  const { timezone, canonicalUri, concurrency, memoryLimit, cache, onRequest, storage } = options;
  if (timezone !== undefined && (typeof timezone !== 'string' || timezone === '')) {
    throw invalid("timezone is an IANA name or 'host'");
  }
  const json = JSON.stringify({
    hudiOptions: record('hudiOptions', options.hudiOptions ?? {}),
    timezone,
    canonicalUri: canonicalUri === undefined ? undefined : absolute(canonicalUri),
    concurrency: concurrency === undefined ? undefined : count('concurrency', concurrency, 1),
    memoryLimit: memoryLimit === undefined ? undefined : count('memoryLimit', memoryLimit, 1),
    cache: cacheOptions(cache ?? {}),
  });
  if (onRequest !== undefined && typeof onRequest !== 'function') throw invalid('onRequest is a function');
  return { json, storage, cache: cache ?? {}, onRequest, ...callOptions(options) };
}

const createKeys = [
  ...['tableName', 'schema', 'tableType', 'tableVersion', 'recordKeyFields', 'partitionFields', 'orderingFields', 'recordMergeMode', 'keyGenerator', 'databaseName'],
  ...['hiveStylePartitioning', 'urlEncodePartitioning', 'populateMetaFields', 'metadata', 'cdc', 'ifExists'],
];
const writeKeys = [...callKeys, 'concurrency', 'extraMetadata', 'hudiOptions', 'compression', 'inlineServices', 'duplicateKeys', 'widen', 'emptyCommit', 'timezone'];

/**
 * Options of a new table, checked: what the engine is given, and what stays on this side. The engine checks their values.
 *
 * @param {import('./index.d.ts').CreateOptions} options
 */
export function createOptions(options) {
  checkKeys(options, [...openKeys, ...createKeys], 'create option');
  const { schema } = options;
  const bytes = /** @type {unknown} */ (schema) instanceof ArrayBuffer ? new Uint8Array(/** @type {any} */ (schema)) : schema;
  if (typeof bytes !== 'string' && !(bytes instanceof Uint8Array)) throw invalid('schema is an Arrow IPC stream or Avro JSON text');
  const own = Object.fromEntries(createKeys.filter((key) => key !== 'schema').map((key) => [key, /** @type {any} */ (options)[key]]));
  const rest = Object.fromEntries(Object.entries(options).filter(([key]) => !createKeys.includes(key)));
  const open = openOptions(rest);
  return { ...open, schema: bytes, json: JSON.stringify({ ...own, ...JSON.parse(open.json) }) };
}

/**
 * Options of a write, checked.
 *
 * @param {import('./index.d.ts').WriteOptions} [options]
 * @returns {{ json: string } & CallOptions}
 */
export function writeOptions(options = {}) {
  checkKeys(options, writeKeys, 'write option');
  const { concurrency, extraMetadata, hudiOptions, compression, inlineServices, duplicateKeys, widen, emptyCommit, timezone } = options;
  if (concurrency !== undefined && concurrency.mode !== 'single-writer') {
    throw new HudiError('UNSUPPORTED', 'concurrency is single-writer as yet', { context: { field: 'concurrency' } });
  }
  const on = (/** @type {string} */ name, /** @type {unknown} */ value) => (value === undefined ? undefined : flag(name, value));
  const json = JSON.stringify({
    extraMetadata: record('extraMetadata', extraMetadata ?? {}),
    hudiOptions: record('hudiOptions', hudiOptions ?? {}),
    compression,
    inlineServices: on('inlineServices', inlineServices),
    duplicateKeys,
    widen: on('widen', widen),
    emptyCommit: on('emptyCommit', emptyCommit),
    timezone,
  });
  return { json, ...callOptions(options) };
}

/**
 * The options that every call takes.
 *
 * @param {CallOptions} options
 * @returns {CallOptions}
 */
export function callOptions({ signal, onProgress }) {
  if (signal !== undefined && typeof signal?.addEventListener !== 'function') throw invalid('signal is an AbortSignal');
  if (onProgress !== undefined && typeof onProgress !== 'function') throw invalid('onProgress is a function');
  return { ...(signal && { signal }), ...(onProgress && { onProgress }) };
}

/**
 * Refuses a key that nobody reads: a misspelt option must not be a silent one.
 *
 * @param {unknown} given
 * @param {readonly string[]} known
 * @param {string} what
 */
export function checkKeys(given, known, what) {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw invalid(`${what}s are an object`);
  for (const [key, value] of Object.entries(given)) {
    if (value !== undefined && !known.includes(key)) {
      throw invalid(`unknown ${what} ${JSON.stringify(key)}`, { hint: `Known are: ${known.join(', ')}.` });
    }
  }
}

/**
 * The cache in memory, unless the caller says otherwise: a Worker has 128 MB of memory in all; of a table at hand what is large is read again sooner than
 * it is copied.
 *
 * @param {boolean} atHand whether the table lies in memory, or in a folder, which the system keeps in memory itself
 */
export function usualCache(atHand) {
  const inWorkerd = typeof navigator === 'object' && navigator?.userAgent === 'Cloudflare-Workers';
  return { memory: (inWorkerd ? 16 : 64) << 20, largest: atHand ? 4 << 20 : undefined };
}

function cacheOptions(/** @type {import('./index.d.ts').CacheInit} */ cache) {
  checkKeys(cache, ['memory', 'persistent', 'persistentBytes', 'coalesceGap', 'maxRequest'], 'cache option');
  if (cache.persistentBytes !== undefined) count('cache.persistentBytes', cache.persistentBytes, 1);
  const { memory, coalesceGap, maxRequest } = cache;
  return {
    memory: memory === undefined ? undefined : count('cache.memory', memory, 0),
    coalesceGap: coalesceGap === undefined ? undefined : count('cache.coalesceGap', coalesceGap, 0),
    maxRequest: maxRequest === undefined ? undefined : count('cache.maxRequest', maxRequest, 1),
  };
}

function readOptimizedOf(/** @type {HudiReadOptions} */ options) {
  const text = (options.hudiOptions[HudiReadConfig.UseReadOptimizedMode] ?? 'false').toLowerCase();
  if (text !== 'true' && text !== 'false') throw invalid(`${HudiReadConfig.UseReadOptimizedMode} is true or false`);
  return text === 'true';
}

function imageForm(/** @type {unknown} */ given) {
  if (given === undefined || given === 'json' || given === 'struct') return given;
  throw invalid("cdcImages is 'json' or 'struct'");
}

function columns(/** @type {unknown} */ given) {
  const right = Array.isArray(given) && given.every((name) => typeof name === 'string' && name !== '');
  if (!right) throw invalid('projection is a list of column names');
  if (new Set(given).size < given.length) throw invalid('projection names a column twice');
  return [...given];
}

function absolute(/** @type {unknown} */ given) {
  if (typeof given === 'string' && /^([a-z][a-z0-9+.-]*:)?\/./i.test(given)) return given.replace(/\/+$/, '');
  throw invalid('canonicalUri is an absolute path or a URI, such as s3a://bucket/table');
}

/** @returns {Record<string, string>} */
function record(/** @type {string} */ name, /** @type {unknown} */ given) {
  const right = typeof given === 'object' && given !== null && Object.values(given).every((value) => typeof value === 'string');
  if (!right) throw invalid(`${name} is an object of strings`);
  return /** @type {Record<string, string>} */ ({ ...given });
}

function time(/** @type {string} */ name, /** @type {unknown} */ given) {
  if (given instanceof Date) return dateText(given, { field: name });
  if (typeof given === 'string' && given !== '') return given;
  throw invalid(`${name} is text or a Date`, {
    ...(typeof given === 'number' && { hint: 'Give a number as text: 17 digits do not fit a double.' }),
  });
}

function count(/** @type {string} */ name, /** @type {unknown} */ given, /** @type {number} */ least) {
  if (Number.isSafeInteger(given) && Number(given) >= least) return Number(given);
  throw invalid(`${name} is a whole number, at least ${least}`);
}

function flag(/** @type {string} */ name, /** @type {unknown} */ given) {
  if (typeof given === 'boolean') return given;
  throw invalid(`${name} is true or false`);
}
