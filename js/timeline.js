import { invalid } from './errors.js';
import { callOptions, checkKeys } from './options.js';

/**
 * @typedef {import('./index.d.ts').HudiInstant} HudiInstant
 * @typedef {import('./index.d.ts').TimelineEntry} TimelineEntry
 * @typedef {import('./index.d.ts').TimelineQuery} TimelineQuery
 * @typedef {import('./index.d.ts').CallOptions} CallOptions
 * @typedef {import('./index.d.ts').HudiTimeline} TimelineShape
 */

const writes = ['commit', 'deltacommit', 'replacecommit'];

/**
 * The instants a handle is pinned to.
 *
 * @implements {TimelineShape}
 */
export class HudiTimeline {
  #handle;
  #table;
  /** Both oldest first. @type {{ instants: readonly HudiInstant[], clusterings: readonly HudiInstant[] }} */
  #facts;

  /**
   * @param {import('./handle.js').Handle} handle
   * @param {{ getSchema(): Promise<import('./index.d.ts').HudiSchema>, getSchemaInAvroStr(): Promise<string> }} table
   */
  constructor(handle, table) {
    this.#handle = handle;
    this.#table = table;
    this.#facts = JSON.parse(handle.call((raw) => raw.timeline()));
  }

  getCompletedCommits(desc = false) {
    return this.#completed(desc, ['commit']);
  }

  getCompletedDeltacommits(desc = false) {
    return this.#completed(desc, ['deltacommit']);
  }

  getCompletedReplacecommits(desc = false) {
    return this.#completed(desc, ['replacecommit']);
  }

  getCompletedClusteringCommits(desc = false) {
    return ordered(this.#facts.clusterings, desc);
  }

  getLatestCommitTimestamp() {
    return this.#completed(true, writes)[0]?.timestamp;
  }

  /**
   * @param {TimelineQuery} [query]
   * @returns {Promise<TimelineEntry[]>}
   */
  async getInstants(query = {}) {
    const wanted = chosen(query);
    const json = await this.#handle.run(callOptions(query), (raw, cancel, event) => raw.timelineEntries(cancel, event));
    return wanted(/** @type {TimelineEntry[]} */ (JSON.parse(json)));
  }

  /**
   * @param {TimelineQuery} [query]
   * @returns {Promise<import('./index.d.ts').CommitRow[]>}
   */
  async showCommits(query = {}) {
    const completed = this.#facts.instants.filter(({ state, action }) => state === 'COMPLETED' && writes.includes(action));
    const rows = chosen(query)(completed).map(async (instant) => commitRow(instant, JSON.parse(await this.getInstantMetadataInJson(instant, callOptions(query)))));
    return Promise.all(rows);
  }

  /**
   * @param {HudiInstant} instant
   * @param {CallOptions} [options]
   */
  async getInstantMetadataInJson(instant, options = {}) {
    const { timestamp, action } = instant ?? {};
    if (typeof timestamp !== 'string' || typeof action !== 'string') throw invalid('an instant has a timestamp and an action');
    return this.#handle.run(callOptions(options), (raw, cancel, event) => raw.instantMetadata(timestamp, action, cancel, event));
  }

  getLatestAvroSchema() {
    return this.#table.getSchemaInAvroStr();
  }

  getLatestSchema() {
    return this.#table.getSchema();
  }

  #completed(/** @type {boolean} */ desc, /** @type {readonly string[]} */ actions) {
    const wanted = this.#facts.instants.filter(({ state, action }) => state === 'COMPLETED' && actions.includes(action));
    return ordered(wanted, desc);
  }
}

/**
 * A query of the timeline, checked: what it takes of instants, oldest first, in its own order.
 *
 * @param {TimelineQuery} query
 */
function chosen(query) {
  checkKeys(query, ['signal', 'onProgress', 'desc', 'start', 'end', 'limit', 'actions'], 'timeline option');
  const { desc = true, start = '', end = '9', limit = Infinity, actions } = query;
  for (const [name, time] of Object.entries({ start, end })) {
    if (typeof time !== 'string' || !/^\d*$/.test(time)) throw invalid(`${name} is a time as Hudi writes it`);
  }
  // A shorter end takes in all that begins with it, as a time of 14 digits takes in its milliseconds.
  const within = (/** @type {HudiInstant} */ { timestamp, action }) =>
    timestamp >= start && timestamp.slice(0, end.length) <= end && (actions === undefined || actions.includes(action));
  return (/** @template {HudiInstant} T @param {readonly T[]} instants @returns {T[]} */ (instants) => ordered(instants.filter(within), desc).slice(0, limit));
}

/**
 * What a commit did, as `HoodieCommitMetadata` sums it up: a stat without a commit before it is a file added, by the text `null`, else a file updated.
 *
 * @param {HudiInstant} instant
 * @param {{ partitionToWriteStats?: Record<string, Record<string, any>[]> } | null} metadata
 * @returns {import('./index.d.ts').CommitRow}
 */
function commitRow({ timestamp, completionTimestamp, action }, metadata) {
  const partitions = Object.values(metadata?.partitionToWriteStats ?? {});
  const stats = partitions.flat();
  const sum = (/** @type {string} */ field) => stats.reduce((total, stat) => total + Number(stat[field] ?? 0), 0);
  const after = stats.filter(({ prevCommit }) => typeof prevCommit === 'string');
  const added = after.filter(({ prevCommit }) => prevCommit === 'null').length;
  return {
    commitTime: timestamp,
    ...(completionTimestamp !== undefined && { stateTransitionTime: completionTimestamp }),
    action,
    totalBytesWritten: sum('totalWriteBytes'),
    totalFilesAdded: added,
    totalFilesUpdated: after.length - added,
    totalPartitionsWritten: partitions.length,
    totalRecordsWritten: sum('numWrites'),
    totalUpdateRecordsWritten: sum('numUpdateWrites'),
    totalErrors: sum('totalWriteErrors'),
  };
}

/**
 * @template T
 * @param {readonly T[]} instants oldest first
 * @param {boolean} desc
 */
function ordered(instants, desc) {
  return desc ? [...instants].reverse() : [...instants];
}
