import assert from 'node:assert/strict';
import { test } from 'node:test';
import { named, scenarios } from './scenarios.js';

const session = /** @type {const} */ ({ bundle: '1.1.1', zone: 'UTC' });
const all = scenarios({ v9_cow_simple: session, v9_mor_cdc_op_key_only: session }, [1, 77]);

test('every row of the matrix is there, to run or pending by name', () => {
  const letters = new Set(all.map(({ name }) => name.split('/')[0]));
  for (const letter of 'ABCDEFGHIJ') assert.ok(letters.has(letter), `nothing of ${letter}`);
  assert.equal(new Set(all.map(({ name }) => name)).size, all.length, 'two scenarios share a name');
});

test('what is pending names its issue, and never runs', () => {
  for (const scenario of all) {
    if ('pending' in scenario) assert.match(scenario.pending, /issues? \d/);
    assert.notEqual('run' in scenario, 'pending' in scenario);
  }
  assert.deepEqual(Object.keys(named(all, 'mixed_workload')[0] ?? {}), ['name', 'pending']);
});

/** @param {string} name @param {string[]} expected */
function checkNamed(name, expected) {
  assert.deepEqual(named(all, name).map((scenario) => scenario.name), expected);
}

test('a name selects by itself or by a run of its parts, never by half a part', () => {
  checkNamed('B/random/77', ['B/random/77']);
  checkNamed('random/77', ['B/random/77']);
  checkNamed('mor/77', ['B/random/mor/77']);
  checkNamed('random/7', []);
  checkNamed('v9_mor_cdc_op_key_only', ['B/fixture/v9_mor_cdc_op_key_only', 'F/v9_mor_cdc_op_key_only']);
  checkNamed('v9_cow_simple', ['B/fixture/v9_cow_simple', 'A/copy/v9_cow_simple']);
  checkNamed('B/cow_parts/1.1.1', ['B/cow_parts/1.1.1']);
  checkNamed('cow_parts/1.1.1', ['B/cow_parts/1.1.1', 'B/over_s3/cow_parts/1.1.1']);
});

test('the brief part covers every release', () => {
  const brief = all.filter((scenario) => 'brief' in scenario && scenario.brief === true);
  for (const bundle of ['0.15.0', '1.0.2', '1.1.1', '1.2.0']) {
    assert.ok(brief.some((scenario) => 'session' in scenario && scenario.session.bundle === bundle && scenario.name.includes('cow_parts')), bundle);
  }
});
