// The page's questions, answered by the public API of the package over an engine in a worker, and turned into plain data.

import { HudiError } from '../../js/index.js';
import { createHudiWorker } from '../../js/worker/index.js';
import { columnsOf, tableOf } from './cells.js';
import { filesOfTable, folderStore } from './folder_store.js';

/**
 * @typedef {import('../types.js').TableFacts} TableFacts
 * @typedef {import('../types.js').TimelineEntry} TimelineEntry
 * @typedef {import('../types.js').RowsQuestion} RowsQuestion
 * @typedef {import('../../js/index.js').HudiTable} HudiTable
 * @typedef {import('../../js/index.js').CallOptions} CallOptions
 */

export class PageEngine {
  /** @type {HudiTable | undefined} */
  #table;
  #worker = createHudiWorker({
    worker: () => new Worker(new URL('worker.js', import.meta.url), { type: 'module' }),
    module: new URL('core_bg.wasm', import.meta.url),
  });

  /** @param {(event: import('../types.js').RequestInfoEvent) => void} onRequest */
  constructor(onRequest) {
    this.onRequest = onRequest;
  }

  /**
   * The open table stays until another is open.
   * @param {Parameters<import('../types.js').Engine['open']>[0]} question
   * @param {CallOptions} call
   */
  async open({ uri, storage, timezone, guessed = false }, call) {
    const store = storage.type === 'folder' ? folderStore(filesOfTable(storage.files)) : storage;
    const options = { ...call, storage: store, onRequest: this.onRequest, ...(timezone && { timezone }) };
    try {
      return await this.#take(await this.#worker.HudiTable.open(uri, options), call);
    } catch (error) {
      // Nobody named this manifest: what is said of the address alone tells more than that it is not there.
      const guess = guessed && HudiError.is(error, 'NOT_FOUND') && error.path?.includes('manifest');
      if (!guess || storage.type !== 'http') throw error;
      return this.#take(await this.#worker.HudiTable.open(uri, { ...options, storage: { ...storage, listing: 'none' } }), call);
    }
  }

  /** @param {RowsQuestion} question @param {CallOptions} call */
  async rows({ asOf, filters, projection, limit, readOptimized }, call) {
    const options = {
      ...call,
      filters,
      limit,
      ...(asOf !== undefined && { asOf }),
      ...(projection.length > 0 && { projection }),
      ...(readOptimized && { readOptimized }),
    };
    const result = await this.#held().read(options);
    return { ...tableOf(result.ipc), metrics: { ...result.metrics } };
  }

  /** @param {{ asOf: string | undefined }} question @param {CallOptions} call */
  async slices({ asOf }, call) {
    const slices = await this.#held().getFileSlices({ ...call, ...(asOf !== undefined && { asOf }) });
    return slices.map((slice) => ({ ...slice }));
  }

  avro() {
    return this.#held().getSchemaInAvroStr();
  }

  /** @param {TimelineEntry} entry @param {CallOptions} call */
  instant(entry, call) {
    return this.#held().getTimeline().getInstantMetadataInJson(entry, call);
  }

  #held() {
    if (!this.#table) throw Object.assign(new Error('no table is open here any more'), { code: 'DISPOSED' });
    return this.#table;
  }

  /** @param {HudiTable} table @param {CallOptions} call @returns {Promise<TableFacts>} */
  async #take(table, call) {
    const facts = await factsOf(table, call);
    this.#table?.close();
    this.#table = table;
    return facts;
  }
}

/** @param {HudiTable} table @param {CallOptions} call @returns {Promise<TableFacts>} */
async function factsOf(table, call) {
  const timeline = table.getTimeline();
  const options = table.hudiOptions();
  const instants = await timeline.getInstants({ ...call, desc: false });
  // One after the other: the second finds in the cache what the first fetched.
  const bare = await table.getSchema();
  const whole = await table.getSchemaWithMetaFields();
  const columns = columnsOf(bare.ipc);
  const own = new Set(columns.map(({ name }) => name));
  return {
    name: table.tableName,
    type: table.tableType,
    version: table.tableVersion,
    timezone: options['hoodie.table.timeline.timezone'] ?? 'LOCAL',
    newest: timeline.getLatestCommitTimestamp(),
    instants: instants.map((entry) => ({ ...entry })).sort((a, b) => (a.timestamp < b.timestamp ? -1 : 1)),
    clusterings: timeline.getCompletedClusteringCommits().map(({ timestamp }) => timestamp),
    columns,
    metaColumns: columnsOf(whole.ipc).filter(({ name }) => !own.has(name)),
    // A custom key generator writes a field's kind behind a colon.
    partitionFields: list(options['hoodie.table.partition.fields']).map((field) => field.replace(/:.*$/, '')),
    keyFields: list(options['hoodie.table.recordkey.fields']),
    orderingFields: list(options['hoodie.table.ordering.fields'] ?? options['hoodie.table.precombine.field']),
  };
}

/** @param {string | undefined} text */
const list = (text) =>
  (text ?? '')
    .split(',')
    .map((one) => one.trim())
    .filter(Boolean);
