// Scenarios A, C, D, G and J: we write, alone or in turn with Spark, and Spark reads what we read, with the metadata table and without;
// hudi-rs reads it too.
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { must } from '../../scripts/lib/run.mjs';
import { hudiRs } from '../../scripts/lib/spark.mjs';
import { rowDifference } from './lib/compare.js';

/**
 * @typedef {import('./scenarios.js').Sides} Sides
 * @typedef {import('./scenarios.js').Outcome} Outcome
 * @typedef {import('./lib/spark.js').Query} Query
 * @typedef {import('./lib/spark.js').Row} Row
 * @typedef {{ id: number, name: string | null, price: number, ts: number, city: string }} City
 * @typedef {Omit<import('../../js/index.d.ts').CreateOptions, 'tableName' | 'schema'>} Shape
 */

const snapshot = /** @type {Query} */ ({ queryType: 'snapshot' });
const columns = ['id', 'name', 'price', 'ts', 'city'];

/** The columns of a table of cities, as Spark would commit them. @param {string} table */
export const schema = (table) =>
  JSON.stringify({
    type: 'record',
    name: `${table}_record`,
    namespace: `hoodie.${table}`,
    fields: [['id', 'int'], ['name', 'string'], ['price', 'double'], ['ts', 'long'], ['city', 'string']].map(([name, type]) => ({ name, type: ['null', type], default: null })),
  });

/** What follows from an id, with nulls and text beyond ASCII among it. @param {number} id @param {string} city @param {number} [ts] @returns {City} */
export const row = (id, city, ts = 1) => ({ id, name: id % 7 === 3 ? null : `n${id} ä€`, price: id / 4, ts, city });
const cities = ['rome', 'oslo', 'são paulo'];
const some = (/** @type {number} */ from, /** @type {number} */ to, ts = 1) => Array.from({ length: to - from }, (_, i) => row(from + i, cities[(from + i) % cities.length] ?? '', ts));

/** Rows as both sides are compared with: the canonical form of tests/README.md. @param {City[]} rows @returns {Row[]} */
const canonical = (rows) => rows.map((one) => ({ ...one, price: Number.isInteger(one.price) ? `${one.price}.0` : `${one.price}` }));

/** The table's shape by what a scenario's name says of it. @param {{ mor: boolean, parts: boolean, version: 8 | 9 }} of @returns {Shape} */
export const shapeOf = ({ mor, parts, version }) => ({
  tableType: mor ? 'MERGE_ON_READ' : 'COPY_ON_WRITE',
  tableVersion: version,
  recordKeyFields: ['id'],
  orderingFields: ['ts'],
  ...(parts && { partitionFields: ['city'], hiveStylePartitioning: true }),
});

/** What a scenario asks of both sides as it goes. */
export class Check {
  queries = 0;
  /** @type {string[]} */
  problems = [];

  /** @param {Sides} sides @param {string} table */
  constructor(sides, table) {
    this.sides = sides;
    this.table = table;
  }

  /**
   * Spark's rows, with the metadata table and without, and ours, against those that follow from what was written.
   *
   * @param {City[]} written
   * @param {string} when
   * @param {Query['filters']} [filters]
   * @param {string[]} [projection]
   */
  async rows(written, when, filters, projection = columns) {
    const { spark, ours } = this.sides;
    const query = { ...snapshot, projection, ...(filters && { filters }) };
    const expected = canonical(written);
    const read = (/** @type {boolean} */ metadata) => spark.ask('read', { path: this.table, query, metadata });
    this.tell(when, 'Spark with the metadata table', rowDifference(expected, await read(true)));
    this.tell(when, 'Spark without the metadata table', rowDifference(expected, await read(false)));
    const mine = await ours.read(this.table, query);
    this.tell(when, 'we', 'rows' in mine ? rowDifference(expected, mine.rows) : `we refuse it (${mine.code}: ${mine.message})`);
  }

  /** Spark's rows of all columns, meta fields too, against ours. @param {string} when */
  async meta(when) {
    const { spark, ours } = this.sides;
    const mine = await ours.read(this.table, snapshot);
    const theirs = await spark.ask('read', { path: this.table, query: snapshot, metadata: true });
    this.tell(when, 'meta fields', 'rows' in mine ? rowDifference(theirs, mine.rows) : `we refuse it (${mine.code}: ${mine.message})`);
  }

  /** At least so many of something. @param {number} found @param {number} least @param {string} what */
  some(found, least, what) {
    this.tell('counting', what, found >= least ? undefined : `${found} of ${least}`);
  }

