// A: what is written without meta fields, and of version 6 plain files alone.
import { cp } from 'node:fs/promises';
import { tableFolder, unpack } from '../wasm/support/fixtures.js';
import { inFolder, row, schema } from './write.js';

/**
 * @typedef {import('./scenarios.js').Sides} Sides
 * @typedef {import('./scenarios.js').Outcome} Outcome
 * @typedef {import('./write.js').Shape} Shape
 */

const columns = ['id', 'name', 'price', 'ts'];
/** The columns of SIMPLE in parity/spark/maker.py. @param {number} id @param {string | null} name @param {number} price @param {number} ts */
const simple = (id, name, price, ts) => ({ id, name, price, ts });

/**
 * A: rows of ours behind those of a table of version 6 that Hudi 0.15.0 made; then rows of Spark, in 0.15.0 without an upgrade.
 *
 * @param {boolean} goesOn whether Spark writes behind us
 * @returns {(sides: Sides) => Promise<Outcome>}
 */
export function narrowVersion6(goesOn) {
  const fixture = 'v6_cow_append_no_meta';
  return (sides) =>
    inFolder(sides, 'narrow', async (check, table) => {
      const { spark, ours } = sides;
      await unpack(fixture);
      await cp(tableFolder(fixture), table, { recursive: true });
      const rows = Array.from({ length: 12 }, (_, at) => simple(at, `n${at % 4}`, (at % 4) + 0.5, Math.floor(at / 4)));
      const query = /** @type {any} */ (rows);
      await check.rows(query, 'before', undefined, columns);
      for (const from of [100, 200]) {
        const more = Array.from({ length: 30 }, (_, at) => simple(from + at, at % 3 === 0 ? null : `ours ${at} é`, at / 4, at));
        await ours.append(table, { rows: more });
        rows.push(...more);
        await check.rows(query, `after ${from}`, undefined, columns);
      }
      if (!goesOn) return;
      const theirs = [simple(300, 'spark', 1.5, 9)];
      const values = theirs.map((one) => [one.id, one.name, one.price, one.ts]);
      const options = { 'hoodie.populate.meta.fields': 'false', 'hoodie.metadata.enable': 'false' };
      await spark.ask('upsert', { path: table, columns: 'id int, name string, price double, ts long', rows: values, op: 'bulk_insert', options });
      rows.push(...theirs);
      await check.rows(query, 'after Spark', undefined, columns);
    });
}

/**
 * A: a new table whose rows have no meta fields.
 *
 * @param {Shape} shape
 * @returns {(sides: Sides) => Promise<Outcome>}
 */
export function withoutMetaFields(shape) {
  return (sides) =>
    inFolder(sides, 'bare', async (check, table) => {
      const { ours } = sides;
      await ours.create(table, { tableName: 'bare', schema: schema('bare'), ...shape, populateMetaFields: false });
      const all = [0, 100, 200].map((from) => Array.from({ length: 40 }, (_, at) => row(from + at, ['rome', 'oslo'][at % 2] ?? '')));
      for (const [at, rows] of all.entries()) {
        await ours.append(table, { rows });
        await check.rows(all.slice(0, at + 1).flat(), `after append ${at + 1}`);
      }
      await check.rows(all.flat().filter(({ id }) => id > 220), 'id > 220', [['id', '>', 220]]);
    });
}
