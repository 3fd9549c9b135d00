// Instants as the page shows them. An instant is digits of the timeline's own clock: nothing here converts a zone.

/** @typedef {import('../types.js').TimelineEntry} TimelineEntry */

/**
 * Milliseconds on the instant's own clock, for placing it on an axis; undefined for what is no instant (the metadata table's
 * bootstrap instant is all zeros).
 * @param {string} digits `yyyyMMddHHmmss` or `yyyyMMddHHmmssSSS`
 * @returns {number | undefined}
 */
export function clock(digits) {
  const parts = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d{3})?/.exec(digits);
  if (!parts) return undefined;
  const [year, month, day, hour, minute, second, milli = 0] = parts.slice(1).map((part) => Number(part ?? 0));
  const at = Date.UTC(year ?? 0, (month ?? 1) - 1, day, hour, minute, second, milli);
  return month && Number.isFinite(at) ? at : undefined;
}

/** `2026-11-29 10:42:17.120`, on the instant's own clock. @param {string} digits */
export function full(digits) {
  const at = clock(digits);
  if (at === undefined) return digits;
  const text = new Date(at).toISOString().replace('T', ' ').replace('Z', '');
  return digits.length >= 17 ? text : text.slice(0, 19);
}

/** `10:42:17.120`: the time alone, where the day is said elsewhere. @param {string} digits */
export const short = (digits) => full(digits).slice(11) || digits;

/** The zone's name beside the axis. @param {string} timezone */
export const zoneName = (timezone) => (timezone.toUpperCase() === 'UTC' ? 'UTC' : "writer's clock");

/** @typedef {'writes' | 'services' | 'clean-up'} Lane */

const lanes = /** @type {Record<string, Lane>} */ ({
  compaction: 'services',
  logcompaction: 'services',
  clustering: 'services',
  indexing: 'services',
  clean: 'clean-up',
  rollback: 'clean-up',
  restore: 'clean-up',
  savepoint: 'clean-up',
  archive: 'clean-up',
});

/**
 * What an instant did, in Hudi's words, told from its action and what the table is: a completed replacecommit may be a
 * clustering, and a commit of a merge-on-read table is a compaction.
 * @param {TimelineEntry} entry
 * @param {{ type: string, clusterings: readonly string[] }} table
 */
export function actionName(entry, table) {
  if (entry.action === 'replacecommit' && table.clusterings.includes(entry.timestamp)) return 'clustering';
  if (entry.action === 'commit' && table.type === 'MERGE_ON_READ') return 'compaction';
  return entry.action;
}

/** @param {string} action @returns {Lane} */
export const laneOf = (action) => lanes[action] ?? 'writes';

/** The colour token of an action, without its dashes. @param {string} action */
export function hueOf(action) {
  if (action === 'replacecommit' || action === 'clustering') return 'replace';
  if (action === 'compaction' || action === 'logcompaction') return 'compaction';
  if (action === 'rollback' || action === 'restore') return 'rollback';
  if (action === 'commit' || action === 'deltacommit') return action;
  return 'clean';
}

/** @param {TimelineEntry} entry */
export const isPending = (entry) => entry.state !== 'COMPLETED';
