import { invalid } from './errors.js';
import { callOptions, checkKeys } from './options.js';

/**
 * @typedef {import('./index.d.ts').HudiInstant} HudiInstant
 * @typedef {import('./index.d.ts').TimelineQuery} TimelineQuery
 * @typedef {import('./index.d.ts').CallOptions} CallOptions
 * @typedef {import('./index.d.ts').HudiTimeline} TimelineShape
 * @typedef {HudiInstant & { clustering?: boolean }} Row
 */

/**
 * The instants a handle is pinned to.
 *
 * @implements {TimelineShape}
 */
export class HudiTimeline {
  #handle;
  /** Oldest first. @type {readonly HudiInstant[]} */
  #instants;
  /** Requested times of replacecommits that were clusterings. @type {ReadonlySet<string>} */
  #clusterings;
  #table;

  /**
   * @param {import('./handle.js').Handle} handle
   * @param {{ getSchema(): Promise<import('./index.d.ts').HudiSchema>, getSchemaInAvroStr(): Promise<string> }} table
   */
  constructor(handle, table) {
    const rows = /** @type {Row[]} */ (JSON.parse(handle.call((raw) => raw.timeline())));
    this.#handle = handle;
    this.#table = table;
    this.#clusterings = new Set(rows.filter(({ clustering }) => clustering).map(({ timestamp }) => timestamp));
    this.#instants = rows.map(({ clustering: _, ...instant }) => Object.freeze(instant));
  }

  getCompletedCommits(desc = false) {
    return this.#completed(desc, ({ action }) => action === 'commit');
  }

  getCompletedDeltacommits(desc = false) {
    return this.#completed(desc, ({ action }) => action === 'deltacommit');
  }

  getCompletedReplacecommits(desc = false) {
    return this.#completed(desc, ({ action }) => action === 'replacecommit');
  }

  getCompletedClusteringCommits(desc = false) {
    return this.#completed(desc, ({ timestamp, action }) => action === 'replacecommit' && this.#clusterings.has(timestamp));
  }

  getLatestCommitTimestamp() {
    const data = ['commit', 'deltacommit', 'replacecommit'];
    return this.#completed(true, ({ action }) => data.includes(action))[0]?.timestamp;
  }

  /** @param {TimelineQuery} [query] */
  async getInstants(query = {}) {
    checkKeys(query, ['signal', 'onProgress', 'desc', 'start', 'end', 'limit', 'actions'], 'timeline option');
    const { desc = true, start = '', end = '9', limit = Infinity, actions } = query;
    for (const [name, time] of Object.entries({ start, end })) {
      if (typeof time !== 'string' || !/^\d*$/.test(time)) throw invalid(`${name} is a time as Hudi writes it`);
    }
    // A shorter end takes in all that begins with it, as a time of 14 digits takes in its milliseconds.
    const within = this.#instants.filter(
      ({ timestamp, action }) =>
        timestamp >= start && timestamp.slice(0, end.length) <= end && (actions === undefined || actions.includes(action)),
    );
    return ordered(within, desc).slice(0, limit);
  }

  /**
   * @param {HudiInstant} instant
   * @param {CallOptions} [options]
   */
  async getInstantMetadataInJson(instant, options = {}) {
    const { timestamp, action, state, completionTimestamp } = instant ?? {};
    const wanted = JSON.stringify({ timestamp, action, state, completionTimestamp });
    return this.#handle.run(callOptions(options), (raw, cancel, event) => raw.instantMetadata(wanted, cancel, event));
  }

  getLatestAvroSchema() {
    return this.#table.getSchemaInAvroStr();
  }

  getLatestSchema() {
    return this.#table.getSchema();
  }

  #completed(/** @type {boolean} */ desc, /** @type {(instant: HudiInstant) => boolean} */ wanted) {
    return ordered(this.#instants.filter((instant) => instant.state === 'COMPLETED' && wanted(instant)), desc);
  }
}

function ordered(/** @type {HudiInstant[]} */ instants, /** @type {boolean} */ desc) {
  return desc ? instants.reverse() : instants;
}
