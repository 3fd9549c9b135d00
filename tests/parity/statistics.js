// G: statistics of ours beside those that Spark keeps of the same rows, as Spark reads both; and its filters over ours, by every type.
import { inFolder } from './write.js';
import { rowDifference } from './lib/compare.js';

/**
 * @typedef {import('./scenarios.js').Sides} Sides
 * @typedef {import('./scenarios.js').Outcome} Outcome
 * @typedef {import('./lib/spark.js').Query} Query
 * @typedef {import('./lib/spark.js').Row} Row
 */

const snapshot = /** @type {Query} */ ({ queryType: 'snapshot' });

/** What differs between two writers of the same rows, or is another's in each file. */
const own = ['_hoodie_commit_time', '_hoodie_file_name', '_hoodie_commit_seqno'];

/**
 * What is kept of each file's columns, under the file's id in place of its name. Sizes are the encoder's affair: only that there are some. Of a NaN alone Spark keeps
 * zeros, by which it then loses the row; ours are as wide as the type, and are left out here.
 *
 * @param {Row[]} found
 * @param {Set<string>} nan
 */
function byFile(found, nan) {
  const ids = new Map(found.filter(({ columnName }) => columnName === 'id').map((row) => [row['fileName'], String(/** @type {any} */ (row['minValue'])?.member6?.value)]));
  const kept = found.filter(({ columnName, fileName }) => !own.includes(String(columnName)) && !nan.has(`${ids.get(fileName)} ${columnName}`));
  return kept.map(({ fileName, totalSize, totalUncompressedSize, ...row }) => ({ ...row, file: ids.get(fileName) ?? 'none', sized: Number(totalSize) > 0 && Number(totalUncompressedSize) > 0 }));
}

/**
 * One file a row, of every type, by both: the rows of the metadata table must be the same.
 *
 * @param {8 | 9} version
 * @returns {(sides: Sides) => Promise<Outcome>}
 */
export function statisticsOfEveryType(version) {
  return (sides) =>
    inFolder(sides, 'counted', async (check, table) => {
      const { spark, ours } = sides;
      const made = await spark.ask('make', { name: 'v9_cow_all_types', kinds: ['snapshot'] });
      const bare = /** @type {[string, string][]} */ (made.schema).map(([name]) => name).filter((name) => !name.startsWith('_hoodie_'));
      const query = { ...snapshot, projection: bare };
      const rows = /** @type {Row[]} */ (await spark.ask('read', { path: made.path, query, metadata: false }));
      const { schema } = await ours.batches(made.path, query);
      await ours.create(table, { tableName: 'counted', schema, tableVersion: version, recordKeyFields: ['id'], orderingFields: ['ord'] });
      for (const { id } of rows) {
        const one = await ours.batches(made.path, { ...query, filters: [['id', '=', String(id)]] });
        await ours.append(table, one.ipc);
      }
      const theirs = `${table}_by_spark`;
      await spark.ask('copy', { path: made.path, to: theirs, by: 'id', version });
      check.tell('all rows', 'Spark', rowDifference(rows, await spark.ask('read', { path: table, query, metadata: true })));
      const nan = new Set(rows.flatMap((row) => Object.keys(row).filter((name) => row[name] === 'nan').map((name) => `${row['id']} ${name}`)));
      const statistics = async (/** @type {string} */ of) => byFile(await spark.ask('statistics', { path: of }), nan);
      const [mine, expected] = [await statistics(table), await statistics(theirs)];
      if (expected.length < rows.length * 10) throw new Error(`Spark kept ${expected.length} statistics of ${rows.length} rows`);
      check.tell('column statistics', 'Spark of both', rowDifference(expected, mine));
      await skipping(check, sides, table, made.schema, rows);
    });
}

/** Filters over each column by values that are there. @param {import('./write.js').Check} check @param {Sides} sides @param {string} table @param {[string, string][]} schema @param {Row[]} rows */
async function skipping(check, { spark, ours }, table, schema, rows) {
  const comparable = /^(boolean|int|bigint|float|double|decimal.*|string|date|timestamp|timestamp_ntz)$/;
  for (const [column, type] of schema.filter(([name, type]) => !name.startsWith('_hoodie_') && comparable.test(type))) {
    const values = rows.map((row) => row[column]).filter((value) => value !== null && value !== 'nan');
    const value = /** @type {any} */ (values[Math.floor(values.length / 2)]);
    for (const operator of /** @type {const} */ (['=', '>', '<='])) {
      const query = { ...snapshot, projection: ['id'], filters: /** @type {any} */ ([[column, operator, value]]) };
      const read = (/** @type {boolean} */ metadata) => spark.ask('read', { path: table, query, metadata });
      const without = await read(false);
      check.tell(`${column} ${operator} ${value} (${type})`, 'Spark with the metadata table', rowDifference(without, await read(true)));
      const mine = await ours.read(table, query);
      check.tell(`${column} ${operator} ${value} (${type})`, 'we', 'rows' in mine ? rowDifference(without, mine.rows) : `we refuse it (${mine.code}: ${mine.message})`);
    }
  }
}
