import { RecordBatchStream, collect, collectParts } from './batches.js';
import { asyncDispose, dispose } from './dispose.js';
import { invalid } from './errors.js';
import { HudiFileGroupReader } from './file_group_reader.js';
import { Handle } from './handle.js';
import { Source } from './input.js';
import { createHandle, openHandle } from './open.js';
import { HudiReadOptions, callOptions, writeOptions } from './options.js';
import { HudiTimeline } from './timeline.js';

/**
 * @typedef {import('./index.d.ts').CallOptions} CallOptions
 * @typedef {import('./index.d.ts').ReadOptions} ReadOptions
 * @typedef {import('./index.d.ts').OpenOptions} OpenOptions
 * @typedef {import('./index.d.ts').HudiSchema} HudiSchema
 * @typedef {import('./index.d.ts').HudiResult} Result
 * @typedef {import('./index.d.ts').HudiTable} TableShape
 */

/**
 * One table, pinned to what was completed when it was opened.
 *
 * @implements {TableShape}
 */
export class HudiTable {
  #handle;
  /** @type {{ tableName: string, tableType: 'COPY_ON_WRITE' | 'MERGE_ON_READ', tableVersion: number, timezone: string, hudiOptions: Record<string, string> }} */
  #facts;
  /** @type {Readonly<Record<string, string>>} */
  #storageOptions;

  /**
   * For `open` and `refresh` alone.
   *
   * @param {Handle} handle
   * @param {Readonly<Record<string, string>>} storageOptions
   */
  constructor(handle, storageOptions) {
    if (!(handle instanceof Handle)) throw invalid('a table is had from HudiTable.open()');
    this.#handle = handle;
    this.#storageOptions = storageOptions;
    const { table, baseUrl } = JSON.parse(handle.call((raw) => raw.facts()));
    this.#facts = table;
    /** @type {string} */
    this.baseUrl = baseUrl;
    this.tableName = this.#facts.tableName;
    this.tableType = this.#facts.tableType;
    this.isMor = this.tableType === 'MERGE_ON_READ';
    this.tableVersion = this.#facts.tableVersion;
    this.timezone = this.#facts.timezone;
  }

  /**
   * @param {string | URL} uri
   * @param {OpenOptions} [options]
   */
  static async open(uri, options = {}) {
    const { handle, storageOptions } = await openHandle(uri, options);
    return new HudiTable(handle, storageOptions);
  }

  /**
   * @param {string | URL} uri
   * @param {import('./index.d.ts').CreateOptions} options
   */
  static async create(uri, options) {
    const { handle, storageOptions } = await createHandle(uri, options);
    return new HudiTable(handle, storageOptions);
  }