  /** @param {string} when @param {string} who @param {string | undefined} what how rows differ */
  tell(when, who, what) {
    this.queries += 1;
    if (what !== undefined) this.problems.push(`${this.table}, ${when}, ${who}\n${what}`);
  }

  /** @returns {Outcome} */
  get outcome() {
    return { queries: this.queries, problems: this.problems };
  }
}

/** A folder for one table, which goes when nothing failed in it. @param {Sides} sides @param {string} name @param {(check: Check, table: string) => Promise<void>} steps @returns {Promise<Outcome>} */
export async function inFolder(sides, name, steps) {
  const top = await mkdtemp(path.join(tmpdir(), 'hudi-written-'));
  const table = path.join(top, name);
  await mkdir(table);
  const check = new Check(sides, table);
  await steps(check, table);
  if (check.problems.length === 0) await rm(top, { recursive: true });
  return check.outcome;
}

/**
 * A: a table made here and appended to three times, once with more than a file.
 *
 * @param {Shape} shape
 * @returns {(sides: Sides) => Promise<Outcome>}
 */
export function weWrite(shape) {
  return (sides) =>
    inFolder(sides, 'written', async (check, table) => {
      const { ours } = sides;
      await ours.create(table, { tableName: 'written', schema: schema('written'), ...shape });
      await check.rows([], 'empty');
      const parts = [some(0, 10), some(10, 3000), some(3000, 3003, 2)];
      for (const [at, rows] of parts.entries()) {
        await ours.append(table, { rows });
        await check.rows(parts.slice(0, at + 1).flat(), `after append ${at + 1}`);
      }
      await check.meta('at the end');
    });
}

/**
 * A: a table whose metadata table is compacted by our appends, then found by its record index, upserted into and compacted again by
 * Spark, and by us once more.
 *
 * @param {Shape} shape
 * @returns {(sides: Sides) => Promise<Outcome>}
 */
export function weCompact(shape) {
  return (sides) =>
    inFolder(sides, 'compacted', async (check, table) => {
      const { spark, ours } = sides;
      /** @type {Map<number, City>} */
      const rows = new Map();
      const keep = (/** @type {City[]} */ written) => written.forEach((one) => rows.set(one.id, one));
      const hudiOptions = { 'hoodie.metadata.compact.max.delta.commits': '3' };
      const append = async (/** @type {City[]} */ written) => {
        await ours.append(table, { rows: written }, { hudiOptions });
        keep(written);
      };
      await ours.create(table, { tableName: 'compacted', schema: schema('compacted'), ...shape });
      for (let at = 0; at < 5; at += 1) await append(some(at * 50, at * 50 + 50));
      check.some(await compactions(table), 2, 'our compactions');
      await check.rows([...rows.values()], 'after our compactions');
      await check.rows([...rows.values()].filter(({ id }) => id === 77), 'a key', [['id', '=', 77]]);
      const options = { ...hudiOptions, 'hoodie.index.type': 'RECORD_INDEX', 'hoodie.metadata.record.index.enable': 'true' };
      for (const ts of [2, 3, 4, 5]) {
        const written = [...some(ts * 20, ts * 20 + 30, ts), ...some(1000 * ts, 1000 * ts + 5, ts)];
        const values = written.map((one) => [one.id, one.name, one.price, one.ts, one.city]);
        await spark.ask('upsert', { path: table, columns: 'id int, name string, price double, ts long, city string', rows: values, options });
        keep(written);
      }
      check.some(await compactions(table), 3, "Spark's compactions after ours");
      await check.rows([...rows.values()], "after Spark's compaction");
      for (let at = 10; at < 14; at += 1) await append(some(at * 50, at * 50 + 50, 9));
      await check.rows([...rows.values()], 'at the end');
      await check.meta('at the end');
    });
}

/** Compactions of a table's metadata table. @param {string} table */
const compactions = (table) => ownInstants(table, '.commit');

/** Completed instants of a table's metadata table whose file ends so. @param {string} table @param {string} end */
async function ownInstants(table, end) {
  const names = await readdir(path.join(table, '.hoodie/metadata/.hoodie/timeline'));
  return names.filter((name) => name.endsWith(end)).length;
}

/**
 * A: a table whose metadata table is compacted, cleaned and archived by our appends, then upserted into by Spark, which compacts, cleans and archives it
 * further, and by us once more.
 *
 * @param {Shape} shape
 * @returns {(sides: Sides) => Promise<Outcome>}
 */
