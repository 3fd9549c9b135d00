// The explorer's plain parts: links, instants, cells, colours, words for failures. No browser is needed for them.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import * as arrow from 'apache-arrow';
import { tableOf } from '../../www/engine/cells.js';
import { filesOfTable, folderStore } from '../../www/engine/folder_store.js';
import { actionName, clock, full, laneOf } from '../../www/model/instant.js';
import { format, parse, withoutSecrets } from '../../www/model/link.js';
import { corsRule, problemOf, toldCodes } from '../../www/model/problem.js';
import { bytes, duration, middleCut } from '../../www/model/units.js';
import { squarify } from '../../www/parts/squarify.js';
import { nearest, panned, scaleOf, ticksOf, zoomed } from '../../www/parts/scale.js';

const text = (/** @type {string} */ name) => readFile(new URL(`../../${name}`, import.meta.url), 'utf8');

test('a link gives back the place, the instant, the view and the filters', () => {
  /** @type {import('../../www/model/link.js').Link} */
  const link = {
    place: { uri: 's3://bucket/a table', kind: 's3', manifest: undefined, region: 'eu-west-1', endpoint: 'https://minio:9000', pathStyle: true, anonymous: true, timezone: undefined },
    view: 'files',
    asOf: '20261129204517096',
    filters: [['city', '=', 'são paulo & co'], ['price', 'IS NULL']],
  };
  assert.deepEqual(parse(`#${format(link)}`), link);
});

test('a link never carries a secret', () => {
  const uri = 'https://user:pa55word@host/table?X-Amz-Signature=5ecret#token=5ecret';
  /** @type {any} */
  const place = { uri, kind: 'http', manifest: `${uri}&sig=5ecret`, endpoint: uri, accessKeyId: 'AKIA5ecret', secretAccessKey: '5ecret', authorization: 'Bearer 5ecret' };
  const link = format({ place, view: 'data', filters: [] });
  assert.doesNotMatch(link, /5ecret|pa55word|user/);
  assert.match(link, /table=https%3A%2F%2Fhost%2Ftable/);
  assert.equal(withoutSecrets('s3://key:pa55word@bucket/t'), 's3://bucket/t');
  assert.equal(withoutSecrets('https://host/a@b/t'), 'https://host/a@b/t');
});

test('a link that someone broke opens nothing and throws nothing', () => {
  for (const hash of ['', '#', '#filters=[[', '#filters={"a":1}', '#filters=[[1,2,3]]', '#view=nowhere', '#%', '#table=']) {
    assert.deepEqual(parse(hash), { view: 'data', filters: [] }, hash);
  }
});

test('instants are shown on their own clock', () => {
  assert.equal(full('20261129204517096'), '2026-11-29 20:45:17.096');
  assert.equal(full('20261129204517'), '2026-11-29 20:45:17');
  assert.equal(full('00000000000000000'), '00000000000000000');
  assert.equal(clock('19700102000000001'), 86_400_001);
  assert.equal(clock('nothing'), undefined);
});

test('an instant lies in the lane of what it did', () => {
  const entry = (/** @type {string} */ action) => /** @type {const} */ ({ timestamp: '20261129204517096', action, state: 'COMPLETED', archived: false });
  const check = (/** @type {string} */ action, /** @type {string} */ type, /** @type {string[]} */ clusterings, /** @type {string} */ name, /** @type {string} */ lane) => {
    assert.equal(actionName(entry(action), { type, clusterings }), name);
    assert.equal(laneOf(name), lane);
  };
  check('replacecommit', 'COPY_ON_WRITE', [], 'replacecommit', 'writes');
  check('replacecommit', 'COPY_ON_WRITE', ['20261129204517096'], 'clustering', 'services');
  check('commit', 'MERGE_ON_READ', [], 'compaction', 'services');
  check('commit', 'COPY_ON_WRITE', [], 'commit', 'writes');
  check('rollback', 'COPY_ON_WRITE', [], 'rollback', 'clean-up');
});

