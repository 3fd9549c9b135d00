// Which cases there are, what bars they have, and what is said of a case that was measured.
import { median } from './tables.mjs';

/** @typedef {import('./contenders.mjs').Outcome} Outcome */
/** @typedef {import('./server.mjs').Traffic} Traffic */
/** What the runs of one contender gave, the first one first; the traffic is that of the last. @typedef {{ outcomes: Outcome[], traffic: Traffic }} Measured */
/** @typedef {{ runtime: string, name: string, delay: number }} Kind */

export const ours = 'hudi-wasm';
const [opened, ofMemory, link] = ['hudi-wasm, open', 'hudi-wasm, of memory', 'plain fetch'];
const noFilters = 'parquet-wasm';

/** @type {[string, string]} */
const hundredKeys = ['key-0000432100', 'key-0000432199'];

/** @type {Record<string, { columns?: string[], keys?: [string, string] }>} */
export const cases = {
  2: { columns: ['city', 'price'] },
  all: {},
  'keys-all': { keys: hundredKeys },
  'keys-3': { keys: hundredKeys, columns: ['id', 'city', 'price'] },
};
export const coldCase = 'cold';

/**
 * Parts of a peer's time that may be taken, by case and delay: in Chromium by the read of an open handle, in Node by the first answer of
 * a process.
 *
 * @type {Record<string, Record<string, number>>}
 */
const bars = {
  '2 0': { 'parquet-wasm': 0.8, hyparquet: 0.3, 'duckdb-wasm': 0.4 },
  '2 30': { 'parquet-wasm': 0.65, hyparquet: 0.5, 'duckdb-wasm': 0.25 },
  'all 0': { 'parquet-wasm': 0.75, hyparquet: 0.1, 'duckdb-wasm': 0.08 },
  'keys-all 0': { hyparquet: 0.4 },
  'cold 0': { 'parquet-wasm': 0.6, hyparquet: 1.25, 'duckdb-wasm': 0.4 },
};

/** What the read of a range of keys may ask for. @type {Record<string, { requests: number, bytes?: number }>} */
const most = { 'keys-all': { requests: 22, bytes: 1.3e6 }, 'keys-3': { requests: 6 } };

/** Who takes part in a case, each after the other. */
export function readsOf(/** @type {string} */ name, /** @type {string[]} */ peers) {
  const able = peers.filter((peer) => cases[name].keys === undefined || peer !== noFilters);
  return [ours, opened, ofMemory, link, ...able];
}

/** What a table is opened with; all else belongs to the read. */
const opening = /^(hudi-manifest\.json|\.hoodie\/hoodie\.properties|\.hoodie\/timeline\/.*)$/;

const timesOf = (/** @type {Measured | undefined} */ measured) => measured?.outcomes.slice(1).map(({ ms }) => ms) ?? [];

/**
 * Ratios of a time by peer, as text with their bars, and the bars that it misses.
 *
 * @param {number} ms
 * @param {Map<string, number>} peers medians
 * @param {Record<string, number>} allowed
 */
export function compare(ms, peers, allowed) {
  /** @type {Record<string, string>} */
  const columns = {};
  const missed = [];
  for (const [peer, theirs] of peers) {
    const [ratio, bar] = [ms / theirs, allowed[peer]];
    columns[`of ${peer}`] = bar === undefined ? ratio.toFixed(2) : `${ratio.toFixed(2)} (${bar.toFixed(2)})`;
    if (bar !== undefined && ratio > bar) missed.push(`${ratio.toFixed(2)} of the time of ${peer}, where ${bar} is the bar`);
  }
  return { columns, missed };
}

export const barsOf = (/** @type {string} */ name, /** @type {number} */ delay) => bars[`${name} ${delay}`] ?? {};

/**
 * Lines of the report, and what falls short of the bars.
 *
 * @param {Kind} kind
 * @param {Map<string, Measured>} measured
 * @param {string[]} peers
 */
