import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutDecimals } from './decimals.js';

const row = (/** @type {string | null} */ before, /** @type {string | null} */ after) => ({ op: 'u', before, after });

test('a decimal that Spark says nothing of is as zero as ours is', () => {
  const spark = [row('{"d9":{"zero":false},"s":"x"}', '{"d18":{"zero":true},"d38":{"zero":false}}')];
  const ours = [row('{"d9":-12.50,"s":"x"}', '{"d18":0.000,"d38":1E-10}')];
  assert.deepEqual(withoutDecimals(spark), withoutDecimals(ours));
  assert.notDeepEqual(withoutDecimals(spark), withoutDecimals([row('{"d9":0.00,"s":"x"}', '{"d18":0.000,"d38":1E-10}')]));
});

test('no other column and no missing image is touched', () => {
  const others = [row(null, '{"n":{"zero":false},"d9":null,"d18":"1.5","s":"y"}')];
  assert.deepEqual(withoutDecimals(others), others);
});