test('the strip orders instants by time and names round times', () => {
  const entry = (/** @type {string} */ timestamp) => /** @type {const} */ ({ timestamp, completionTimestamp: timestamp, action: 'commit', state: 'COMPLETED', archived: false });
  const instants = ['20261129235950000', '20261130000010000', '20261130000030000'].map(entry);
  const { x, start, end } = scaleOf(instants, 1000);
  const places = instants.map(({ timestamp }) => x(clock(timestamp) ?? NaN));
  assert.ok(places.every((place, i) => place > 0 && place < 1000 && place > (places[i - 1] ?? -1)), String(places));
  const [one = NaN, two = NaN, three = NaN] = places;
  assert.ok(Math.abs(two - one - (three - two)) < 1e-6, 'equal gaps are equally wide');
  const ticks = ticksOf(start, end, 1000).map(({ text: word }) => word);
  assert.ok(ticks.includes('11-30 00:00:00'), `the first tick of another day says the day: ${ticks}`);
  assert.ok(ticks.includes('23:59:50'), String(ticks));
  assert.equal(nearest(instants, (clock('20261130000012000')) ?? 0), 1);
  assert.equal(nearest([], 0), -1);
});

test('zooming keeps the time under the pointer in place and stays within the whole', () => {
  const whole = { start: 0, end: 100_000 };
  const near = zoomed(whole, whole, 25_000, 0.5);
  assert.deepEqual(near, { start: 12_500, end: 62_500 });
  assert.deepEqual(near && panned(near, whole, 90_000), { start: 50_000, end: 100_000 });
  assert.deepEqual(near && panned(near, whole, -90_000), { start: 0, end: 50_000 });
  assert.equal(near && zoomed(near, whole, 25_000, 3), undefined, 'all the way out is the whole');
});

test('blocks of the treemap fill their area in proportion and stay near squares', () => {
  const sizes = [600, 300, 300, 100, 100, 100, 60, 40];
  const boxes = squarify(sizes, 400, 160);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  for (const [i, { left, top, width, height }] of boxes.entries()) {
    assert.ok(Math.abs((width * height) / (400 * 160) - (sizes[i] ?? 0) / total) < 1e-9);
    assert.ok(left >= -1e-9 && top >= -1e-9 && left + width <= 400 + 1e-9 && top + height <= 160 + 1e-9);
    assert.ok(Math.max(width / height, height / width) < 3, `${width} by ${height}`);
    const over = boxes.some((other, j) => j !== i && other.left < left + width - 1e-6 && left < other.left + other.width - 1e-6 && other.top < top + height - 1e-6 && top < other.top + other.height - 1e-6);
    assert.equal(over, false, 'no block lies over another');
  }
  assert.equal(boxes.length, sizes.length);
});

test('numbers carry one unit', () => {
  assert.deepEqual([999, 1000, 84_231_002, 2_000_000_000].map(bytes), ['999 B', '1.0 kB', '84.2 MB', '2.0 GB']);
  assert.deepEqual([412.4, 1400, 61_000].map(duration), ['412 ms', '1.4 s', '1 min 1 s']);
  assert.equal(middleCut('3689d204-e6cd-4920-a21b-112233445500-0', 20), '3689d204-e6cd-49…0-0');
});

/** @param {Record<string, arrow.Vector>} columns */
const cells = (columns) => {
  const { rows, columns: heads } = tableOf(arrow.tableToIPC(new arrow.Table(columns), 'stream'));
  return { rows, types: heads.map(({ type }) => type) };
};

test('cells of flat types show exact values, nulls apart', () => {
  const long = arrow.vectorFromArray([9_007_199_254_740_993n, null], new arrow.Int64());
  const double = arrow.vectorFromArray([9, 0.1], new arrow.Float64());
  const float = arrow.vectorFromArray([Math.fround(0.1), null], new arrow.Float32());
  const string = arrow.vectorFromArray(['ß, 🦀', ''], new arrow.Utf8());
  const flag = arrow.vectorFromArray([true, false], new arrow.Bool());
  const day = arrow.vectorFromArray([new Date('1969-12-31'), null], new arrow.DateDay());
  const binary = arrow.vectorFromArray([Uint8Array.of(0, 255), new Uint8Array(30)], new arrow.Binary());
  const { rows, types } = cells({ long, double, float, string, flag, day, binary });
  assert.deepEqual(types, ['long', 'double', 'float', 'string', 'boolean', 'date', 'binary']);
  assert.deepEqual(rows[0], ['9007199254740993', '9.0', '0.1', 'ß, 🦀', 'true', '1969-12-31', '00ff (2 B)']);
  assert.deepEqual(rows[1], [null, '0.1', null, '', 'false', null, `${'00'.repeat(24)}… (30 B)`]);
});