export function judge({ runtime, name, delay }, measured, peers) {
  const medians = new Map([...measured].map(([who, one]) => [who, median(timesOf(one))]));
  const theirs = new Map([...medians].filter(([who]) => peers.includes(who)));
  const what = `${runtime}, ${name}, ${delay} ms`;
  /** @type {Record<string, unknown>[]} */
  const lines = [];
  const short = [];
  for (const [who, { outcomes, traffic }] of measured) {
    const ms = medians.get(who) ?? NaN;
    const { bytes } = outcomes.at(-1) ?? outcomes[0];
    const requests = traffic.paths.filter((path) => !opening.test(path)).length;
    const allowed = who === opened && runtime === 'chromium' ? barsOf(name, delay) : {};
    const own = who === ours || who === opened;
    const { columns, missed } = compare(ms, own ? theirs : new Map(), allowed);
    const mb = (/** @type {number} */ all) => +(all / 1e6).toFixed(2);
    const counts = { requests, ...(bytes !== undefined && { MB: mb(bytes) }), rounds: traffic.rounds, 'all requests': traffic.all, 'all MB': mb(traffic.bytes) };
    lines.push({
      runtime, case: name, delay, who, first: Math.round(outcomes[0].ms), median: +ms.toFixed(1), best: +Math.min(...timesOf(measured.get(who))).toFixed(1), ...columns,
      ...(who !== ofMemory && who !== link && traffic.all > 0 && counts),
    });
    for (const one of missed) short.push(`${what}: ${one}; ${parted(ms, delay, medians, measured)}`);
    if (who === opened) short.push(...counted(name, { requests, bytes }, measured.get('hyparquet')).map((one) => `${what}: ${one}`));
    // With its opening, a read is at least no slower than one without a table.
    const ratio = ms / (theirs.get(noFilters) ?? Infinity);
    if (who === ours && delay === 0 && ratio > 1) short.push(`${what}: ${ratio.toFixed(2)} of the time of ${noFilters} with the opening`);
    // Without delay an answer may end before the next request of the same round has begun; with all columns requests
    // queue for connections, which a server cannot tell from waiting for an answer.
    if (who === ours && delay > 0 && name === '2' && traffic.rounds > 2) short.push(`${what}: ${traffic.rounds} rounds for footer and data`);
  }
  return { lines, short };
}

/**
 * What stands between a time and its bar: decoding in the same wasm, bytes over the link, round trips.
 *
 * @param {number} ms
 * @param {number} delay
 * @param {Map<string, number>} medians
 * @param {Map<string, Measured>} measured
 */
function parted(ms, delay, medians, measured) {
  const [decoding, bytes] = [medians.get(ofMemory) ?? NaN, medians.get(link) ?? NaN];
  const rounds = measured.get(opened)?.traffic.rounds ?? 0;
  const trips = rounds * delay;
  const moved = ((measured.get(link)?.outcomes.at(-1)?.bytes ?? 0) / 1e6).toFixed(1);
  const rest = ms - decoding - bytes - trips;
  const limit = decoding + bytes + trips;
  return `${ms.toFixed(1)} ms are ${decoding.toFixed(1)} of decoding (of memory), ${bytes.toFixed(1)} of ${moved} MB (plain fetch), ${trips} of ${rounds} round trips and ${rest.toFixed(1)} of the rest: ${(ms / limit).toFixed(2)} of the limit`;
}

/**
 * Requests and bytes of a read of keys beyond what is allowed.
 *
 * @param {string} name
 * @param {{ requests: number, bytes?: number }} found
 * @param {Measured | undefined} hyparquet
 */
function counted(name, { requests, bytes = 0 }, hyparquet) {
  const allowed = most[name];
  if (allowed === undefined) return [];
  const short = [];
  const fewest = name === 'keys-all' && hyparquet !== undefined ? Math.min(hyparquet.traffic.requests, allowed.requests) : allowed.requests;
  if (requests > fewest) short.push(`${requests} requests, where ${fewest} are allowed`);
  if (bytes > (allowed.bytes ?? Infinity)) short.push(`${(bytes / 1e6).toFixed(2)} MB, where ${(allowed.bytes ?? 0) / 1e6} are allowed`);
  return short;
}
