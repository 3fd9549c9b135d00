// The scenario matrix, as data. A scenario either runs or is pending, by name, until the issue that fills it.
//
//   A  we write, Spark reads                     F  tables with change data capture
//   B  Spark writes, we read                     G  data skipping on our statistics
//   C  Spark's services on our tables            H  services planned on one side and run on the other
//   D  interleaved writers                       I  both writers racing under the storage lock
//   E  mixed workload with archival              J  hudi from PyPI reads our tables
import { bundles } from '../../scripts/lib/spark.mjs';
import { withoutDecimals } from './lib/decimals.js';
import { columnsCome, sparkBringsColumn } from './evolved.js';
import { foundByKey } from './keys.js';
import { narrowVersion6, withoutMetaFields } from './narrow.js';
import { overS3 } from './over_s3.js';
import { readEvery } from './read.js';
import { staleChecksum } from './stale_checksum.js';
import { statisticsOfEveryType } from './statistics.js';
import { storageLock } from './storage_lock.js';
import { hudiRsReads, inTurn, shapeOf, weAreServed, weCompact, weCopy, weKeep, weServe, weSkip, weWrite } from './write.js';

/**
 * @typedef {import('./lib/spark.js').Session} Session
 * @typedef {import('./lib/spark.js').Spark} Spark
 * @typedef {import('./lib/ours.js').Ours} Ours
 * @typedef {{ spark: Spark, ours: Ours }} Sides
 * @typedef {{ queries: number, problems: string[] }} Outcome `problems` say the query and the first differing row
 *
 * @typedef {object} Scenario
 * @property {string} name
 * @property {Session} session
 * @property {(sides: Sides) => Promise<Outcome>} run
 * @property {boolean} [brief] part of what CI runs
 *
 * @typedef {{ name: string, pending: string }} Pending `pending` names the issue that fills it
 */

const releases = /** @type {(keyof typeof bundles)[]} */ (Object.keys(bundles));
const utc = (/** @type {keyof typeof bundles} */ bundle) => ({ bundle, zone: 'UTC' });

/** Where Spark disagrees with itself, with and without the metadata table; the rows without it are the right ones. */
const sparkFaults = ['v9_cow_all_types', 'v9_cow_all_types_bulk', 'v9_cow_all_types_old_lists', 'v9_cow_expression_index'];

/** Where Spark fails on filters over a partition column of dates for want of a date in one of them. */
const sparkFailures = ['v9_cow_partition_types'];

/** Where the release that writes the table stops reading at a command block, and loses what the commit after it wrote; tests/README.md. */
const sparkLosses = ['v6_mor_rollback'];

/** Releases whose incremental rows are the right ones: the others are known to differ from them on tables of their own. */
const incremental = ['1.1.1', '1.2.0'];

/** What is asked of a table that a release writes. */
const kinds = (/** @type {string} */ bundle) => (incremental.includes(bundle) ? ['snapshot', 'incremental'] : ['snapshot']);

/** The matrix of table shapes by every release. @returns {Scenario[]} */
function matrix() {
  return ['cow_flat', 'cow_parts', 'mor_flat', 'mor_parts'].flatMap((shape) =>
    releases.map((bundle) => ({
      name: `B/${shape}/${bundle}`,
      session: utc(bundle),
      run: readEvery((spark) => spark.ask('make', { name: shape, kinds: kinds(bundle) })),
      brief: shape.endsWith('parts') || bundle === '1.1.1',
    })),
  );
}

/** Tables of each release, and one with every odd character in its paths, read through a server that checks signatures. @returns {Scenario[]} */
function remote() {
  const make = (/** @type {string} */ name) => (/** @type {Spark} */ spark) => spark.ask('make', { name, kinds: ['snapshot'] });
  const shapes = ['cow_parts', 'mor_parts'].flatMap((shape) =>
    releases.map((bundle) => ({
      name: `B/over_s3/${shape}/${bundle}`,
      session: utc(bundle),
      run: overS3(readEvery(make(shape))),
      brief: bundle === '1.1.1',
    })),
  );
  const odd = 'v9_cow_partition_types';
  return [...shapes, { name: `B/over_s3/${odd}`, session: utc('1.1.1'), run: overS3(readEvery(make(odd), { sparkFails: true })) }];
}

