import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as arrow from 'apache-arrow';
import { float, rows } from './canonical.js';

test('doubles are written as Python writes them', () => {
  // Right-hand sides: CPython's repr().
  const cases = { 0: '0.0', 1: '1.0', 0.1: '0.1', 1e16: '1e+16', 123456789012345680: '1.2345678901234568e+17', 1e-4: '0.0001', 1e-5: '1e-05', 1.5e-7: '1.5e-07', 9007199254740992: '9007199254740992.0', 1234.5: '1234.5' };
  for (const [x, text] of Object.entries(cases)) assert.equal(float(Number(x)), text);
  assert.deepEqual([NaN, Infinity, -Infinity, -0, 5e-324].map(float), ['nan', 'inf', '-inf', '-0.0', '5e-324']);
});

test('what a double cannot hold stays exact', () => {
  const table = arrow.tableFromArrays({ n: BigInt64Array.from([2n ** 53n + 1n, -1n]) });
  const when = arrow.makeVector(arrow.makeData({ type: new arrow.TimestampMicrosecond('UTC'), data: BigInt64Array.from([16756761599999999n, -1n]) }));
  assert.deepEqual(rows(table).map((row) => /** @type {any} */ (row).n), ['9007199254740993', -1]);
  assert.deepEqual(rows(new arrow.Table({ t: when })).map((row) => /** @type {any} */ (row).t), ['1969-12-31T23:59:59.999999Z', '2500-12-31T23:59:59.999999Z']);
});

test('a decimal keeps its scale and sign', () => {
  const type = new arrow.Decimal(2, 9, 128);
  const data = Uint32Array.from([5, 0, 0, 0, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 12345, 0, 0, 0]);
  const table = new arrow.Table({ d: arrow.makeVector(arrow.makeData({ type, data, length: 3 })) });
  assert.deepEqual(rows(table).map((row) => /** @type {any} */ (row).d), ['-0.01', '0.05', '123.45']);
});
