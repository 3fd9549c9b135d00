// D: columns that our appends bring or leave out, read by Spark and written on by it.
import { inFolder, row, schema } from './write.js';
import { Table, tableToIPC, vectorFromArray, Float64, Int32, Int64, Utf8 } from 'apache-arrow';
import { rowDifference } from './lib/compare.js';

/**
 * @typedef {import('./scenarios.js').Sides} Sides
 * @typedef {import('./scenarios.js').Outcome} Outcome
 * @typedef {import('./write.js').Shape} Shape
 * @typedef {import('./write.js').City & { note: string | null }} Noted
 */

/** Rows as an IPC stream of the table's types, with the new column or without the older ones. @param {Noted[]} rows @param {string[]} columns */
function arrow(rows, columns) {
  const types = { id: new Int32(), name: new Utf8(), price: new Float64(), ts: new Int64(), city: new Utf8(), note: new Utf8() };
  const of = (/** @type {keyof typeof types} */ name) => vectorFromArray(rows.map((one) => (name === 'ts' ? BigInt(one.ts) : one[name])), /** @type {any} */ (types[name]));
  return tableToIPC(new Table(Object.fromEntries(columns.map((name) => [name, of(/** @type {any} */ (name))]))), 'stream');
}

/**
 * A column that comes with our second append, rows without two of the others, and an upsert of Spark's with all of them.
 *
 * @param {Shape} shape
 * @returns {(sides: Sides) => Promise<Outcome>}
 */
export function columnsCome(shape) {
  const all = ['id', 'name', 'price', 'ts', 'city', 'note'];
  return (sides) =>
    inFolder(sides, 'evolved', async (check, table) => {
      const { spark, ours } = sides;
      const cities = ['rome', 'oslo'];
      /** @type {Noted[]} */
      let rows = Array.from({ length: 20 }, (_, id) => ({ ...row(id, cities[id % 2] ?? ''), note: null }));
      const same = async (/** @type {string} */ when, /** @type {(one: Noted) => boolean} */ keeps = () => true, /** @type {any} */ filters = undefined) => {
        const expected = rows.filter(keeps).map((one) => ({ ...one, price: one.price === null ? null : Number.isInteger(one.price) ? `${one.price}.0` : `${one.price}` }));
        const query = { queryType: /** @type {const} */ ('snapshot'), projection: all, ...(filters && { filters }) };
        for (const metadata of [true, false]) check.tell(when, `Spark, metadata ${metadata}`, rowDifference(expected, await spark.ask('read', { path: table, query, metadata })));
        const mine = await ours.read(table, query);
        check.tell(when, 'we', 'rows' in mine ? rowDifference(expected, mine.rows) : `we refuse it (${mine.code}: ${mine.message})`);
      };
      await ours.create(table, { tableName: 'evolved', schema: schema('evolved'), ...shape });
      await ours.append(table, { rows: rows.map(({ note: _, ...one }) => one) });
      const noted = Array.from({ length: 9 }, (_, at) => ({ ...row(100 + at, cities[at % 2] ?? ''), note: at % 4 === 0 ? null : `note ${at}` }));
      await ours.append(table, arrow(noted, all), { widen: true });
      rows.push(...noted);
      await same('after a new column');
      const narrow = [200, 201].map((id) => ({ .../** @type {any} */ (row(id, 'rome')), name: null, price: null, note: null }));
      await ours.append(table, arrow(narrow, ['id', 'ts', 'city']), { widen: true });
      rows.push(...narrow);
      await same('after columns left out');
      await same('note = note 5', ({ note }) => note === 'note 5', [['note', '=', 'note 5']]);
      await same('note is null', ({ note }) => note === null, [['note', 'IS NULL']]);
      await same('note is not null', ({ note }) => note !== null, [['note', 'IS NOT NULL']]);
      const upserted = [3, 101, 201, 300].map((id) => ({ ...row(id, cities[id % 2] ?? '', 5), city: id === 201 ? 'rome' : cities[id % 2] ?? '', note: `upserted ${id}` }));
      upserted[1] = { ...upserted[1], city: 'oslo' };
      const values = upserted.map((one) => all.map((name) => one[/** @type {keyof Noted} */ (name)]));
      await spark.ask('upsert', { path: table, columns: 'id int, name string, price double, ts long, city string, note string', rows: values });
      rows = [...rows.filter(({ id }) => !upserted.some((one) => one.id === id)), ...upserted];
      await same('after an upsert');
      await same('note = upserted 3', ({ note }) => note === 'upserted 3', [['note', '=', 'upserted 3']]);
      await same('note = note 5 again', ({ note }) => note === 'note 5', [['note', '=', 'note 5']]);
    });
}