export function weKeep(shape) {
  return (sides) =>
    inFolder(sides, 'kept', async (check, table) => {
      const { spark, ours } = sides;
      const hudiOptions = {
        'hoodie.metadata.compact.max.delta.commits': '4',
        'hoodie.keep.min.commits': '2',
        'hoodie.keep.max.commits': '3',
        'hoodie.clean.commits.retained': '1',
      };
      /** @type {Map<number, City>} */
      const rows = new Map();
      const keep = (/** @type {City[]} */ written) => written.forEach((one) => rows.set(one.id, one));
      const append = async (/** @type {number} */ at) => {
        const written = some(at * 10, at * 10 + 10);
        await ours.append(table, { rows: written }, { hudiOptions });
        keep(written);
      };
      const archived = async () => (await readdir(path.join(table, '.hoodie/metadata/.hoodie/timeline/history'))).filter((name) => name.endsWith('.parquet')).length;
      await ours.create(table, { tableName: 'kept', schema: schema('kept'), ...shape });
      for (let at = 0; at < 28; at += 1) await append(at);
      check.some(await ownInstants(table, '.clean'), 1, 'our cleans of the metadata table');
      check.some(await archived(), 1, 'our archives of the metadata table');
      await check.rows([...rows.values()], 'after our services');
      await check.rows([...rows.values()].filter(({ id }) => id === 77), 'a key', [['id', '=', 77]]);
      const options = { ...hudiOptions, 'hoodie.index.type': 'RECORD_INDEX', 'hoodie.metadata.record.index.enable': 'true' };
      const before = await archived();
      for (let ts = 2; ts < 14; ts += 1) {
        const written = [...some(ts * 5, ts * 5 + 10, ts), ...some(1000 * ts, 1000 * ts + 2, ts)];
        const values = written.map((one) => [one.id, one.name, one.price, one.ts, one.city]);
        await spark.ask('upsert', { path: table, columns: 'id int, name string, price double, ts long, city string', rows: values, options });
        keep(written);
      }
      check.some(await archived(), before + 1, "Spark's archives of the metadata table after ours");
      await check.rows([...rows.values()], "after Spark's services");
      for (let at = 50; at < 56; at += 1) await append(at);
      await check.rows([...rows.values()], 'at the end');
      await check.meta('at the end');
    });
}

/**
 * A: a table of Spark's copied by way of Arrow, so that every type that Spark writes is written here.
 *
 * @param {string} recipe
 * @returns {(sides: Sides) => Promise<Outcome>}
 */
export function weCopy(recipe) {
  return (sides) =>
    inFolder(sides, 'copied', async (check, table) => {
      const { spark, ours } = sides;
      const made = await spark.ask('make', { name: recipe, kinds: ['snapshot'] });
      const bare = /** @type {[string, string][]} */ (made.schema).map(([name]) => name).filter((name) => !name.startsWith('_hoodie_'));
      const query = { ...snapshot, projection: bare };
      const { ipc, schema } = await ours.batches(made.path, query);
      await ours.create(table, { tableName: 'copied', schema, recordKeyFields: ['id'], orderingFields: ['ts'] });
      await ours.append(table, ipc);
      const theirs = await spark.ask('read', { path: made.path, query, metadata: false });
      for (const metadata of [true, false]) {
        const found = rowDifference(theirs, await spark.ask('read', { path: table, query, metadata }));
        check.queries += 1;
        if (found !== undefined) check.problems.push(`${table}, metadata ${metadata}\n${found}`);
      }
    });
}

/**
 * D: appends of ours between Spark's inserts and upserts, on a table that Spark or we began.
 *
 * @param {Shape} shape
 * @param {{ spark: boolean, options?: Record<string, string> }} begun by whom, and Hudi's options for Spark's writes
 * @returns {(sides: Sides) => Promise<Outcome>}
 */