/** Tables of the fixtures, made anew; those with change data capture also under F. Their incremental queries are recorded beside them, with what is known of each. @param {Record<string, Session>} recipes @returns {Scenario[]} */
function fixtures(recipes) {
  const out = new URL('../data', import.meta.url).pathname;
  return Object.entries(recipes).flatMap(([recipe, session]) => {
    const make = (/** @type {string[]} */ kinds) => (/** @type {Spark} */ spark) => spark.ask('make', { name: recipe, kinds, out });
    const known = { sparkDiffers: sparkFaults.includes(recipe), sparkFails: sparkFailures.includes(recipe), sparkLoses: sparkLosses.includes(recipe) };
    const all = [{ name: `B/fixture/${recipe}`, session, run: readEvery(make(['snapshot']), known) }];
    const images = recipe.includes('_cdc_all_types') ? { comparable: withoutDecimals } : {};
    if (/_cdc(_|$)/.test(recipe)) all.push({ name: `F/${recipe}`, session, run: readEvery(make(['cdc']), images) });
    return all;
  });
}

/** Tables by seed; a seed's bundle is fixed. Each seed gives a table of a type it draws, and one with logs. @param {number[]} seeds @returns {Scenario[]} */
function random(seeds) {
  return seeds.flatMap((seed) => {
    const bundle = /** @type {keyof typeof bundles} */ (releases[seed % releases.length]);
    const table = (/** @type {string} */ name, /** @type {boolean} */ mor, /** @type {number} */ briefly) => ({
      name,
      session: utc(bundle),
      run: readEvery((spark) => spark.ask('random', { seed, mor, kinds: kinds(bundle) })),
      brief: seed <= briefly,
    });
    return [table(`B/random/${seed}`, false, 8), table(`B/random/mor/${seed}`, true, 4)];
  });
}

