// Scenario B: Spark writes a table and answers queries; we read the same folder and must answer alike.
import { difference, rowDifference } from './lib/compare.js';

/**
 * @typedef {import('./lib/spark.js').Entry} Entry
 * @typedef {import('./lib/spark.js').Made} Made
 * @typedef {import('./scenarios.js').Sides} Sides
 * @typedef {import('./scenarios.js').Outcome} Outcome
 */

/**
 * Makes a table and compares every query recorded of it. `sparkDiffers` is for tables where Spark is known to
 * answer differently with the metadata table, elsewhere that too is a failure; `sparkFails` for those where it is known to
 * fail on queries that have an answer, elsewhere we must refuse what Spark refuses; `sparkLoses` for those of which it is known to lose the newest
 * version of rows, and must. `comparable` is what of the rows is compared.
 *
 * @param {(spark: import('./lib/spark.js').Spark) => Promise<Made>} make
 * @param {{ sparkDiffers?: boolean, sparkFails?: boolean, sparkLoses?: boolean, comparable?: (rows: import('./lib/spark.js').Row[]) => import('./lib/spark.js').Row[] }} [known]
 * @returns {(sides: Sides) => Promise<Outcome>}
 */
export function readEvery(make, { sparkDiffers = false, sparkFails = false, sparkLoses = false, comparable = (rows) => rows } = {}) {
  return async ({ spark, ours }) => {
    const made = await make(spark);
    const entries = made.queries.filter((entry) => !(sparkFails && entry.error !== undefined));
    const problems = [];
    let lost = 0;
    for (const entry of entries) {
      if (entry.rowsWithMetadata !== undefined && !sparkDiffers) {
        problems.push(told(made, entry, `Spark reads ${entry.rowsWithMetadata.length} rows with the metadata table, ${entry.rows?.length} without`));
      }
      const answer = await ours.read(made.path, entry.query);
      const theirs = entry.rows === undefined ? entry : { ...entry, rows: comparable(entry.rows) };
      const found = difference(theirs, 'rows' in answer ? { rows: comparable(answer.rows) } : answer);
      if (sparkLoses && found !== undefined && 'rows' in answer && areOlder(entry.rows ?? [], answer.rows)) lost += 1;
      else if (found !== undefined) problems.push(told(made, entry, found));
    }
    const failure = /Without the metadata table Spark fails on .*/.exec(made.note)?.[0];
    if (failure !== undefined && !sparkFails) problems.push(`${made.table} (${made.path})\n${failure}`);
    if (sparkLoses && lost === 0) problems.push(`${made.table}: Spark lost no row`);
    if (entries.length === 0) problems.push(`${made.table}: no query was asked of it`);
    return { queries: entries.length, problems };
  };
}

/** @param {Made} made @param {Entry} entry @param {string} what */
const told = ({ table, note, path }, { query }, what) => `${table} (${path})${note === '' ? '' : `, ${note}`}\n${JSON.stringify(query)}\n${what}`;

/** Whether Spark's rows are those of ours but for older versions of some. @param {import('./lib/spark.js').Row[]} spark @param {import('./lib/spark.js').Row[]} ours */
function areOlder(spark, ours) {
  const theirs = new Map(spark.map((row) => [`${row['_hoodie_record_key']}`, row]));
  const same = (/** @type {import('./lib/spark.js').Row} */ row) => {
    const other = theirs.get(`${row['_hoodie_record_key']}`);
    if (other === undefined) return false;
    return rowDifference([row], [other]) === undefined || String(other['_hoodie_commit_time']) < String(row['_hoodie_commit_time']);
  };
  return spark.length === ours.length && ours.every(same);
}