export function inTurn(shape, { spark: begins, options = {} }) {
  return (sides) =>
    inFolder(sides, 'turns', async (check, table) => {
      const { spark, ours } = sides;
      /** @type {Map<number, City>} */
      const rows = new Map();
      const keep = (/** @type {City[]} */ written) => written.forEach((one) => rows.set(one.id, one));
      const upsert = async (/** @type {City[]} */ written) => {
        const values = written.map((one) => [one.id, one.name, one.price, one.ts, one.city]);
        await spark.ask('upsert', { path: table, columns: 'id int, name string, price double, ts long, city string', rows: values, options });
        keep(written);
      };
      const append = async (/** @type {City[]} */ written) => {
        await ours.append(table, { rows: written });
        keep(written);
      };
      await ours.create(table, { tableName: 'turns', schema: schema('turns'), ...shape });
      if (begins) await upsert(some(0, 20));
      else await append(some(0, 20));
      await append(some(20, 40));
      // Keys of both writers, and new ones.
      await upsert([...some(5, 8, 2), ...some(25, 30, 2), ...some(40, 45, 2)]);
      await check.rows([...rows.values()], 'after an upsert');
      await append(some(45, 60, 3));
      await upsert([...some(0, 3, 4), ...some(58, 62, 4)]);
      await check.rows([...rows.values()], 'at the end');
      await check.meta('at the end');
    });
}

/** Services of Spark, which a write of its own begins, and the file of a completed one. */
const sparkServices = {
  clustering: { on: { 'hoodie.clustering.inline': 'true', 'hoodie.clustering.inline.max.commits': '1' }, done: /^\d+_\d+\.(replacecommit|clusteringcommit)$/ },
  compaction: { on: { 'hoodie.compact.inline': 'true', 'hoodie.compact.inline.max.delta.commits': '1' }, done: /^\d+_\d+\.commit$/ },
};

/**
 * Spark clusters or compacts what we appended and it changed, then both go on, and it does so again.
 *
 * @param {Shape} shape
 * @param {keyof typeof sparkServices} service
 * @returns {(sides: Sides) => Promise<Outcome>}
 */
export function weAreServed(shape, service) {
  const { on, done } = sparkServices[service];
  return (sides) =>
    inFolder(sides, service, async (check, table) => {
      const { spark, ours } = sides;
      /** @type {Map<number, City>} */
      const rows = new Map();
      const keep = (/** @type {City[]} */ written) => written.forEach((one) => rows.set(one.id, one));
      const append = async (/** @type {City[]} */ written) => {
        await ours.append(table, { rows: written });
        keep(written);
      };
      const upsert = async (/** @type {City[]} */ written) => {
        const values = written.map((one) => [one.id, one.name, one.price, one.ts, one.city]);
        await spark.ask('upsert', { path: table, columns: 'id int, name string, price double, ts long, city string', rows: values, options: on });
        keep(written);
      };
      const times = async () => (await readdir(path.join(table, '.hoodie', 'timeline'))).filter((name) => done.test(name)).length;
      await ours.create(table, { tableName: service, schema: schema(service), ...shape });
      for (const at of [0, 20, 40]) await append(some(at, at + 20));
      await upsert([...some(0, 10, 2), ...some(60, 70, 2)]);
      await upsert(some(20, 30, 2));
      check.some(await times(), 1, `${service} of our files`);
      await check.rows([...rows.values()], `after a ${service}`);
      await check.rows([...rows.values()].filter(({ id }) => id === 7), 'a key', [['id', '=', 7]]);
      await append(some(80, 95, 3));
      await check.rows([...rows.values()], 'after we went on');
      await upsert([...some(5, 15, 4), ...some(85, 90, 4)]);
      check.some(await times(), 2, `${service} of what both wrote`);
      await append(some(100, 110, 5));
      await check.rows([...rows.values()], 'at the end');
      await check.meta('at the end');
    });
}

/**
 * C: a table that Spark upserts into and whose metadata table it compacts is cleaned, archived and rolled back by us, and Spark goes on with it, with
 * cleans and archives of its own.
 *
 * @param {Shape} shape
 * @returns {(sides: Sides) => Promise<Outcome>}
 */
