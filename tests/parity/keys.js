// D: Spark's upserts find every key of ours by the record index that we wrote.
import { inFolder, row, schema } from './write.js';

/**
 * @typedef {import('./scenarios.js').Sides} Sides
 * @typedef {import('./scenarios.js').Outcome} Outcome
 * @typedef {import('./write.js').City} City
 */

const cities = ['rome', 'oslo', 'são paulo'];
const count = 1200;

/** Keys with characters of one, two, three and four bytes, and those that hashes and HFiles sort apart. @param {number} id @returns {City} */
const keyed = (id) => ({ ...row(id, cities[id % cities.length] ?? ''), name: `${['a', 'ключ', '日本', '😀', 'é|'][id % 5]}-${id}` });

const options = {
  'hoodie.index.type': 'RECORD_INDEX',
  'hoodie.metadata.record.index.enable': 'true',
  // A key that comes with another partition moves there.
  'hoodie.record.index.update.partition.path': 'true',
};

/**
 * Twelve hundred keys in three appends; then Spark upserts all of them, some into another partition, and fifty new ones.
 *
 * @param {string[]} keys the record key's fields
 * @param {boolean} parts
 * @returns {(sides: Sides) => Promise<Outcome>}
 */
export function foundByKey(keys, parts) {
  return (sides) =>
    inFolder(sides, 'keyed', async (check, table) => {
      const { spark, ours } = sides;
      const shape = { recordKeyFields: keys, orderingFields: ['ts'], ...(parts && { partitionFields: ['city'], hiveStylePartitioning: true }) };
      await ours.create(table, { tableName: 'keyed', schema: schema('keyed'), ...shape });
      const all = Array.from({ length: count }, (_, id) => keyed(id));
      for (let from = 0; from < count; from += 400) await ours.append(table, { rows: all.slice(from, from + 400) });
      const more = Array.from({ length: 50 }, (_, id) => keyed(count + id));
      const changed = [...all, ...more].map((one) => ({ ...one, price: one.price + 1000, ts: 2, city: one.id % 10 === 0 ? 'bern' : one.city }));
      const values = changed.map((one) => [one.id, one.name, one.price, one.ts, one.city]);
      await spark.ask('upsert', { path: table, columns: 'id int, name string, price double, ts long, city string', rows: values, options });
      await check.rows(changed, 'after an upsert of every key');
      await ours.append(table, { rows: [keyed(5000)] });
      await check.rows([...changed, keyed(5000)], 'after an append behind it');
    });
}
