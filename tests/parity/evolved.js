// D: columns that our appends bring or leave out, read by Spark and written on by it.
import { inFolder, row, schema } from './write.js';
import { Table, tableToIPC, vectorFromArray, Float64, Int32, Int64, Utf8 } from 'apache-arrow';
import { rowDifference } from './lib/compare.js';

/**
 * @typedef {import('./scenarios.js').Sides} Sides
 * @typedef {import('./scenarios.js').Outcome} Outcome
 * @typedef {import('./lib/spark.js').Query} Query
 * @typedef {import('./write.js').Shape} Shape
 * @typedef {import('./write.js').City & { note: string | null }} Noted
 */

/** Rows as an IPC stream of the table's types, with the new column or without the older ones. @param {Noted[]} rows @param {string[]} columns */
function arrow(rows, columns) {
  const types = { id: new Int32(), name: new Utf8(), price: new Float64(), ts: new Int64(), city: new Utf8(), note: new Utf8() };
  const of = (/** @type {keyof typeof types} */ name) => vectorFromArray(rows.map((one) => (name === 'ts' ? BigInt(one.ts) : one[name])), /** @type {any} */ (types[name]));
  return tableToIPC(new Table(Object.fromEntries(columns.map((name) => [name, of(/** @type {any} */ (name))]))), 'stream');
}

const all = ['id', 'name', 'price', 'ts', 'city', 'note'];
const cities = ['rome', 'oslo'];

/** Rows with a note, some of which are null. @param {number} from @param {number} to @param {number} [ts] @returns {Noted[]} */
const noted = (from, to, ts = 1) => Array.from({ length: to - from }, (_, at) => ({ ...row(from + at, cities[at % 2] ?? '', ts), note: at % 4 === 0 ? null : `note ${from + at}` }));

/** Both sides read these rows. @param {import('./write.js').Check} check @param {Noted[]} rows @param {string} when @param {Query['filters']} filters */
async function compare(check, rows, when, filters) {
  const { spark, ours } = check.sides;
  const expected = rows.map((one) => ({ ...one, price: one.price === null ? null : Number.isInteger(one.price) ? `${one.price}.0` : `${one.price}` }));
  const query = { queryType: /** @type {const} */ ('snapshot'), projection: all, ...(filters && { filters }) };
  for (const metadata of [true, false]) check.tell(when, `Spark, metadata ${metadata}`, rowDifference(expected, await spark.ask('read', { path: check.table, query, metadata })));
  const mine = await ours.read(check.table, query);
  check.tell(when, 'we', 'rows' in mine ? rowDifference(expected, mine.rows) : `we refuse it (${mine.code}: ${mine.message})`);
}

/**
 * A column that comes with our second append, rows without two of the others, and an upsert of Spark's with all of them.
 *
 * @param {Shape} shape
 * @returns {(sides: Sides) => Promise<Outcome>}
 */
export function columnsCome(shape) {
  return (sides) =>
    inFolder(sides, 'evolved', async (check, table) => {
      const { spark, ours } = sides;
      const cities = ['rome', 'oslo'];
      /** @type {Noted[]} */
      let rows = Array.from({ length: 20 }, (_, id) => ({ ...row(id, cities[id % 2] ?? ''), note: null }));
      const same = (/** @type {string} */ when, /** @type {(one: Noted) => boolean} */ keeps = () => true, /** @type {Query['filters']} */ filters = undefined) => compare(check, rows.filter(keeps), when, filters);
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

/**
 * A column that Spark brings between our appends, so that ranges of it are there for some files of a partition and not for others.
 *
 * @param {Shape} shape
 * @returns {(sides: Sides) => Promise<Outcome>}
 */
export function sparkBringsColumn(shape) {
  return (sides) =>
    inFolder(sides, 'brought', async (check, table) => {
      const { spark, ours } = sides;
      let rows = noted(0, 20).map((one) => ({ ...one, note: /** @type {string | null} */ (null) }));
      const same = (/** @type {string} */ when, /** @type {(one: Noted) => boolean} */ keeps = () => true, /** @type {Query['filters']} */ filters = undefined) => compare(check, rows.filter(keeps), when, filters);
      const upsert = async (/** @type {Noted[]} */ written, op = 'upsert') => {
        const values = written.map((one) => all.map((name) => one[/** @type {keyof Noted} */ (name)]));
        await spark.ask('upsert', { path: table, columns: 'id int, name string, price double, ts long, city string, note string', rows: values, op });
        rows = [...rows.filter(({ id }) => !written.some((one) => one.id === id)), ...written];
      };
      const ask = async (/** @type {string} */ when) => {
        await same(when);
        for (const id of [101, 203, 303]) await same(`${when}, note ${id}`, ({ note }) => note === `note ${id}`, [['note', '=', `note ${id}`]]);
        await same(`${when}, note > note 2`, ({ note }) => note !== null && note > 'note 2', [['note', '>', 'note 2']]);
        await same(`${when}, no note`, ({ note }) => note === null, [['note', 'IS NULL']]);
        await same(`${when}, a note`, ({ note }) => note !== null, [['note', 'IS NOT NULL']]);
      };
      await ours.create(table, { tableName: 'brought', schema: schema('brought'), ...shape });
      await ours.append(table, { rows: rows.map(({ note: _, ...one }) => one) });
      await upsert(noted(100, 109), 'insert');
      await ask('after Spark brought it');
      await ours.append(table, arrow(noted(200, 209), all));
      rows.push(...noted(200, 209));
      await ask('after our append');
      // Only Rome's files, of which one has no note at all.
      const bare = [400, 401].map((id) => ({ ...row(id, 'rome'), note: null }));
      await ours.append(table, arrow(bare, ['id', 'name', 'price', 'ts', 'city']), { widen: true });
      rows.push(...bare);
      await ask('after an append without it');
      await upsert([...noted(300, 309), ...noted(0, 3, 5)]);
      await ours.append(table, arrow(noted(500, 503), all));
      rows.push(...noted(500, 503));
      await ask('at the end');
    });
}
