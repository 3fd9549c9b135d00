import { RecordBatchStream, collect } from './batches.js';
import { dispose } from './dispose.js';
import { invalid } from './errors.js';
import { Handle } from './handle.js';
import { openHandle } from './open.js';
import { HudiReadOptions } from './options.js';

/**
 * @typedef {import('./index.d.ts').HudiFileSlice} HudiFileSlice
 * @typedef {import('./index.d.ts').ReadOptions} ReadOptions
 * @typedef {import('./index.d.ts').HudiFileGroupReader} ReaderShape
 */

/**
 * Reads file slices that the caller chose.
 *
 * @implements {ReaderShape}
 */
export class HudiFileGroupReader {
  #handle;
  #base;
  /** Closed with the reader, unless it is a table's. */
  #own;

  /**
   * For `open` and `HudiTable.createFileGroupReaderWithOptions` alone.
   *
   * @param {Handle} handle
   * @param {string} baseUrl
   * @param {HudiReadOptions} base what every call begins with
   * @param {boolean} [own] whether the handle is closed with the reader
   */
  constructor(handle, baseUrl, base, own = false) {
    if (!(handle instanceof Handle)) throw invalid('a reader is had from HudiFileGroupReader.open()');
    this.#handle = handle;
    this.#base = base.hudiOptions;
    this.#own = own;
    this.isMetadataTable = /\/\.hoodie\/metadata$/.test(baseUrl);
  }

  /**
   * @param {string | URL} uri
   * @param {import('./index.d.ts').OpenOptions} [options]
   */
  static async open(uri, options) {
    const { handle, uri: base } = await openHandle(uri, options);
    return new HudiFileGroupReader(handle, base, new HudiReadOptions(), true);
  }

  /**
   * @param {HudiFileSlice} slice
   * @param {ReadOptions} [options]
   */
  async readFileSlice(slice, options) {
    return this.readFileSliceFromPaths(slice.baseFileRelativePath, slice.logFilesRelativePaths, options);
  }

  /**
   * @param {HudiFileSlice} slice
   * @param {ReadOptions} [options]
   */
  readFileSliceStream(slice, options) {
    return this.readFileSliceFromPathsStream(slice.baseFileRelativePath, slice.logFilesRelativePaths, options);
  }

  /**
   * @param {string | undefined} basePath
   * @param {readonly string[]} logPaths
   * @param {ReadOptions} [options]
   */
  async readFileSliceFromPaths(basePath, logPaths, options) {
    const { json, ...call } = HudiReadOptions.forEngine(this.#options(options));
    const logs = JSON.stringify(logPaths);
    const stream = await this.#handle.run(call, (raw, cancel, event) => raw.readPaths(basePath, logs, json, cancel, event));
    return collect(this.#handle.engine, stream, call.signal);
  }

  /**
   * @param {string | undefined} basePath
   * @param {readonly string[]} logPaths
   * @param {ReadOptions} [options]
   */
  readFileSliceFromPathsStream(basePath, logPaths, options) {
    const { json, signal: caller, ...call } = HudiReadOptions.forEngine(this.#options(options), { stream: true });
    const logs = JSON.stringify(logPaths);
    const handle = this.#handle;
    return new RecordBatchStream(async (signal) => {
      const raw = await handle.run({ ...call, signal }, (table, cancel, event) => table.readPaths(basePath, logs, json, cancel, event));
      return { engine: handle.engine, raw };
    }, caller);
  }

  close() {
    if (this.#own) this.#handle.close();
  }

  [dispose]() {
    this.close();
  }

  #options(/** @type {ReadOptions | undefined} */ given) {
    const options = HudiReadOptions.from(given);
    const missing = Object.entries(this.#base).filter(([key]) => !Object.hasOwn(options.hudiOptions, key));
    return missing.reduce((with_, [key, value]) => with_.withHudiOption(key, value), options);
  }
}