  hudiOptions() {
    return { ...this.#facts.hudiOptions };
  }

  storageOptions() {
    return { ...this.#storageOptions };
  }

  getSchema() {
    return this.#schema('table');
  }

  getSchemaWithMetaFields() {
    return this.#schema('meta');
  }

  getPartitionSchema() {
    return this.#schema('partition');
  }

  getSchemaInAvroStr() {
    return this.#handle.run({}, (raw, cancel, event) => raw.avroSchema(false, cancel, event));
  }

  getSchemaInAvroStrWithMetaFields() {
    return this.#handle.run({}, (raw, cancel, event) => raw.avroSchema(true, cancel, event));
  }

  getTimeline() {
    return new HudiTimeline(this.#handle, this);
  }

  /**
   * @param {ReadOptions} [given]
   * @returns {Promise<import('./index.d.ts').HudiFileSlice[]>}
   */
  async getFileSlices(given) {
    const { json, ...call } = HudiReadOptions.forEngine(HudiReadOptions.from(given));
    return JSON.parse(await this.#handle.run(call, (raw, cancel, event) => raw.fileSlices(json, cancel, event)));
  }

  /** @param {ReadOptions} [given] */
  async read(given) {
    const { json, ...call } = HudiReadOptions.forEngine(HudiReadOptions.from(given));
    const stream = await this.#handle.run(call, (raw, cancel, event) => raw.read(json, cancel, event));
    return collect(this.#handle.engine, stream, call.signal);
  }

  /** @param {ReadOptions} [given] */
  readStream(given) {
    const { json, signal: caller, ...call } = HudiReadOptions.forEngine(HudiReadOptions.from(given), { stream: true });
    const handle = this.#handle;
    return new RecordBatchStream(async (signal) => {
      const raw = await handle.run({ ...call, signal }, (table, cancel, event) => table.read(json, cancel, event));
      return { engine: handle.engine, raw };
    }, caller);
  }

  /** @param {ReadOptions} [given] */
  async createFileGroupReaderWithOptions(given) {
    return new HudiFileGroupReader(this.#handle, this.baseUrl, HudiReadOptions.from(given));
  }

  /**
   * @param {import('./index.d.ts').TimestampInput} from
   * @param {import('./index.d.ts').TimestampInput} to
   * @param {ReadOptions} [given]
   */
  async diff(from, to, given) {
    const options = HudiReadOptions.from(given).withStartTimestamp(from).withEndTimestamp(to);
    const { json, ...call } = HudiReadOptions.forEngine(options);
    const stream = await this.#handle.run(call, (raw, cancel, event) => raw.diff(json, cancel, event));
    const [added, removed, before, after] = await collectParts(this.#handle.engine, stream, call.signal);
    return /** @type {{ added: Result, removed: Result, before: Result, after: Result }} */ ({ added, removed, before, after });
  }

  /**
   * @param {readonly (string | { recordKey: string, partitionPath?: string })[]} keys
   * @param {ReadOptions} [given]
   */
  async lookup(keys, given) {
    const { json, ...call } = HudiReadOptions.forEngine(HudiReadOptions.from(given));
    const wanted = JSON.stringify(lookupKeys(keys));
    const stream = await this.#handle.run(call, (raw, cancel, event) => raw.lookup(wanted, json, cancel, event));
    return collect(this.#handle.engine, stream, call.signal);
  }

  /**
   * @param {ReadOptions} [given]
   * @returns {Promise<{ numRows: number, totalByteSize: number } | undefined>}
   */
  async computeTableStats(given) {
    const { json, ...call } = HudiReadOptions.forEngine(HudiReadOptions.from(given));
    const stats = await this.#handle.run(call, (raw, cancel, event) => raw.tableStats(json, cancel, event));
    return JSON.parse(stats) ?? undefined;
  }

  /**
   * @param {readonly string[]} columns
   * @param {ReadOptions} [given]
   * @returns {Promise<readonly import('./index.d.ts').ColumnStatsRow[]>}
   */
  async columnStats(columns, given) {
    if (!Array.isArray(columns) || columns.some((column) => typeof column !== 'string')) throw invalid('columns must be a list of names');
    const { json, ...call } = HudiReadOptions.forEngine(HudiReadOptions.from(given));
    const names = JSON.stringify(columns);
    const rows = await this.#handle.run(call, (raw, cancel, event) => raw.columnStats(names, json, cancel, event));
    // Numbers of 64 bits come as text, since JSON's would lose digits.
    return JSON.parse(rows, (_, value) => (typeof value?.bigint === 'string' ? BigInt(value.bigint) : value));
  }

  /**
   * @param {ReadOptions} [given]
   * @returns {Promise<import('./index.d.ts').ReadPlan>}
   */
  async explain(given) {
    const { json, ...call } = HudiReadOptions.forEngine(HudiReadOptions.from(given));
    return JSON.parse(await this.#handle.run(call, (raw, cancel, event) => raw.explain(json, cancel, event)));
  }

  /**
   * @param {import('./index.d.ts').ArrowInput} data
   * @param {import('./index.d.ts').WriteOptions} [options]
   * @returns {Promise<import('./index.d.ts').WriteResult>}
   */
  async append(data, options) {
    const { json, ...call } = writeOptions(options);
    const source = new Source(data);
    try {
      const [result, raw] = await this.#handle.run(call, (table, cancel, event) => table.append(source, json, cancel, event));
      const table = new HudiTable(this.#handle.beside(raw), this.#storageOptions);
      return Object.freeze({ ...JSON.parse(result), table });
    } catch (error) {
      // The engine knows the words of the input's failure; its cause is here.
      throw call.signal?.aborted ? error : (source.failure ?? error);
    } finally {
      void source.end();
    }
  }

  /**
   * @param {string} instant
   * @param {import('./index.d.ts').ServiceOptions} [options]
   * @returns {Promise<import('./index.d.ts').ServiceResult>}
   */
  async rollback(instant, options) {
    if (typeof instant !== 'string') throw invalid('an instant is text');
    const { json, ...call } = writeOptions(options);
    return Object.freeze(JSON.parse(await this.#handle.run(call, (table, cancel, event) => table.rollback(instant, json, cancel, event))));
  }

  /**
   * @param {string} instant
   * @param {CallOptions} [options]
   * @returns {Promise<'COMMITTED' | 'NOT_COMMITTED' | 'UNKNOWN'>}
   */
  async resolve(instant, options = {}) {
    if (typeof instant !== 'string') throw invalid('an instant is text');
    return this.#handle.run(callOptions(options), (table, cancel, event) => table.resolve(instant, cancel, event));
  }

  /** @param {CallOptions} [options] */
  async refresh(options = {}) {
    const raw = await this.#handle.run(callOptions(options), (table, cancel, event) => table.refresh(cancel, event));
    return new HudiTable(this.#handle.beside(raw), this.#storageOptions);
  }

  close() {
    this.#handle.close();
  }

  [dispose]() {
    this.close();
  }

  async [asyncDispose]() {
    this.close();
  }

  /** @returns {Promise<HudiSchema>} */
  async #schema(/** @type {'table' | 'meta' | 'partition'} */ kind) {
    const [ipc, fields] = await this.#handle.run({}, (raw, cancel, event) => raw.schema(kind, cancel, event));
    return Object.freeze({ ipc, fields: JSON.parse(fields) });
  }
}

/** Keys to be looked up, in the engine's words. */
function lookupKeys(/** @type {unknown} */ given) {
  if (!Array.isArray(given)) throw invalid('keys are a list of record keys');
  return given.map((key) => {
    const { recordKey, partitionPath } = typeof key === 'string' ? { recordKey: key, partitionPath: undefined } : (key ?? {});
    const right = typeof recordKey === 'string' && (partitionPath === undefined || typeof partitionPath === 'string');
    if (!right) throw invalid('a key is its text, or { recordKey, partitionPath? }', { context: { key: String(key) } });
    return { recordKey, partitionPath };
  });
}
