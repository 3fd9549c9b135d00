import assert from 'node:assert/strict';
import { test } from 'node:test';
import { difference } from './compare.js';

const query = /** @type {const} */ ({ queryType: 'snapshot' });

/**
 * @param {Omit<import('./spark.js').Entry, 'query'>} spark
 * @param {import('./compare.js').Answer} ours
 * @param {RegExp | undefined} expected
 */
function check(spark, ours, expected) {
  const found = difference({ query, ...spark }, ours);
  if (expected === undefined) assert.equal(found, undefined);
  else assert.match(found ?? 'no difference', expected);
}

test('rows are equal in any order of rows and keys', () => {
  check({ rows: [{ a: 1, b: { c: 2, d: 3 } }, { a: 2, b: null }] }, { rows: [{ b: null, a: 2 }, { b: { d: 3, c: 2 }, a: 1 }] }, undefined);
});

test('the first row that one side lacks is named', () => {
  check({ rows: [{ a: 1 }, { a: 2 }] }, { rows: [{ a: 1 }, { a: 3 }] }, /Spark: \{"a":2\}\n.*ours: {2}\{"a":3\}/);
});

test('a row read twice is a difference', () => {
  check({ rows: [{ a: 1 }] }, { rows: [{ a: 1 }, { a: 1 }] }, /we read 2; 0 rows only Spark has, 1 only we have/);
});

test('a number and its text are different values', () => {
  check({ rows: [{ a: 1 }] }, { rows: [{ a: '1' }] }, /"a":1\}/);
});

test('what Spark refuses must be refused with the code for that, and what it reads must be read', () => {
  const error = 'Cleaner cleaned up the timestamp of interest';
  check({ error }, { code: 'INSTANT_EXPIRED', message: '' }, undefined);
  check({ error }, { code: 'CORRUPT', message: '' }, /we with CORRUPT/);
  check({ error }, { rows: [] }, /Spark refuses it/);
  check({ rows: [] }, { code: 'CORRUPT', message: '' }, /we refuse it \(CORRUPT/);
});

test('large results are held by count, exact sums and a sample', () => {
  const rows = [{ n: '9007199254740993', d: '-0.05', s: 'é😀' }, { n: 1, d: '0.01', s: null }];
  const spark = { count: 2, sums: { n: '9007199254740994', d: '-0.04', s: '2' }, sample: [rows[1] ?? {}] };
  check(spark, { rows }, undefined);
  check({ ...spark, count: 3 }, { rows }, /Spark reads 3 rows/);
  check({ ...spark, sums: { ...spark.sums, d: '-0.03' } }, { rows }, /column d/);
  check({ ...spark, sample: [{ n: 2 }] }, { rows }, /sample/);
});
