// Tables made and appended to from JavaScript: in memory, in a folder, in a bucket behind a proxy that fails; and in Chromium's private files.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Int64, Table, Utf8, tableFromArrays, tableFromIPC, tableToIPC, vectorFromArray } from 'apache-arrow';
import { credentials, region, s3Server } from '../../scripts/lib/s3_server.mjs';
import { rows as canonical } from './support/canonical.js';
import { faultProxy } from './support/fault_proxy.js';
import { importBeside } from './support/packed.js';
import { presign } from './support/sign.js';

/** @type {typeof import('../../js/index.d.ts')} */
const hudi = /** @type {any} */ (await importBeside("export * from 'hudi-wasm';"));
const code = (/** @type {any} */ wanted) => (/** @type {unknown} */ error) => hudi.HudiError.is(error, wanted);

const schema = JSON.stringify({
  type: 'record',
  name: 'trip',
  fields: [
    { name: 'id', type: 'long' },
    { name: 'city', type: ['null', 'string'], default: null },
    { name: 'fare', type: ['null', { type: 'bytes', logicalType: 'decimal', precision: 8, scale: 2 }], default: null },
  ],
});
const create = /** @type {const} */ ({ tableName: 'trips', schema, recordKeyFields: ['id'], metadata: false });
const some = { rows: [{ id: 1, city: 'Oslo', fare: '12.50' }, { id: 2n, city: null }] };

const plain = async (/** @type {any} */ source) => canonical(tableFromIPC((await source).ipc));

/** Ids and cities of a table as it is now. */
async function rowsOf(/** @type {import('../../js/index.d.ts').HudiTable} */ table) {
  const read = tableFromIPC((await table.read({ projection: ['id', 'city'] })).ipc);
  return read.toArray().map(({ id, city }) => `${id} ${city}`).sort();
}

/** @type {string} */
let folder;
/** @type {Awaited<ReturnType<typeof s3Server>>} */
let server;
/** @type {Awaited<ReturnType<typeof faultProxy>>} */
let proxy;

before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'hudi-write-'));
  for (const bucket of ['lake', 'pond']) await mkdir(path.join(folder, 'buckets', bucket), { recursive: true });
  server = await s3Server(path.join(folder, 'buckets'));
  proxy = await faultProxy(server.endpoint);
});
beforeEach(() => {
  proxy.reset();
  proxy.inTurn = true;
});
after(async () => {
  await proxy.close();
  await server.close();
  await rm(folder, { recursive: true });
});

const s3 = () => /** @type {const} */ ({ type: 's3', region, endpoint: proxy.origin, credentials });
const presigned = () => {
  const place = { endpoint: proxy.origin, bucket: 'lake', region, credentials, expires: 300 };
  return /** @type {const} */ ({ type: 's3-presigned', sign: async (/** @type {any} */ request) => presign(place, request) });
};
let nth = 0;
const kinds = {
  memory: () => ({ uri: 'memory:///t', storage: hudi.createObjectStore('memory:///t', { type: 'memory' }) }),
  file: () => ({ uri: pathToFileURL(path.join(folder, `t${(nth += 1)}`)).href, storage: /** @type {const} */ ({ type: 'file' }) }),
  s3: () => ({ uri: `s3://lake/t${(nth += 1)}`, storage: s3() }),
  's3-presigned': () => ({ uri: `s3://lake/t${(nth += 1)}`, storage: presigned() }),
};

