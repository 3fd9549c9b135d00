// Asks the package what Spark was asked; runs wherever the package does.
import { tableFromIPC } from 'apache-arrow';
import { rows, sorted, textOf } from './canonical.js';

/**
 * Runs the recorded queries of one table and tells of each that went wrong; nothing told is all well.
 *
 * @param {any} hudi the package
 * @param {string} uri
 * @param {object} options to open it with
 * @param {import('./fixtures.js').Recorded[]} queries
 * @returns {Promise<string[]>}
 */
export async function faultsOf(hudi, uri, options, queries) {
  const table = await hudi.HudiTable.open(uri, options);
  const faults = [];
  for (const recorded of queries) {
    const fault = await faultOf(hudi, table, recorded);
    if (fault !== undefined) faults.push(`${recorded.table} ${JSON.stringify(recorded.query)}: ${fault}`);
  }
  table.close();
  return faults;
}

async function faultOf(/** @type {any} */ hudi, /** @type {any} */ table, /** @type {import('./fixtures.js').Recorded} */ recorded) {
  let result;
  try {
    result = await table.read(recorded.query);
  } catch (error) {
    return hudi.HudiError.is(error, recorded.code) && recorded.code !== undefined ? undefined : String(error);
  }
  if (recorded.code !== undefined) return `was not refused with ${recorded.code}`;
  const found = /** @type {any[]} */ (rows(tableFromIPC(result.ipc)));
  if (recorded.rows !== undefined) return difference(found, sorted(recorded.rows));
  if (found.length !== recorded.count) return `${found.length} rows, not ${recorded.count}`;
  const all = new Set(found.map(textOf));
  const missing = recorded.sample?.find((row) => !all.has(textOf(row)));
  if (missing !== undefined) return `misses ${JSON.stringify(missing)}`;
  for (const [column, sum] of Object.entries(recorded.sums ?? {})) {
    const ours = found.reduce((/** @type {number} */ total, row) => total + hundredths(row[column]), 0);
    if (ours !== hundredths(sum)) return `the sum of ${column} is ${ours / 100}, not ${sum}`;
  }
  return undefined;
}

/** A number in hundredths; of a text its length, unless it is a decimal. */
function hundredths(/** @type {unknown} */ value) {
  const number = Number(value);
  return typeof value === 'string' && Number.isNaN(number) ? [...value].length * 100 : Math.round(number * 100);
}

/** The first row that differs, both ways of it; keys in any order. */
function difference(/** @type {any[]} */ ours, /** @type {any[]} */ theirs) {
  const at = theirs.findIndex((row, i) => textOf(row) !== textOf(ours[i]));
  if (at >= 0) return `row ${at} is ${textOf(ours[at])}, Spark's is ${textOf(theirs[at])}`;
  return ours.length === theirs.length ? undefined : `${ours.length} rows, not ${theirs.length}`;
}
