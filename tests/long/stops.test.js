// Spark over what a stopped request leaves: a stop of each distinct state of the storage, written by the ignored test `stops_for_spark` beside the
// rows that must be there. Spark reads every one with the metadata table and without, and writes on one of each kind.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { must } from '../../scripts/lib/run.mjs';
import { sparkTools } from '../../scripts/lib/spark.mjs';
import { rowDifference } from '../parity/lib/compare.js';
import { Spark } from '../parity/lib/spark.js';

/**
 * @typedef {import('../parity/lib/spark.js').Row} Row
 * @typedef {object} Beside what tests/write/stops_for_spark.rs says of a folder
 * @property {string} operation
 * @property {string} when which request was stopped, and what the caller heard
 * @property {string} kind what is new of instants and files, without their times
 * @property {string} columns
 * @property {string} partition the path of the city rome
 * @property {Row[] | null} rows null where there is no table yet
 * @property {Row[] | null} later the rows once a writer has gone on with what was planned
 * @property {string} outside what is there but for the metadata table
 *
 * @typedef {Beside & { table: string }} State
 * @typedef {{ ok: Row[] } | { error: string }} Answer
 */

/** Operations, and the kinds of states that Spark writes on. @type {Record<string, string[]>} */
const operations = {
  create: [
    'properties',
    'metadata deltacommit inflight, properties',
    'metadata deltacommit completed, metadata deltacommit requested, properties',
    'metadata deltacommit completed, metadata deltacommit completed, metadata deltacommit completed, metadata deltacommit completed, properties changing, properties',
  ],
  append_cow: [
    'commit requested',
    'commit inflight',
    'commit inflight, data files, markers',
    'commit inflight, metadata deltacommit inflight, data files, markers',
    'commit inflight, metadata deltacommit completed, data files, markers',
    'commit completed, metadata deltacommit completed, data files, markers',
  ],
  append_mor: [
    'deltacommit requested',
    'deltacommit inflight',
    'deltacommit inflight, data files, markers',
    'deltacommit inflight, metadata deltacommit completed, data files, markers',
    'deltacommit completed, metadata deltacommit completed, data files',
  ],
  compaction: ['metadata compaction requested', 'metadata compaction inflight', 'metadata commit completed'],
  metadata_services: ['metadata clean inflight', 'metadata clean completed, metadata compaction inflight', 'metadata clean completed, metadata commit completed, instants gone, history'],
  clean: [
    'commit completed, clean requested, metadata deltacommit completed, data files',
    'commit completed, clean inflight, metadata deltacommit completed, data files, data files gone',
    'commit completed, clean inflight, metadata deltacommit completed, metadata deltacommit completed, data files, data files gone',
  ],
  clean_and_archive: [
    'commit completed, clean completed, metadata deltacommit completed, metadata deltacommit completed, data files, data files gone, history',
    'commit completed, clean completed, metadata deltacommit completed, metadata deltacommit completed, data files, data files gone, instants gone, history',
  ],
  rollback_cow: [
    'rollback requested',
    'rollback inflight, instants gone',
    'rollback inflight, metadata rollback inflight, data files gone, instants gone',
    'rollback inflight, metadata rollback completed, data files gone, instants gone',
    'rollback completed, metadata rollback completed, data files gone, instants gone',
  ],
  rollback_mor: ['rollback inflight', 'rollback inflight, metadata rollback completed, data files gone, instants gone'],
  failed_rollback: ['rollback inflight, metadata rollback inflight, data files gone', 'rollback inflight, metadata rollback completed, data files gone, instants gone'],
};

/** @type {string} */
let work;
/** @type {Spark} */
let spark;
/** @type {State[]} */
let states;

before(async () => {
  work = await mkdtemp(path.join(tmpdir(), 'hudi-stops-'));
  const session = /** @type {const} */ ({ bundle: '1.1.1', zone: 'UTC' });
  [states, spark] = await Promise.all([write(path.join(work, 'tables')), sparkTools(['1.1.1']).then((tools) => Spark.start(tools, session, path.join(work, 'spark')))]);
});