for (const [kind, place] of Object.entries(kinds)) {
  test(`${kind}: a table is made, appended to twice and read again`, async () => {
    const { uri, storage } = place();
    const table = await hudi.HudiTable.create(uri, { ...create, storage });
    assert.deepEqual(await rowsOf(table), []);
    const events = /** @type {any[]} */ ([]);
    const result = await table.append(some, { onProgress: (event) => events.push(event) });
    assert.equal(result.inserted, 2);
    assert.equal(result.action, 'commit');
    assert.match(result.instant ?? '', /^\d{17}$/);
    assert.deepEqual(await rowsOf(result.table), ['1 Oslo', '2 null']);
    assert.deepEqual(await rowsOf(table), [], 'the older handle stays where it is');
    assert.deepEqual(events.filter(({ type }) => type === 'phase').map(({ phase }) => phase), ['plan', 'write', 'commit']);
    assert.ok(events.some(({ type, rows }) => type === 'rows' && rows === 2));
    await table.append({ rows: [{ id: 3, city: 'Rome', fare: 1 }] });
    const opened = await hudi.HudiTable.open(uri, { storage });
    assert.deepEqual(await rowsOf(opened), ['1 Oslo', '2 null', '3 Rome']);
    assert.equal(await opened.resolve(result.instant ?? ''), 'COMMITTED');
    await assert.rejects(hudi.HudiTable.create(uri, { ...create, storage }), code('TABLE_EXISTS'));
    assert.deepEqual(await rowsOf(await opened.refresh()), ['1 Oslo', '2 null', '3 Rome']);
  });
}

test('Arrow comes as a stream, a file, pieces and a ReadableStream', async () => {
  const arrow = (/** @type {bigint[]} */ ids) =>
    new Table({ id: vectorFromArray(ids, new Int64()), name: vectorFromArray(ids.map((id) => `n${id}`), new Utf8()) });
  const { uri, storage } = kinds.memory();
  const table = await hudi.HudiTable.create(uri, { tableName: 't', schema: tableToIPC(arrow([0n]), 'stream'), metadata: false, storage });
  const file = tableToIPC(arrow([2n]), 'file');
  const stream = (/** @type {bigint} */ id) => tableToIPC(arrow([id]), 'stream');
  const pieces = [...stream(3n)].map((byte) => Uint8Array.of(byte));
  const inputs = [stream(1n), stream(2n), pieces, new Blob([/** @type {any} */ (stream(4n))]).stream(), stream(5n).slice().buffer, (async function* () { yield stream(2n); })(), file, [...file].map((byte) => Uint8Array.of(byte))];
  for (const input of inputs) assert.equal((await table.append(/** @type {any} */ (input))).inserted, 1);
  const read = tableFromIPC((await (await table.refresh()).read({ projection: ['id'] })).ipc);
  assert.deepEqual(read.toArray().map(({ id }) => Number(id)).sort(), [1, 2, 2, 2, 2, 3, 4, 5]);
  const before = await table.refresh();
  await assert.rejects(table.append(file.subarray(0, file.length - 600)), code('INVALID_ARGUMENT'));
  await assert.rejects(table.append(new Uint8Array([1, 2, 3])), code('INVALID_ARGUMENT'));
  await assert.rejects(table.append(tableToIPC(tableFromArrays({ other: ['x'] }), 'stream')), code('SCHEMA'));
  const broken = (async function* () { yield stream(9n).subarray(0, 100); throw new Error('the tap ran dry'); })();
  await assert.rejects(table.append(broken), (/** @type {any} */ error) => error.code === 'INVALID_ARGUMENT' && /ran dry/.test(error.cause.message));
  assert.equal((await table.refresh()).getTimeline().getLatestCommitTimestamp(), before.getTimeline().getLatestCommitTimestamp());
});

