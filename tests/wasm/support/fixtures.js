// The tables of tests/data as folders, each with a manifest, and what Spark read from them.
import { access, mkdir, mkdtemp, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { root } from '../../../scripts/lib/run.mjs';
import { unzip } from '../../../scripts/lib/unzip.mjs';
import { manifestOf } from '../../../scripts/manifest.mjs';

const data = path.join(root, 'tests/data');
const out = path.join(root, 'tests/out/tables');

/** A table whose snapshot without options was recorded with Spark's default, which takes columns by name. */
const byName = { table: 'v9_mor_schema_on_read', hudiOptions: { 'hoodie.schema.on.read.enable': 'false' } };

/** Spark fails on these queries by a fault of its own: a null in a date partition. */
const refusedByFault = 'v9_cow_partition_types';

/** There incremental queries show a partition's path for its value, though snapshots of the same rows show the value. */
const pathForValue = { table: 'v9_cow_partition_types', column: 'region' };

/** Spark's default: where files of a range are cleaned, what the newest snapshot still has of its rows. */
const fallback = { 'hoodie.datasource.read.incr.fallback.fulltablescan.enable': 'true' };

/**
 * @typedef {{ table: string, query: any, rows?: any[], count?: number, sums?: Record<string, any>, sample?: any[], code?: string }} Recorded
 */

/** Names of the tables. */
export async function tableNames() {
  const names = (await readdir(data)).filter((name) => name.endsWith('.zip')).map((name) => name.slice(0, -4));
  return names.sort();
}

/** The table's folder below the repository's root. */
export const tableFolder = (/** @type {string} */ name) => path.join(out, name);

/** Unpacks a table once; other test files may be at it at the same time. */
export async function unpack(/** @type {string} */ name) {
  const folder = tableFolder(name);
  if (await access(folder).then(() => true, () => false)) return folder;
  await mkdir(out, { recursive: true });
  const beside = await mkdtemp(path.join(out, '.unpacking-'));
  for (const { path: file, data: bytes } of unzip(await readFile(path.join(data, `${name}.zip`)))) {
    const to = path.join(beside, file);
    await mkdir(path.dirname(to), { recursive: true });
    await writeFile(to, bytes);
  }
  await writeFile(path.join(beside, name, 'hudi-manifest.json'), JSON.stringify(await manifestOf(path.join(beside, name))));
  await rename(path.join(beside, name), folder).catch(async (error) => {
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
  });
  await rm(beside, { recursive: true });
  return folder;
}

/** There Spark's incremental rows are memory that is no row: updates of some columns without the base file under them. The native tests know better. */
const noRows = new Set(['v9_mor_partial_update', 'v9_mor_partial_update_compacted']);

/** There Spark's images of data files hold `{"zero":false}` for a decimal. The native tests compare the rest of them. */
const decimalsLost = new Set(['v9_cow_cdc_all_types', 'v9_cow_cdc_all_types_op_key_only']);

/**
 * The recorded queries of a table.
 *
 * @returns {Promise<Recorded[]>}
 */
export async function recorded(/** @type {string} */ name) {
  const spark = JSON.parse(await readFile(path.join(data, `${name}.expected.json`), 'utf8'));
  /** @type {any[]} */
  const queries = spark.queries;
  return queries
    .map((/** @type {any} */ entry) => (entry.query.queryType === 'incremental' ? asSparkMeans(name, entry) : entry))
    .map((entry) => (name === byName.table && Object.keys(entry.query).length === 1 ? { ...entry, query: { ...entry.query, hudiOptions: byName.hudiOptions } } : entry))
    .filter(({ query }) => query.queryType !== 'cdc' || !decimalsLost.has(name))
    .filter(({ query }) => query.queryType !== 'incremental' || !noRows.has(name))
    .filter(({ error }) => error === undefined || name !== refusedByFault)
    .map(({ error, ...rest }) => ({ table: name, ...rest, ...(error !== undefined && { code: codeOf(error) }) }));
}

/** @param {string} name @param {any} entry */
function asSparkMeans(name, { query, rows, ...rest }) {
  const wrong = name === pathForValue.table ? pathForValue.column : undefined;
  const value = (/** @type {any} */ row) => (wrong === undefined ? row : { ...row, [wrong]: row[wrong] && decodeURIComponent(row[wrong]) });
  return { query: { ...query, hudiOptions: fallback }, rows: rows?.map(value), ...rest };
}

/** The code with which we refuse what Spark refuses in these words. */
export function codeOf(/** @type {string} */ error) {
  if (error.includes('Cleaner cleaned up')) return 'INSTANT_EXPIRED';
  if (error.includes('meta fields are disabled')) return 'UNSUPPORTED';
  if (error.includes('earlier than the first incomplete commit')) return 'INSTANT_PENDING';
  throw new Error(`no code stands for ${error}`);
}