test('decimals and times keep every digit, below zero and before 1970 too', () => {
  const wide = (/** @type {bigint} */ value, /** @type {number} */ words) => Uint32Array.from({ length: words }, (_, i) => Number((BigInt.asUintN(32 * words, value) >> BigInt(32 * i)) & 0xffffffffn));
  const data = (/** @type {arrow.DataType} */ type, /** @type {any} */ values, /** @type {number} */ length) => new arrow.Vector([arrow.makeData({ type: /** @type {any} */ (type), length, nullCount: 0, data: values })]);
  const price = data(new arrow.Decimal(2, 10), Uint32Array.of(...wide(-5n, 4), ...wide(123_456n, 4)), 2);
  const big = data(new arrow.Decimal(0, 50, 256), Uint32Array.of(...wide(-(10n ** 49n), 8), ...wide(7n, 8)), 2);
  const zoned = data(new arrow.Timestamp(arrow.TimeUnit.MICROSECOND, 'UTC'), BigInt64Array.of(-1n, 1_000_000n), 2);
  const local = data(new arrow.Timestamp(arrow.TimeUnit.MILLISECOND), BigInt64Array.of(1_796_000_000_120n, 0n), 2);
  const { rows, types } = cells({ price, big, zoned, local });
  assert.deepEqual(types, ['decimal(10,2)', 'decimal(50,0)', 'timestamp', 'timestamp_ntz']);
  assert.deepEqual(rows[0], ['-0.05', `-1${'0'.repeat(49)}`, '1969-12-31 23:59:59.999999Z', new Date(1_796_000_000_120).toISOString().replace('T', ' ').replace('0Z', '')]);
  assert.deepEqual(rows[1], ['1234.56', '7', '1970-01-01 00:00:01Z', '1970-01-01 00:00:00']);
});

test('nested cells are compact JSON', () => {
  const list = arrow.vectorFromArray([['a', null], []], new arrow.List(new arrow.Field('element', new arrow.Utf8(), true)));
  const struct = arrow.vectorFromArray([{ n: 1, ok: true }, null], new arrow.Struct([new arrow.Field('n', new arrow.Int32(), true), new arrow.Field('ok', new arrow.Bool(), true)]));
  const entries = new arrow.Struct([new arrow.Field('key', new arrow.Utf8(), false), new arrow.Field('value', new arrow.Int64(), true)]);
  const map = arrow.vectorFromArray([new Map([['k', 2n]]), null], new arrow.Map_(new arrow.Field('entries', /** @type {any} */ (entries), false)));
  const { rows, types } = cells({ list, struct, map });
  assert.deepEqual(types, ['array<string>', 'struct<n: int, ok: boolean>', 'map<string, long>']);
  assert.deepEqual(rows, [['["a",null]', '{"n":1,"ok":true}', '{"k":2}'], ['[]', null, null]]);
});