test('a file is a schema too, and Arrow that is damaged is refused in words, never by a trap', async () => {
  const names = vectorFromArray(['a', null, 'ü'], new Utf8());
  const data = new Table({ id: vectorFromArray([1n, 2n, 3n], new Int64()), name: names, word: vectorFromArray(['x', 'y', 'x']) });
  const inputs = /** @type {const} */ (['file', 'stream']).map((kind) => tableToIPC(data, kind));
  const fresh = () => hudi.HudiTable.create(kinds.memory().uri, { tableName: 't', schema: tableToIPC(data, 'file'), metadata: false, storage: kinds.memory().storage });
  let [table, seed, written] = [await fresh(), 1, 0];
  const random = (/** @type {number} */ below) => (seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0, (seed >>> 8) % below);
  for (let round = 0; round < 600; round += 1) {
    const bytes = /** @type {Uint8Array<any>} */ (inputs[round % 2]?.slice());
    const words = new DataView(bytes.buffer, 0, bytes.length - (bytes.length % 4));
    if (round % 3 === 0) words.setInt32(4 * random(words.byteLength / 4), [-1, 0x7fffffff, -0x80000000, 0x40000000][random(4)] ?? 0, true);
    else for (let flips = 0; flips <= random(3); flips += 1) bytes[random(bytes.length)] ^= 1 << random(8);
    try {
      await table.append(round % 5 === 0 ? bytes.subarray(0, random(bytes.length)) : bytes);
      [table, written] = [await fresh(), written + 1];
    } catch (/** @type {any} */ error) {
      assert.ok(['INVALID_ARGUMENT', 'SCHEMA', 'LIMIT_EXCEEDED'].includes(error.code), `round ${round}: ${error.code} ${error.message}`);
      assert.equal((await table.refresh()).getTimeline().getLatestCommitTimestamp(), undefined);
    }
  }
  assert.ok(written > 50 && written < 500, String(written));
});

test('rows that would lose are refused with their number, before there is an instant', async () => {
  const { uri, storage } = kinds.memory();
  const table = await hudi.HudiTable.create(uri, { ...create, storage });
  const lost = [{ id: 2 ** 53 }, { id: 1.5 }, { id: 1, fare: 0.125 }, { id: 1, fare: '1000000' }, { id: '1' }, { id: 1, town: 'x' }, { id: 1, city: '\ud800' }];
  for (const row of lost) {
    const refused = table.append({ rows: [{ id: 7 }, /** @type {any} */ (row)] });
    await assert.rejects(refused, (/** @type {any} */ error) => error.code === 'SCHEMA' && error.context.row === '1', JSON.stringify(row));
  }
  assert.deepEqual((await table.refresh()).getTimeline().getCompletedCommits(), []);
});

test('a web folder is not written', async () => {
  await assert.rejects(hudi.HudiTable.create('http://127.0.0.1:9/t', create), code('READ_ONLY_STORAGE'));
});

test('W1: whichever put of a commit loses its answer, the rows are there once', async () => {
  const { uri, storage } = kinds.s3();
  const table = await hudi.HudiTable.create(uri, { ...create, storage });
  proxy.reset();
  await table.append({ rows: [{ id: 100 }] });
  const puts = proxy.log.filter(({ method }) => method === 'PUT').length;
  assert.ok(puts >= 4);
  for (let lost = 1; lost <= puts; lost += 1) {
    proxy.reset();
    let seen = 0;
    proxy.fault = ({ method }) => (method === 'PUT' && (seen += 1) === lost ? { lose: true } : undefined);
    await table.append({ rows: [{ id: lost }] });
  }
  proxy.reset();
  const ids = (await rowsOf(await table.refresh())).map((row) => Number(row.split(' ')[0])).sort((a, b) => a - b);
  assert.deepEqual(ids, [...Array(puts).keys()].map((i) => i + 1).concat(100));
});

test('W3: a server that passes over the condition is not written', async () => {
  // A bucket of its own: what is known of the other one does not count.
  proxy.fault = ({ method, path, nth }) => (method === 'PUT' && path.includes('/.probe-') && nth === 2 ? { status: 200, headers: { etag: '"1"' } } : undefined);
  await assert.rejects(hudi.HudiTable.create('s3://pond/t', { ...create, storage: s3() }), code('READ_ONLY_STORAGE'));
  proxy.reset();
  await hudi.HudiTable.create('s3://pond/u', { ...create, storage: s3() });
  assert.equal(proxy.asked.filter((asked) => asked.includes('.probe-')).length, 3);
  proxy.reset();
  await hudi.HudiTable.create('s3://pond/v', { ...create, storage: s3() });
  assert.equal(proxy.asked.filter((asked) => asked.includes('.probe-')).length, 0);
});

