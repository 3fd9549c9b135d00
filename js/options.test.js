import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HudiError } from './errors.js';
import { HudiReadOptions, openOptions } from './options.js';

const sent = (/** @type {any} */ given, /** @type {any} */ how = undefined) => JSON.parse(HudiReadOptions.forEngine(HudiReadOptions.from(given), how).json);

const refuse = (/** @type {() => unknown} */ make) => assert.throws(make, (error) => HudiError.is(error, 'INVALID_ARGUMENT'), String(make));

test('nothing asked is a snapshot, streamed in batches of 1024 rows', () => {
  const { filters, queryType, readOptimized, batchSize, asOf, limit } = sent(undefined, { stream: true });
  assert.deepEqual({ filters, queryType, readOptimized, batchSize, asOf, limit }, {
    filters: [],
    queryType: 'snapshot',
    readOptimized: false,
    batchSize: 1024,
    asOf: undefined,
    limit: undefined,
  });
});

test('a named option wins over its key, and the key over the default', () => {
  const hudiOptions = { 'hoodie.read.stream.batch_size': '7', 'hoodie.read.use.read_optimized.mode': 'true' };
  assert.equal(sent({ hudiOptions }, { stream: true }).batchSize, 7);
  assert.equal(sent({ hudiOptions, batchSize: 9 }, { stream: true }).batchSize, 9);
  assert.equal(sent({ hudiOptions }).readOptimized, true);
  assert.equal(sent({ hudiOptions, readOptimized: false }).readOptimized, false);
});

test('a Date is that moment in UTC as text, and text stays unread', () => {
  assert.deepEqual(sent({ asOf: new Date(0) }).asOf, { text: '1970-01-01T00:00:00.000Z' });
  assert.deepEqual(sent({ asOf: '20240101000000000' }).asOf, { text: '20240101000000000' });
});

test('each step of the builder gives a new one, and reads back', () => {
  const first = new HudiReadOptions({ filters: [['a', '=', 1]] });
  const second = first.withBatchSize(5).withQueryType('incremental').withStartTimestamp('1').withLimit(3).withReadOptimized();
  assert.deepEqual([first.batchSize(), first.queryType(), first.startTimestamp()], [1024, 'snapshot', undefined]);
  assert.deepEqual([second.batchSize(), second.queryType(), second.startTimestamp()], [5, 'incremental', '1']);
  const { filters, limit, readOptimized } = sent(second);
  assert.deepEqual({ filters, limit, readOptimized }, { filters: [{ field: 'a', operator: '=', values: ['1'] }], limit: 3, readOptimized: true });
  assert.deepEqual(second.withFilters([]).filters, []);
});

test('the signal and the listener stay on this side', () => {
  const { signal } = new AbortController();
  const onProgress = () => {};
  const { json, ...call } = HudiReadOptions.forEngine(new HudiReadOptions({ signal, onProgress }).withLimit(1));
  assert.deepEqual(call, { signal, onProgress });
  assert.ok(!json.includes('signal'));
});

test('what no table could take is refused where it is given', () => {
  for (const given of [
    { batchSize: 0 },
    { batchSize: 1.5 },
    { limit: -1 },
    { projection: 'a' },
    { projection: ['a', 'a'] },
    { queryType: 'latest' },
    { asOf: 20240101000000000 },
    { asOf: '' },
    { filter: [] },
    { hudiOptions: { a: 1 } },
    { readOptimized: 'yes' },
    { signal: {} },
  ]) {
    refuse(() => new HudiReadOptions(/** @type {any} */ (given)));
  }
  refuse(() => openOptions({ concurrency: 0 }));
  refuse(() => openOptions({ memoryLimit: 0 }));
  refuse(() => openOptions({ cache: { memory: -1 } }));
  refuse(() => openOptions(/** @type {any} */ ({ store: {} })));
});