test('a chosen folder is a store of the table in it', async () => {
  const file = (/** @type {string} */ name) => Object.defineProperty(new File([name], 'x'), 'webkitRelativePath', { value: name });
  const names = ['up/t/.hoodie/hoodie.properties', 'up/t/.hoodie/metadata/.hoodie/hoodie.properties', 'up/t/a=1/f', 'up/t/a=2/f', 'up/t/root', 'up/other'];
  const files = filesOfTable(names.map(file));
  assert.deepEqual([...files.keys()], ['.hoodie/hoodie.properties', '.hoodie/metadata/.hoodie/hoodie.properties', 'a=1/f', 'a=2/f', 'root']);
  const store = folderStore(files);
  /** @param {string} prefix @param {{ delimiter?: '/', startAfter?: string }} how */
  const list = async (prefix, how) => {
    const found = [];
    for await (const one of store.list(prefix, how)) found.push('prefix' in one ? one.prefix : `${one.path} ${one.size}`);
    return found;
  };
  assert.deepEqual(await list('', { delimiter: '/' }), ['root 9', '.hoodie/', 'a=1/', 'a=2/']);
  assert.deepEqual(await list('a=1', {}), ['a=1/f 10']);
  assert.deepEqual(await list('', { startAfter: 'a=1/f' }), ['a=2/f 10', 'root 9']);
  const read = async (/** @type {Parameters<typeof store.get>[1]['range']} */ range) => {
    const { data, size } = await store.get('a=1/f', range ? { range } : {});
    return [new TextDecoder().decode(/** @type {Uint8Array} */ (data)), size];
  };
  assert.deepEqual(await read({ start: 3, end: 7 }), ['t/a=', 10]);
  assert.deepEqual(await read({ suffix: 3 }), ['1/f', 10]);
  assert.deepEqual(await read(undefined), ['up/t/a=1/f', 10]);
  await assert.rejects(async () => store.get('gone', {}), { status: 404 });
});

test('every failure of reading has a sentence and a button', async () => {
  const types = await text('js/index.d.ts');
  const union = /export type HudiErrorCode =([^;]+);/.exec(types)?.[1] ?? '';
  const codes = [...union.matchAll(/'([A-Z_]+)'/g)].map(([, code = '']) => code);
  // Codes that only a write can give; ABORTED is a state of its own, and INTERNAL has the words for what has none.
  const others = ['TABLE_EXISTS', 'READ_ONLY_STORAGE', 'WRITE_CONFLICT', 'LOCK_TIMEOUT', 'COMMIT_STATE_UNKNOWN', 'ABORTED', 'INTERNAL'];
  assert.deepEqual([...toldCodes].sort(), codes.filter((code) => !others.includes(code)).sort());
  for (const code of codes) {
    const failure = { code: /** @type {any} */ (code), message: 'what the engine said', retryable: false, context: {} };
    const { title, text: words, remedies } = problemOf(failure, { asOf: '20261129204517096', uri: 'https://host/t', filtered: true });
    assert.ok(title.length > 10 && words.length > 30 && /[.]$/.test(words), code);
    assert.ok(remedies.length > 0, code);
    assert.doesNotMatch(words, /undefined|\[object/, code);
  }
});

test('the CORS rule lets this page alone read, and see what pins a file', () => {
  const [rule] = JSON.parse(corsRule('https://page.example'));
  assert.deepEqual(rule.AllowedOrigins, ['https://page.example']);
  assert.deepEqual(rule.AllowedMethods, ['GET']);
  for (const name of ['ETag', 'Content-Range']) assert.ok(rule.ExposeHeaders.includes(name), name);
});

test('text has a contrast of 4.5 to 1 or more in both colour schemes', async () => {
  const css = await text('www/style.css');
  const [light, dark] = [...css.matchAll(/:root \{([^}]+)\}/g)].slice(0, 2).map(([, body = '']) => tokens(body));
  const surfaces = ['bg', 'panel', 'soft', 'accent-soft'];
  const pairs = ['ink', 'dim', 'accent', 'warn-ink', 'bad-ink'].flatMap((ink) => surfaces.map((surface) => ({ ink, surface }))).concat({ ink: 'on-accent', surface: 'accent' });
  for (const [scheme, colours] of Object.entries({ light, dark })) {
    for (const { ink, surface } of pairs) {
      const ratio = contrast(colours?.[ink] ?? '', colours?.[surface] ?? '');
      assert.ok(ratio >= 4.5, `${scheme}: ${ink} on ${surface} is ${ratio.toFixed(2)}`);
    }
  }
});

/** @param {string} css */
const tokens = (css) => Object.fromEntries([...css.matchAll(/--([a-z-]+): (#[0-9a-f]{6})/g)].map((match) => [match[1], match[2]]));

/** WCAG 2.2's contrast ratio. @param {string} a @param {string} b */
function contrast(a, b) {
  const [one, other] = [luminance(a), luminance(b)];
  return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
}

/** @param {string} hex */
function luminance(hex) {
  const part = (/** @type {number} */ at) => {
    const value = parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5);
}