test('a folder is left without files on their way', async () => {
  const { uri, storage } = kinds.file();
  const table = await hudi.HudiTable.create(uri, { ...create, storage });
  await table.append(some);
  const files = await readdir(new URL(uri), { recursive: true });
  assert.ok(files.some((name) => name.endsWith('.parquet')));
  assert.deepEqual(files.filter((name) => name.includes('.hudi-wasm-')), []);
});

test('writers of one process wait for each other', async () => {
  const { uri, storage } = kinds.file();
  const table = await hudi.HudiTable.create(uri, { ...create, storage });
  const handles = await Promise.all([1, 2, 3, 4].map(() => hudi.HudiTable.open(uri, { storage })));
  await Promise.all(handles.map((handle, i) => handle.append({ rows: [{ id: i }] })));
  assert.equal((await rowsOf(await table.refresh())).length, 4);
});

test('what a write does is told: phases, requests and warnings', async () => {
  const { uri, storage } = kinds.memory();
  const requests = /** @type {any[]} */ ([]);
  const events = /** @type {any[]} */ ([]);
  const onProgress = (/** @type {any} */ event) => events.push(event);
  const phases = () => events.splice(0).filter(({ type }) => type === 'phase').map(({ phase }) => phase);
  const table = await hudi.HudiTable.create(uri, { ...create, metadata: undefined, storage, onProgress, onRequest: (request) => requests.push(request) });
  assert.deepEqual(phases(), ['write', 'metadata']);
  requests.length = 0;
  const { instant } = await table.append(some, { onProgress });
  assert.deepEqual(phases(), ['plan', 'write', 'metadata', 'commit']);
  const puts = requests.filter(({ method }) => method === 'PUT').map(({ path }) => path);
  assert.ok(puts.some((path) => path.endsWith('.parquet')), 'data files are told');
  const completed = puts.findIndex((path) => path.startsWith(`.hoodie/timeline/${instant}_`));
  const indexed = puts.findIndex((path) => path.startsWith(`.hoodie/metadata/.hoodie/timeline/${instant}_`));
  assert.ok(completed > indexed && indexed >= 0, puts.join('\n'));
});

for (const [kind, place] of Object.entries(kinds)) {
  test(`${kind}: the newest write is taken back, and its plan names files as Spark does`, async () => {
    const { uri, storage } = place();
    const table = await hudi.HudiTable.create(uri, { ...create, storage });
    const first = await table.append(some);
    const second = await table.append({ rows: [{ id: 3, city: 'Rome' }] });
    await assert.rejects(table.rollback(first.instant ?? ''), (/** @type {any} */ error) => error.code === 'INVALID_ARGUMENT' && error.context.newer === second.instant);
    const events = /** @type {any[]} */ ([]);
    const { instant, ...told } = await table.rollback(second.instant ?? '', { onProgress: (event) => events.push(event) });
    assert.deepEqual(told, { service: 'rollback', state: 'COMPLETED', fileGroups: 1, filesWritten: 0, filesDeleted: 1, bytesWritten: 0 });
    assert.deepEqual(events.filter(({ type }) => type === 'phase').map(({ phase }) => phase), ['plan', 'write']);
    const after = await table.refresh();
    assert.deepEqual(await rowsOf(after), ['1 Oslo', '2 null']);
    assert.equal(await after.resolve(second.instant ?? ''), 'NOT_COMMITTED');
    const entries = await after.getTimeline().getInstants();
    const rollback = entries.find(({ timestamp }) => timestamp === instant) ?? assert.fail('no rollback on the timeline');
    assert.deepEqual([rollback.action, rollback.state, rollback.rollsBack], ['rollback', 'COMPLETED', [second.instant]]);
    const [deleted] = Object.values(JSON.parse(await after.getTimeline().getInstantMetadataInJson(rollback)).partitionMetadata).flatMap((/** @type {any} */ one) => one.successDeleteFiles);
    const named = { memory: '', file: kind === 'file' ? fileURLToPath(uri) : '', s3: uri.replace('s3:', 's3a:'), 's3-presigned': uri.replace('s3:', 's3a:') };
    assert.equal(path.dirname(deleted), named[/** @type {keyof typeof named} */ (kind)] || '/');
    await assert.rejects(after.rollback(second.instant ?? ''), code('NOT_FOUND'));
    const again = await after.append({ rows: [{ id: 4, city: null }] });
    assert.deepEqual(await rowsOf(again.table), ['1 Oslo', '2 null', '4 null']);
  });
}

