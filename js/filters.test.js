import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HudiError } from './errors.js';
import { col, parseFilters } from './filters.js';

const plain = (/** @type {any} */ filters) => parseFilters(filters).map(({ field, operator, values }) => [field, operator, ...values]);

const check = (/** @type {any} */ given, /** @type {unknown[]} */ expected) => assert.deepEqual(plain([given]), [expected]);

const refuse = (/** @type {any} */ given) =>
  assert.throws(() => parseFilters([given]), (error) => HudiError.is(error, 'INVALID_ARGUMENT'), JSON.stringify(given));

test('operators are read in any letter case and spacing', () => {
  check(['a', 'not  in', ['x']], ['a', 'NOT IN', 'x']);
  check(['a', 'Is Null'], ['a', 'IS NULL']);
});

test('text after IN is split on commas and trimmed, an array is taken as it stands', () => {
  check(['city', 'IN', 'sf, la ,nyc'], ['city', 'IN', 'sf', 'la', 'nyc']);
  check(['name', 'IN', 'Smith\\, John,Jane'], ['name', 'IN', 'Smith, John', 'Jane']);
  check(['path', 'IN', 'a\\\\b,c\\d'], ['path', 'IN', 'a\\b', 'c\\d']);
  check(['city', 'IN', [' a,b ']], ['city', 'IN', ' a,b ']);
});

test('values become the text that the engine casts', () => {
  check(['a', '=', 1.5], ['a', '=', '1.5']);
  check(['a', '=', -0], ['a', '=', '-0.0']);
  check(['a', '=', 1e21], ['a', '=', '1000000000000000000000']);
  check(['a', '=', NaN], ['a', '=', 'NaN']);
  check(['a', '=', 2n ** 64n], ['a', '=', '18446744073709551616']);
  check(['a', '=', true], ['a', '=', 'true']);
  check(['a', '=', new Date(1.5e12)], ['a', '=', '2017-07-14T02:40:00.000Z']);
});

test('what no table could take is refused where it is given', () => {
  const cases = [['a', '~', 1], ['a', 'IN', ''], ['a', 'IN', []], ['a', '=', [1, 2]], ['a', '='], ['a', 'IS NULL', 1], ['', '=', 1], ['a', '=', null]];
  for (const given of [...cases, ['a', '=', 1, 2], ['a', '=', {}], ['a', '=', new Date(NaN)], 'a = 1', { field: 'a', operator: 'like', values: ['x'] }]) refuse(given);
});

test('the opposite of the opposite is the filter', () => {
  const { eq, lt, lte, inList, isNull } = col('a');
  for (const filter of [eq(1), lt(1), lte(1), inList([1, 2]), isNull()]) assert.deepEqual(filter.negate().negate(), filter);
  assert.equal(lte(1).negate().operator, '>');
});

test('a filter that crossed a worker boundary as plain data is still one', () => {
  check(structuredClone({ ...col('a').notInList([1, 2]) }), ['a', 'NOT IN', '1', '2']);
});