after(async () => {
  await spark?.stop();
  await rm(work, { recursive: true });
});

/** @param {string} out @returns {Promise<State[]>} */
async function write(out) {
  const test = ['test', '--locked', '--workspace', '--test', 'write', '--', '--ignored', 'stops_for_spark'];
  await must('cargo', test, { env: { HUDI_STOPS_OUT: out } });
  const names = (await readdir(out)).filter((name) => /_\d+\.json$/.test(name)).sort();
  return Promise.all(names.map(async (name) => ({ ...JSON.parse(await readFile(path.join(out, name), 'utf8')), table: path.join(out, name.replace('.json', '')) })));
}

test('every stop point left one of the states that follow', async (t) => {
  const counts = JSON.parse(await readFile(path.join(work, 'tables', 'counts.json'), 'utf8'));
  assert.equal(states.length, counts.states);
  assert.deepEqual(new Set(states.map(({ operation }) => operation)), new Set(Object.keys(operations)));
  t.diagnostic(`stops: ${counts.stops} stop points, ${counts.states} distinct states of the storage`);
});

for (const operation of Object.keys(operations)) {
  test(`Spark reads every state of ${operation}, with the metadata table and without`, async () => {
    await check(states.filter((state) => state.operation === operation));
  });
}

for (const [operation, kinds] of Object.entries(operations)) {
  test(`Spark writes on where ${operation} was stopped`, async () => {
    const chosen = kinds.map((kind) => {
      const found = states.find((state) => state.operation === operation && state.kind === kind);
      return found ?? assert.fail(`no state is ${kind}`);
    });
    const requests = chosen.map((state) => ({ path: state.table, columns: state.columns, rows: [row(state)], op: 'insert' }));
    /** @type {({ ok: { instant: string } } | { error: string })[]} */
    const answers = await spark.ask('many', { verb: 'upsert', requests });
    const failed = answers.flatMap((answer, at) => ('error' in answer ? [`${said(chosen[at])}: ${answer.error}`] : []));
    assert.deepEqual(failed, []);
    await check(chosen.map((state, at) => ({ ...state, outside: state.table, rows: [...(state.later ?? []), added(state, /** @type {any} */ (answers[at]).ok.instant)] })));
  });
}

const row = (/** @type {State} */ { columns }) => [5000, 'n5000', 5000.5, 50_000, 'rome'].slice(0, columns.split(',').length);

/** The row that Spark inserts, as it is read. @param {State} state @param {string} instant @returns {Row} */
function added({ columns, partition }, instant) {
  const meta = { _hoodie_commit_time: instant, _hoodie_record_key: '5000', _hoodie_partition_path: partition };
  return { ...meta, id: 5000, name: 'n5000', price: '5000.5', ts: 50_000, ...(columns.includes('city') && { city: 'rome' }) };
}

/** Spark's rows of these states, whole, are those beside them. Without the metadata table those that differ in it alone are one. @param {State[]} list */
async function check(list) {
  const outside = list.filter(({ outside }, at) => list.findIndex((one) => one.outside === outside) === at);
  const problems = [...(await differing(list, true)), ...(await differing(outside, false))];
  assert.deepEqual(problems, []);
}

/** @param {State[]} list @param {boolean} metadata */
async function differing(list, metadata) {
  const requests = list.map(({ table }) => ({ path: table, query: { queryType: 'snapshot' }, metadata }));
  /** @type {Answer[]} */
  const answers = await spark.ask('many', { verb: 'read', requests });
  return list.flatMap((state, at) => {
    const found = wrong(state, answers[at]);
    return found === undefined ? [] : [`${said(state)}, metadata ${metadata}: ${found}`];
  });
}

/** @param {State} state @param {Answer | undefined} answer */
function wrong({ rows }, answer = { error: 'no answer' }) {
  if (rows === null) return 'error' in answer ? undefined : `there is no table, and Spark reads ${answer.ok.length} rows`;
  return 'error' in answer ? `Spark refuses it: ${answer.error}` : rowDifference(answer.ok, rows);
}

const said = (/** @type {State | undefined} */ state) => `${state?.table} (${state?.kind}), ${state?.when}`;