test('a write is taken back from the metadata table too', async () => {
  const { uri, storage } = kinds.file();
  const table = await hudi.HudiTable.create(uri, { ...create, metadata: undefined, partitionFields: ['city'], storage });
  await table.append({ rows: [{ id: 1, city: 'Oslo' }, { id: 2, city: 'Rome' }] });
  const second = await table.append({ rows: [{ id: 3, city: 'Rome' }, { id: 4, city: 'Bern' }] });
  assert.equal((await second.table.lookup(['3', '4'])).numRows, 2);
  const { fileGroups, filesDeleted } = await table.rollback(second.instant ?? '');
  assert.deepEqual([fileGroups, filesDeleted], [2, 2]);
  const after = await hudi.HudiTable.open(uri, { storage });
  const read = await after.read({ checkListing: true });
  assert.deepEqual([read.numRows, read.metrics.listing.source], [2, 'metadata-table']);
  assert.equal((await after.lookup(['1', '2', '3', '4'])).numRows, 2);
  const again = await after.append({ rows: [{ id: 4, city: 'Bern' }] });
  assert.deepEqual(await rowsOf(again.table), ['1 Oslo', '2 Rome', '4 Bern']);
});

test('canonicalUri names the table in plans, and a local path is not percent-encoded', async () => {
  const odd = pathToFileURL(path.join(folder, 'a ü 100% table')).href;
  for (const [canonicalUri, expected] of [[undefined, path.join(folder, 'a ü 100% table')], ['gs://lake/trips/', 'gs://lake/trips'], ['/mnt/lake', '/mnt/lake']]) {
    await rm(new URL(odd), { recursive: true, force: true });
    const table = await hudi.HudiTable.create(odd, { ...create, storage: { type: 'file' }, ...(canonicalUri && { canonicalUri }) });
    const { instant } = await table.append(some);
    const rollback = await table.rollback(instant ?? '');
    const entry = (await (await table.refresh()).getTimeline().getInstants()).find(({ timestamp }) => timestamp === rollback.instant);
    const body = await (await table.refresh()).getTimeline().getInstantMetadataInJson(entry ?? assert.fail('it is gone'));
    const [deleted] = Object.values(JSON.parse(body).partitionMetadata).flatMap((/** @type {any} */ one) => one.successDeleteFiles);
    assert.equal(path.dirname(deleted), expected);
  }
  for (const canonicalUri of ['lake/trips', '', 's3a:', 7]) {
    await assert.rejects(hudi.HudiTable.open(odd, { canonicalUri: /** @type {any} */ (canonicalUri) }), code('INVALID_ARGUMENT'), String(canonicalUri));
  }
});

test('a signal that comes once the completed file is on its way is not heeded', async () => {
  const { uri, storage } = kinds.memory();
  const store = /** @type {any} */ (storage);
  const table = await hudi.HudiTable.create(uri, { ...create, storage });
  const controller = new AbortController();
  const put = store.put;
  store.put = async (/** @type {string} */ path, /** @type {any[]} */ ...rest) => {
    const completing = /^\.hoodie\/timeline\/\d+_\d+\.commit$/.test(path);
    if (completing) controller.abort(new Error('too late'));
    await new Promise((resolve) => setTimeout(resolve, completing ? 30 : 0));
    return put.call(store, path, ...rest);
  };
  const { inserted } = await table.append(some, { signal: controller.signal });
  assert.ok(inserted === 2 && controller.signal.aborted);
  assert.deepEqual(await rowsOf(await table.refresh()), ['1 Oslo', '2 null']);
});