export function weServe(shape) {
  return (sides) =>
    inFolder(sides, 'served', async (check, table) => {
      const { spark, ours } = sides;
      const keep = { 'hoodie.keep.min.commits': '2', 'hoodie.keep.max.commits': '3', 'hoodie.clean.commits.retained': '1' };
      /** @type {Map<number, City>} */
      const rows = new Map();
      const upsert = async (/** @type {City[]} */ written, /** @type {Record<string, string>} */ options) => {
        const values = written.map((one) => [one.id, one.name, one.price, one.ts, one.city]);
        await spark.ask('upsert', { path: table, columns: 'id int, name string, price double, ts long, city string', rows: values, options });
        written.forEach((one) => rows.set(one.id, one));
      };
      const append = (/** @type {City[]} */ written) => ours.append(table, { rows: written }, { hudiOptions: keep });
      const instants = async () => (await readdir(path.join(table, '.hoodie', 'timeline'))).filter((name) => /_\d{17}\./.test(name));
      const expect = (/** @type {string} */ what, /** @type {boolean} */ so) => {
        check.queries += 1;
        if (!so) check.problems.push(`${table}: ${what}`);
      };
      await ours.create(table, { tableName: 'served', schema: schema('served'), ...shape });
      const compacted = { 'hoodie.metadata.compact.max.delta.commits': '2', 'hoodie.clean.automatic': 'false', 'hoodie.archive.automatic': 'false' };
      for (const ts of [1, 2, 3, 4]) await upsert(some(0, 20 + ts, ts), compacted);
      await append(some(40, 50));
      some(40, 50).forEach((one) => rows.set(one.id, one));
      const served = await instants();
      // The deltacommits that a compaction waits for stay, and so do the versions of files.
      const waits = shape.tableType === 'MERGE_ON_READ';
      expect('we did not clean', waits || served.some((name) => name.endsWith('.clean')));
      const history = await readdir(path.join(table, '.hoodie', 'timeline', 'history'));
      expect('we did not archive', waits || history.some((name) => name.endsWith('.parquet')));
      await check.rows([...rows.values()], 'after a clean and an archive');
      const { instant } = await append(some(50, 60));
      await check.rows([...rows.values(), ...some(50, 60)], 'before a rollback');
      await ours.rollback(table, instant ?? '');
      await check.rows([...rows.values()], 'after a rollback');
      const own = { ...keep, 'hoodie.clean.automatic': 'true', 'hoodie.archive.automatic': 'true' };
      await upsert([...some(0, 3, 5), ...some(45, 55, 5)], own);
      await check.rows([...rows.values()], 'after Spark went on');
      await append(some(70, 75));
      some(70, 75).forEach((one) => rows.set(one.id, one));
      await upsert(some(71, 80, 6), own);
      await check.rows([...rows.values()], 'at the end');
      await check.meta('at the end');
    });
}

/**
 * G: Spark's filters over statistics that we wrote, on files whose ranges lie apart.
 *
 * @param {Shape} shape
 * @returns {(sides: Sides) => Promise<Outcome>}
 */
export function weSkip(shape) {
  return (sides) =>
    inFolder(sides, 'skipped', async (check, table) => {
      const { ours } = sides;
      await ours.create(table, { tableName: 'skipped', schema: schema('skipped'), ...shape });
      const all = [some(0, 100), some(1000, 1100), some(2000, 2100), [row(9_000_000, 'rome')]];
      for (const rows of all) await ours.append(table, { rows });
      const rows = all.flat();
      /** @type {[string, '=' | '<' | '>' | '>=' | '!=', number | string, (one: City) => boolean][]} */
      const filters = [
        ['id', '=', 1050, ({ id }) => id === 1050],
        ['id', '>', 2050, ({ id }) => id > 2050],
        ['id', '<', 0, () => false],
        ['price', '>=', 500, ({ price }) => price >= 500],
        ['city', '=', 'oslo', ({ city }) => city === 'oslo'],
        ['name', '=', 'n2001 ä€', ({ name }) => name === 'n2001 ä€'],
        ['name', '>', 'n2', ({ name }) => name !== null && name > 'n2'],
        ['ts', '!=', 1, () => false],
      ];
      for (const [field, operator, value, keeps] of filters) {
        await check.rows(rows.filter(keeps), `${field} ${operator} ${value}`, [[field, operator, value]]);
      }
    });
}

/**
 * J: hudi-rs reads what we wrote.
 *
 * @param {Shape} shape
 * @returns {(sides: Sides) => Promise<Outcome>}
 */
export function hudiRsReads(shape) {
  return (sides) =>
    inFolder(sides, 'for_hudi_rs', async (check, table) => {
      const { ours } = sides;
      await ours.create(table, { tableName: 'for_hudi_rs', schema: schema('for_hudi_rs'), ...shape });
      const parts = [some(0, 50), some(50, 2000, 2)];
      for (const rows of parts) await ours.append(table, { rows });
      const said = await must(await hudiRs(), [fileURLToPath(new URL('hudi_rs.py', import.meta.url)), table, ...columns]);
      check.queries += 1;
      const found = rowDifference(canonical(parts.flat()), JSON.parse(said));
      if (found !== undefined) check.problems.push(`${table}, hudi-rs in Spark's place\n${found}`);
    });
}