/** What we write: alone, in turn with Spark, and for its filters. Local folders, and the same over S3. @returns {Scenario[]} */
function written() {
  const session = utc('1.1.1');
  const shapes = [false, true].flatMap((mor) => [false, true].flatMap((parts) => /** @type {const} */ ([8, 9]).map((version) => ({ mor, parts, version }))));
  const named = (/** @type {(typeof shapes)[number]} */ { mor, parts, version }) => `${mor ? 'mor' : 'cow'}_${parts ? 'parts' : 'flat'}/v${version}`;
  const appended = shapes.flatMap((shape) => {
    const run = weWrite(shapeOf(shape));
    const brief = shape.version === 9 && shape.parts;
    return [
      { name: `A/${named(shape)}`, session, run, brief },
      { name: `A/over_s3/${named(shape)}`, session, run: overS3(run), brief: brief && !shape.mor },
    ];
  });
  const copied = ['v9_cow_all_types', 'v9_cow_simple'].map((recipe) => ({ name: `A/copy/${recipe}`, session, run: weCopy(recipe), brief: recipe.endsWith('types') }));
  const turns = shapes.flatMap((shape) =>
    [false, true].map((spark) => ({
      name: `D/${spark ? 'spark' : 'we'}_first/${named(shape)}`,
      session,
      run: inTurn(shapeOf(shape), { spark }),
      brief: spark && shape.version === 9 && shape.parts,
    })),
  );
  const index = { 'hoodie.index.type': 'RECORD_INDEX', 'hoodie.metadata.record.index.enable': 'true' };
  const byIndex = shapes.filter(({ version }) => version === 9).map((shape) => ({ name: `D/record_index/${named(shape)}`, session, run: inTurn(shapeOf(shape), { spark: false, options: index }), brief: shape.parts && !shape.mor }));
  const served = shapes.map((shape) => ({ name: `C/cleaning/${named(shape)}`, session, run: weServe(shapeOf(shape)), brief: shape.parts && !shape.mor && shape.version === 9 }));
  const clustered = shapes.map((shape) => ({ name: `C/clustering/${named(shape)}`, session, run: weAreServed(shapeOf(shape), 'clustering'), brief: shape.parts && shape.mor && shape.version === 9 }));
  const merged = shapes.filter(({ mor }) => mor).map((shape) => ({ name: `C/compaction/${named(shape)}`, session, run: weAreServed(shapeOf(shape), 'compaction'), brief: false }));
  const compacted = shapes
    .filter(({ version, parts }) => version === 9 || parts)
    .map((shape) => ({ name: `A/mdt_compacted/${named(shape)}`, session, run: weCompact(shapeOf(shape)), brief: shape.parts && shape.version === 9 }));
  const kept = shapes
    .filter(({ version, parts }) => version === 9 && parts)
    .map((shape) => ({ name: `A/mdt_cleaned/${named(shape)}`, session, run: weKeep(shapeOf(shape)) }));
  const skipped = shapes.map((shape) => ({ name: `G/skipping/${named(shape)}`, session, run: weSkip(shapeOf(shape)), brief: shape.parts && !shape.mor && shape.version === 9 }));
  const versions = /** @type {const} */ ([8, 9]);
  const narrow = /** @type {const} */ (['0.15.0', '1.1.1']).map((bundle) => ({ name: `A/v6_narrow/${bundle}`, session: utc(bundle), run: narrowVersion6(bundle === '0.15.0') }));
  const bare = versions.flatMap((version) =>
    [false, true].map((parts) => ({ name: `A/no_meta/${parts ? 'parts' : 'flat'}/v${version}`, session, run: withoutMetaFields(shapeOf({ mor: false, parts, version })) })),
  );
  const evolved = versions.map((version) => ({ name: `D/new_columns/v${version}`, session, run: columnsCome(shapeOf({ mor: false, parts: true, version })), brief: version === 9 }));
  const brought = versions.map((version) => ({ name: `D/columns_of_spark/v${version}`, session, run: sparkBringsColumn(shapeOf({ mor: false, parts: true, version })) }));
  const counted = versions.map((version) => ({ name: `G/statistics/v${version}`, session, run: statisticsOfEveryType(version) }));
  const keys = /** @type {[string, string[], boolean][]} */ ([['unicode', ['name'], true], ['composite_flat', ['id', 'name'], false], ['composite_parts', ['name', 'id'], true]]);
  const found = keys.map(([name, fields, parts]) => ({ name: `D/keys/${name}`, session, run: foundByKey(fields, parts), brief: name === 'unicode' }));
  const byHudiRs = shapes.map((shape) => ({ name: `J/hudi_rs/${named(shape)}`, session, run: hudiRsReads(shapeOf(shape)), brief: shape.parts && !shape.mor && shape.version === 9 }));
  return [...appended, ...compacted, ...kept, ...copied, ...narrow, ...bare, ...turns, ...byIndex, ...evolved, ...brought, ...found, ...served, ...clustered, ...merged, ...skipped, ...counted, ...byHudiRs];
}

/** @type {Pending[]} */
const pending = [
  { name: 'C/compaction/of_our_logs', pending: 'after issue 9: the merge-on-read writer' },
  { name: 'E/mixed_workload', pending: 'after issue 9: upsert' },
  { name: 'H/planned_here_run_by_spark', pending: 'after issue 9: table services' },
  { name: 'H/planned_by_spark_run_here', pending: 'after issue 9: table services' },
  { name: 'I/race_under_storage_lock', pending: 'after issue 9: several writers' },
];

/**
 * All of the matrix.
 *
 * @param {Record<string, Session>} recipes
 * @param {number[]} seeds
 * @returns {(Scenario | Pending)[]}
 */
export function scenarios(recipes, seeds) {
  const checksum = { name: 'side_files/stale_crc', session: utc('1.1.1'), run: staleChecksum, brief: true };
  const lock = { name: 'I/storage_lock', session: { ...utc('1.1.1'), lock: true }, run: storageLock, brief: true };
  return [...matrix(), checksum, lock, ...remote(), ...random(seeds), ...fixtures(recipes), ...written(), ...pending];
}

/**
 * Those that a name selects: the whole name, or a run of its parts ("B", "cow_parts", "random/7", "1.1.1").
 *
 * @template {{ name: string }} T
 * @param {T[]} list
 * @param {string} name
 */
export function named(list, name) {
  return list.filter((scenario) => `/${scenario.name}/`.includes(`/${name}/`));
}