test('a rollback whose plan is being written is carried out, whatever its signal says; before that it ends', async () => {
  const { uri, storage } = kinds.memory();
  const store = /** @type {any} */ (storage);
  const table = await hudi.HudiTable.create(uri, { ...create, storage });
  const { instant = '' } = await table.append(some);
  const put = store.put;
  const controller = new AbortController();
  store.put = async (/** @type {string} */ path, /** @type {any[]} */ ...rest) => {
    if (path.endsWith('.rollback.requested')) controller.abort();
    await new Promise((resolve) => setTimeout(resolve, 5));
    return put.call(store, path, ...rest);
  };
  await assert.rejects(table.rollback(instant, { signal: AbortSignal.abort() }), code('ABORTED'));
  assert.deepEqual(await rowsOf(await table.refresh()), ['1 Oslo', '2 null']);
  assert.equal((await table.rollback(instant, { signal: controller.signal })).state, 'COMPLETED');
  assert.ok(controller.signal.aborted);
  assert.deepEqual(await rowsOf(await table.refresh()), []);
});

test('a result is one Parquet file, whose rows are the same', async () => {
  const { uri, storage } = kinds.memory();
  const store = /** @type {import('../../js/index.d.ts').ObjectStore} */ (storage);
  const table = await hudi.HudiTable.create(uri, { ...create, storage });
  await table.append(some);
  const { table: after } = await table.append({ rows: [{ id: 3, city: 'Rome', fare: '-0.01' }] });
  const result = await after.read();
  assert.ok(result.numBatches > 1);
  const expected = await plain(result);
  const reader = await hudi.HudiFileGroupReader.open(uri, { storage });
  const sizes = /** @type {Record<string, number>} */ ({});
  for (const compression of /** @type {const} */ (['uncompressed', 'snappy', 'gzip', 'lz4_raw', undefined])) {
    const file = await hudi.toParquet(result, { ...(compression && { compression }) });
    assert.deepEqual([Buffer.from(file.subarray(0, 4)).toString(), Buffer.from(file.subarray(-4)).toString()], ['PAR1', 'PAR1']);
    const name = `${(nth += 1).toString(16).padStart(8, '0')}-0000-0000-0000-000000000000-0_0-0-0_20200101000000000.parquet`;
    await store.put?.(name, file, {});
    assert.deepEqual(await plain(reader.readFileSliceFromPaths(name, [])), expected);
    sizes[String(compression)] = file.length;
  }
  assert.equal(sizes.undefined, sizes.gzip);
  assert.notEqual(sizes.gzip, sizes.uncompressed);
  const none = await hudi.toParquet(await after.read({ filters: [['id', '=', 77]], projection: ['id'] }));
  assert.equal(Buffer.from(none.subarray(-4)).toString(), 'PAR1');
  await assert.rejects(hudi.toParquet(await after.read({ projection: [] })), code('INVALID_ARGUMENT'));
  await assert.rejects(hudi.toParquet(result, { compression: /** @type {any} */ ('zstd') }), code('INVALID_ARGUMENT'));
  await assert.rejects(hudi.toParquet(/** @type {any} */ ([1, 2])), code('INVALID_ARGUMENT'));
});

test('a large file leaves by parts of one size through presigned addresses, each signed', async () => {
  const { uri, storage } = kinds['s3-presigned']();
  const signed = /** @type {any[]} */ ([]);
  const sign = async (/** @type {any} */ request) => {
    signed.push(request);
    return /** @type {any} */ (storage).sign(request);
  };
  const schema = JSON.stringify({ type: 'record', name: 't', fields: [{ name: 'id', type: 'long' }, { name: 'noise', type: 'bytes' }] });
  const table = await hudi.HudiTable.create(uri, { tableName: 't', schema, metadata: false, storage: { type: 's3-presigned', sign } });
  proxy.reset();
  const rows = Array.from({ length: 20 }, (_, id) => ({ id, noise: new Uint8Array(randomBytes(1 << 20)) }));
  const { bytesWritten, table: after } = await table.append({ rows }, { compression: 'uncompressed' });
  assert.ok(bytesWritten > 20 << 20);
  const parts = proxy.log.filter(({ method, url }) => method === 'PUT' && url.includes('partNumber='));
  const lengths = parts.map(({ headers }) => Number(headers['content-length']));
  assert.equal(lengths.length, 3);
  assert.deepEqual(lengths.slice(0, 2), [8 << 20, 8 << 20]);
  assert.equal(lengths.reduce((sum, length) => sum + length), bytesWritten);
  const posts = signed.filter(({ method }) => method === 'POST');
  assert.deepEqual(posts.map(({ query }) => Object.keys(query)), [['uploads'], ['uploadId']]);
  assert.equal(proxy.log.filter(({ method }) => method === 'POST').length, 2);
  const noise = tableFromIPC((await after.read()).ipc).getChild('noise');
  assert.deepEqual([...(noise ?? [])].map((bytes) => Buffer.from(bytes).toString('base64')), rows.map((row) => Buffer.from(row.noise).toString('base64')));

  // W5: whatever fails on the way, the parts are given up.
  for (const fails of [(/** @type {any} */ { url }) => url.includes('partNumber=2'), (/** @type {any} */ { method, url }) => method === 'POST' && url.includes('uploadId')]) {
    proxy.reset();
    proxy.fault = (asked) => (fails(asked) ? { status: 403, body: '<Error><Code>AccessDenied</Code></Error>' } : undefined);
    await assert.rejects(table.append({ rows }, { compression: 'uncompressed' }), code('UNAUTHORIZED'));
    assert.equal(proxy.log.filter(({ method, url, status }) => method === 'DELETE' && url.includes('uploadId') && status === 204).length, 1);
  }
  proxy.reset();
  assert.equal((await (await table.refresh()).read({ projection: [] })).numRows, 20);
});

test('of a large file at hand only small pieces are kept, unless the cache is given', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'hudi-wasm-large-'));
  const schema = JSON.stringify({ type: 'record', name: 't', fields: [{ name: 'id', type: 'long' }, { name: 'noise', type: 'bytes' }] });
  const uri = pathToFileURL(folder).href;
  try {
    const table = await hudi.HudiTable.create(uri, { tableName: 't', schema, metadata: false });
    const rows = Array.from({ length: 6 }, (_, id) => ({ id, noise: new Uint8Array(randomBytes(1 << 20)) }));
    await table.append({ rows }, { compression: 'uncompressed' });
    for (const [cache, again] of /** @type {const} */ ([[undefined, true], [{ memory: 64 << 20 }, false]])) {
      const reader = await hudi.HudiTable.open(uri, { cache });
      await reader.read();
      const { bytes, cacheHits } = (await reader.read()).metrics;
      assert.ok(cacheHits > 0);
      assert.equal(bytes > 4 << 20, again, `${bytes} bytes`);
    }
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('a signal before the commit leaves the table as it was', async () => {
  const { uri, storage } = kinds.memory();
  const table = await hudi.HudiTable.create(uri, { ...create, storage });
  const controller = new AbortController();
  const endless = (async function* () {
    for (;;) yield await new Promise(() => {});
  })();
  const append = table.append(/** @type {any} */ (endless), { signal: controller.signal });
  setTimeout(() => controller.abort(), 50);
  await assert.rejects(append, code('ABORTED'));
  assert.deepEqual(await rowsOf(await table.refresh()), []);
});
