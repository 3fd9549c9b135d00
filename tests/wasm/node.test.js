// The packed package as Node's users have it.
import assert from 'node:assert/strict';
import { readFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { tableFromIPC } from 'apache-arrow';
import { serve } from '../../scripts/lib/serve.mjs';
import { faultsOf } from './support/ask.js';
import { recorded, unpack } from './support/fixtures.js';
import { file, importBeside, runBeside } from './support/packed.js';

const name = 'v9_cow_all_types';
const folder = await unpack(name);
const queries = await recorded(name);
/** @type {typeof import('../../js/index.d.ts')} */
const hudi = /** @type {any} */ (await importBeside("export * from 'hudi-wasm';"));

test('the packed wasm resolves by name and compiles in Node', async () => {
  const { url } = await importBeside("export const url = import.meta.resolve('hudi-wasm/core.wasm');");
  const module = await WebAssembly.compile(await readFile(new URL(url)));
  assert.ok(WebAssembly.Module.exports(module).some(({ name }) => name === 'memory'));
});

test('import and require give the same names, and those of the types', async () => {
  const types = String(await file('js/index.d.ts'));
  const typed = [...types.matchAll(/^export (?:class|function|const) (\w+)/gm)].map(([, name]) => name);
  assert.deepEqual(Object.keys(hudi).sort(), typed.sort());
  const required = await runBeside("console.log(JSON.stringify(Object.keys(require('hudi-wasm'))));", { commonjs: true });
  assert.deepEqual(required.sort(), typed);
  const slim = await importBeside("export * from 'hudi-wasm/slim';");
  assert.deepEqual(Object.keys(slim).sort(), typed);
});

test('entries that are imported beside each other are one copy of the package', async () => {
  const slim = await importBeside("export * from 'hudi-wasm/slim';");
  for (const [name, value] of Object.entries(hudi)) assert.equal(slim[name], value, name);
  const { createHudiWorker } = await importBeside("export * from 'hudi-wasm/worker';");
  assert.throws(() => createHudiWorker({ strange: 1 }), (error) => error instanceof hudi.HudiError && error.code === 'INVALID_ARGUMENT');
});

test('showCommits sums up what each write says of itself', async () => {
  const rows = async (/** @type {string} */ name, /** @type {any} */ query) => (await hudi.HudiTable.open(await unpack(name))).getTimeline().showCommits(query);
  const row = (/** @type {any} */ { commitTime: _begun, stateTransitionTime: _done, ...rest }) => Object.values(rest);
  // Of the bodies that Spark wrote: bytes, files added and updated, partitions, records, updates, errors.
  assert.deepEqual((await rows('v6_cow_parts', {})).map(row), [
    ['commit', 11381, 0, 1, 1, 6, 0, 0],
    ['commit', 22602, 0, 2, 2, 6, 0, 0],
    ['commit', 22631, 0, 2, 2, 8, 3, 0],
    ['commit', 33959, 3, 0, 3, 12, 0, 0],
  ]);
  const [newest, ...more] = await rows('v9_mor_compacted', { limit: 1 });
  assert.deepEqual(newest, {
    ...{ commitTime: '20261129204852513', stateTransitionTime: '20261129204856091', action: 'deltacommit', totalBytesWritten: 12307, totalFilesAdded: 1 },
    ...{ totalFilesUpdated: 1, totalPartitionsWritten: 1, totalRecordsWritten: 3, totalUpdateRecordsWritten: 2, totalErrors: 0 },
  });
  assert.deepEqual(more, []);
  assert.deepEqual((await rows('v9_mor_compacted', { actions: ['commit'] })).map(row), [['commit', 434639, 0, 1, 1, 4, 2, 0]]);
  assert.deepEqual((await rows('v9_cow_clustered', { desc: false, start: '20261129204948683' })).map(({ action }) => action), ['replacecommit', 'commit']);
});

test('HudiTableConfig names what tables have', async () => {
  const seen = new Set();
  for (const name of ['v6_cow_legacy', 'v9_mor_event_time']) Object.keys((await hudi.HudiTable.open(await unpack(name))).hudiOptions()).forEach((key) => seen.add(key));
  const strange = Object.values(hudi.HudiTableConfig).filter((key) => !seen.has(key));
  assert.deepEqual(strange, [hudi.HudiTableConfig.CreateSchema]);
});

test('require reads a table as import does', async () => {
  const source = `
    const { HudiTable } = require('hudi-wasm');
    HudiTable.open(process.argv[2]).then((table) => table.read()).then((result) => console.log(JSON.stringify([result.numRows, Buffer.from(result.ipc).toString('base64')])));`;
  const [numRows, ipc] = await runBeside(source, { commonjs: true, args: [folder] });
  assert.equal(numRows, queries[0]?.rows?.length);
  assert.deepEqual(Buffer.from(ipc, 'base64'), Buffer.from((await (await hudi.HudiTable.open(folder)).read()).ipc));
});

test('a file URL, a store of the caller, memory and HTTP give the rows of Spark', async () => {
  assert.deepEqual(await faultsOf(hudi, pathToFileURL(folder).href, {}, queries), []);
  const storage = hudi.createObjectStore(folder, { type: 'file' });
  assert.deepEqual(await faultsOf(hudi, 'anything://at/all', { storage }, queries), []);
  const names = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  const files = names.map(async (entry) => {
    const at = path.join(entry.parentPath, entry.name);
    return /** @type {const} */ ([path.relative(folder, at).split(path.sep).join('/'), new Uint8Array(await readFile(at))]);
  });
  const memory = { storage: { type: 'memory', files: await Promise.all(files) } };
  assert.deepEqual(await faultsOf(hudi, 'memory:///table', memory, queries), []);
  const server = await serve(path.dirname(folder));
  try {
    const url = `${server.origin}/${name}`;
    const listing = { manifest: `${url}/hudi-manifest.json` };
    assert.deepEqual(await faultsOf(hudi, url, { storage: { type: 'http', listing } }, queries), []);
  } finally {
    await server.close();
  }
});

test('facts, schemas, timeline and slices are told', async () => {
  const table = await hudi.HudiTable.open(await unpack('v9_cow_clustered'));
  assert.deepEqual([table.tableName, table.tableType, table.isMor, table.tableVersion], ['v9_cow_clustered', 'COPY_ON_WRITE', false, 9]);
  assert.equal(table.hudiOptions()['hoodie.table.version'], '9');
  assert.equal(table.baseUrl, pathToFileURL(await unpack('v9_cow_clustered')).href);
  const spark = JSON.parse(await readFile('tests/data/v9_cow_clustered.expected.json', 'utf8'));
  const schema = await table.getSchemaWithMetaFields();
  assert.deepEqual(schema.fields.map(({ name }) => name), spark.schema.map((/** @type {string[]} */ [name]) => name));
  assert.deepEqual(tableFromIPC(schema.ipc).schema.names, spark.schema.map((/** @type {string[]} */ [name]) => name));
  const plain = JSON.parse(await table.getSchemaInAvroStr());
  assert.deepEqual(plain.fields.map((/** @type {any} */ { name }) => name), (await table.getSchema()).fields.map(({ name }) => name));
  const timeline = table.getTimeline();
  const told = [...timeline.getCompletedCommits(), ...timeline.getCompletedReplacecommits()].map(({ timestamp, completionTimestamp, action }) => ({ instant: timestamp, completion: completionTimestamp, action }));
  const byTime = (/** @type {any} */ a, /** @type {any} */ b) => (a.instant < b.instant ? -1 : 1);
  assert.deepEqual(told.sort(byTime), spark.instants.sort(byTime));
  const [clustering, ...more] = timeline.getCompletedClusteringCommits();
  assert.ok(clustering !== undefined && more.length === 0);
  assert.equal(JSON.parse(await timeline.getInstantMetadataInJson(clustering)).operationType, 'CLUSTER');
  const entries = await timeline.getInstants({ limit: 2, actions: ['commit', 'replacecommit'] });
  assert.deepEqual(entries.map(({ timestamp }) => timestamp), spark.instants.map((/** @type {any} */ { instant }) => instant).sort().reverse().slice(0, 2));
  const slices = await table.getFileSlices();
  const reader = await table.createFileGroupReaderWithOptions();
  let rows = 0;
  for (const slice of slices) rows += (await reader.readFileSlice(slice)).numRows;
  assert.equal(rows, spark.queries[0].rows.length);
  assert.equal(slices.reduce((sum, { numRecords }) => sum + numRecords, 0), rows);
});

test('statistics of columns come without rows, in the types that filters take', async () => {
  const table = await hudi.HudiTable.open(await unpack('v9_cow_simple'));
  const rows = JSON.parse(await readFile('tests/data/v9_cow_simple.expected.json', 'utf8')).queries[0].rows;
  const of = (/** @type {string} */ name) => rows.map((/** @type {any} */ row) => row[name]);
  const stats = await table.columnStats(['id', 'ts', 'name']);
  assert.deepEqual(stats.map((/** @type {any} */ { column, filePath }) => [column, filePath === undefined]), ['id', 'id', 'ts', 'ts', 'name', 'name'].map((column, at) => [column, at % 2 === 0]));
  const [id, , ts, , text] = stats;
  assert.deepEqual([id.min, id.max, id.nullCount, id.valueCount, id.tight], [Math.min(...of('id')), Math.max(...of('id')), 0, rows.length, true]);
  assert.deepEqual([ts.min, ts.max], [BigInt(Math.min(...of('ts'))), BigInt(Math.max(...of('ts')))]);
  assert.deepEqual([text.min, text.max], [of('name').sort()[0], of('name').sort().at(-1)]);
  await assert.rejects(table.columnStats(/** @type {any} */ ('id')), { code: 'INVALID_ARGUMENT' });
});

test("Python's builder and a reader of file groups open the same table", async () => {
  const table = await hudi.HudiTableBuilder.fromBaseUri(folder).withOption('hoodie.metadata.enable', 'false').build();
  assert.equal(table.hudiOptions()['hoodie.metadata.enable'], 'false');
  const [slice] = await table.getFileSlices();
  assert.ok(slice?.baseFileRelativePath !== undefined);
  const reader = await hudi.HudiFileGroupReader.open(folder);
  assert.equal(reader.isMetadataTable, false);
  const filters = /** @type {const} */ ([['id', '=', 'nulls']]);
  const whole = await reader.readFileSliceFromPaths(slice.baseFileRelativePath, []);
  const some = await reader.readFileSlice(slice, { filters, projection: ['id'] });
  assert.deepEqual([whole.numRows, some.numRows], [slice.numRecords, 1]);
  let streamed = 0;
  for await (const { numRows } of reader.readFileSliceStream(slice, { batchSize: 2 })) streamed += numRows;
  assert.equal(streamed, whole.numRows);
  const code = (/** @type {any} */ wanted) => (/** @type {unknown} */ error) => hudi.HudiError.is(error, wanted);
  await assert.rejects(reader.readFileSliceFromPaths(slice.baseFileRelativePath, ['.x.log.1_0-0-0']), code('INVALID_ARGUMENT'));
  reader.close();
  await assert.rejects(reader.readFileSlice(slice), code('DISPOSED'));
  const s3 = hudi.HudiTableBuilder.fromBaseUri('s3://bucket/table').withOption('aws_region', 'eu-central-1');
  await assert.rejects(s3.build(), code('INVALID_ARGUMENT'));
  await assert.rejects(s3.withOption('azure_account', 'x').build(), code('UNSUPPORTED'));
});

test('a stream gives batches of the size asked for, and one IPC stream', async () => {
  const table = await hudi.HudiTable.open(folder);
  const whole = await table.read();
  const stream = table.readStream({ batchSize: 3 });
  const sizes = [];
  for await (const { numRows } of stream) sizes.push(numRows);
  assert.ok(sizes.every((size) => size <= 3));
  assert.equal(sizes.reduce((sum, size) => sum + size), whole.numRows);
  assert.deepEqual(await stream.next(), { done: true, value: undefined });
  const bytes = await new Response(table.readStream({ batchSize: 3 }).toReadableStream()).arrayBuffer();
  const text = (/** @type {import('apache-arrow').Table} */ table) => JSON.stringify(table.toArray(), (_, value) => (typeof value === 'bigint' ? String(value) : value));
  assert.equal(text(tableFromIPC(new Uint8Array(bytes))), text(tableFromIPC(whole.ipc)));
  assert.deepEqual(tableFromIPC(await table.readStream().schemaIpc).schema.names, tableFromIPC(whole.ipc).schema.names);
});

test('a result of several batches joins into one stream, and one of none keeps its schema', async () => {
  const table = await hudi.HudiTable.open(await unpack('v9_cow_hive_parts'));
  const result = await table.read();
  assert.ok(result.numBatches > 1);
  const parts = [...result].map(({ ipc }) => tableFromIPC(ipc).numRows);
  assert.equal(tableFromIPC(result.ipc).numRows, parts.reduce((sum, rows) => sum + rows));
  assert.equal(result.ipc, result.ipc);
  const none = await table.read({ filters: [['id', '=', -1]] });
  assert.deepEqual([none.numRows, tableFromIPC(none.ipc).numRows], [0, 0]);
  assert.deepEqual(tableFromIPC(none.ipc).schema.names, tableFromIPC(result.ipc).schema.names);
  const few = await table.read({ projection: ['id'], limit: 1 });
  assert.deepEqual([few.numRows, tableFromIPC(few.ipc).schema.names], [1, ['id']]);
});

test('who puts functions of their own in the place of a store\'s is asked by them', async () => {
  const base = hudi.createObjectStore(folder, { type: 'file' });
  const asked = /** @type {string[]} */ ([]);
  const noted = (/** @type {any} */ store) => ({
    get: (/** @type {any[]} */ ...given) => (asked.push('get'), store.get(...given)),
    list: (/** @type {any[]} */ ...given) => (asked.push('list'), store.list(...given)),
  });
  const patched = Object.assign(hudi.createObjectStore(folder, { type: 'file' }), noted(base));
  for (const storage of [patched, Object.assign(Object.create(base), noted(base))]) {
    asked.length = 0;
    const table = await hudi.HudiTable.open('x://y', { storage });
    assert.ok((await table.read()).numRows > 0);
    assert.ok(asked.includes('get') && asked.includes('list'), asked.join());
  }
});

test('a signal ends a read with its reason, and leaving a loop ends its requests', async () => {
  let asked = 0;
  /** @type {AbortSignal[]} */
  const open = [];
  const files = hudi.createObjectStore(folder, { type: 'file' });
  const storage = {
    ...files,
    async get(/** @type {string} */ path, /** @type {any} */ options) {
      if (!path.endsWith('.parquet')) return files.get(path, options);
      asked += 1;
      open.push(options.signal);
      return new Promise((_, reject) => options.signal.addEventListener('abort', () => reject(options.signal.reason)));
    },
  };
  const table = await hudi.HudiTable.open('x://y', { storage });
  const until = async (/** @type {() => boolean} */ ready) => {
    while (!ready()) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  const controller = new AbortController();
  const read = table.read({ signal: controller.signal });
  await until(() => asked === 1);
  controller.abort('enough');
  await assert.rejects(read, (/** @type {any} */ error) => error.code === 'ABORTED' && error.name === 'AbortError' && error.cause === 'enough');
  await until(() => open[0]?.aborted === true);
  const stream = table.readStream();
  const next = stream.next();
  await until(() => asked === 2);
  await stream.return?.();
  assert.deepEqual(await next, { done: true, value: undefined });
  await until(() => open[1]?.aborted === true);
  const late = new AbortController();
  const streaming = table.readStream({ signal: late.signal });
  const pull = streaming.next();
  await until(() => asked === 3);
  late.abort('too late');
  await assert.rejects(pull, (/** @type {any} */ error) => error.code === 'ABORTED' && error.cause === 'too late');
  await assert.rejects(table.read({ signal: AbortSignal.abort('before') }), (/** @type {any} */ error) => error.cause === 'before');
  assert.equal(asked, 3);
});

test('events tell of every request and of the rows, and a listener that throws breaks nothing', async (t) => {
  t.mock.method(console, 'error', () => {});
  /** @type {import('../../js/index.d.ts').RequestInfoEvent[]} */
  const requests = [];
  const table = await hudi.HudiTable.open(folder, { onRequest: (request) => requests.push(request) });
  assert.ok(requests.some(({ path, cause }) => path === '.hoodie/hoodie.properties' && cause === 'properties'));
  requests.length = 0;
  /** @type {string[]} */
  const heard = [];
  const result = await table.read({
    onProgress: (event) => {
      const count = event.type === 'rows' ? ` ${event.rows}` : event.type === 'files' ? ` ${event.done} of ${event.total}` : '';
      heard.push(event.type + count);
      throw new Error('a listener of the caller');
    },
  });
  const files = result.metrics.filesTotal;
  assert.equal(heard.findLast((event) => event.startsWith('rows')), `rows ${result.numRows}`);
  assert.equal(heard.at(-1), `files ${files} of ${files}`);
  assert.ok(heard.includes('phase') && heard.includes('bytes'));
  assert.equal(result.metrics.rowsScanned, result.numRows);
  assert.equal(requests.filter(({ source }) => source === 'network').length, result.metrics.requests);
  assert.equal(requests.filter(({ source }) => source === 'network').reduce((sum, { bytes }) => sum + bytes, 0), result.metrics.bytes);
  const again = await table.read();
  assert.equal(requests.filter(({ cause, source }) => cause === 'data' && source === 'network').length, 0);
  assert.equal(again.numRows, result.numRows);
});

test('a closed table is DISPOSED, and its copy by refresh lives on', async () => {
  const table = await hudi.HudiTable.open(folder);
  const fresh = await table.refresh();
  table.close();
  table.close();
  await assert.rejects(table.read(), (error) => hudi.HudiError.is(error, 'DISPOSED'));
  assert.equal((await fresh.read({ limit: 1 })).numRows, 1);
});

test('no table, no column and no engine say so by their codes', async () => {
  const code = (/** @type {any} */ wanted) => (/** @type {unknown} */ error) => hudi.HudiError.is(error, wanted);
  await assert.rejects(hudi.HudiTable.open(path.dirname(folder)), code('TABLE_NOT_FOUND'));
  const table = await hudi.HudiTable.open(folder);
  await assert.rejects(table.read({ filters: [['nowhere', '=', 1]] }), code('SCHEMA'));
  await assert.rejects(table.read({ queryType: 'cdc' }), code('UNSUPPORTED'));
  await assert.rejects(table.read({ asOf: new Date() }), (error) => hudi.HudiError.is(error, 'INVALID_ARGUMENT') && /timezone/.test(error.hint ?? ''));
  assert.throws(() => table.readStream({ batchSize: 0 }), code('INVALID_ARGUMENT'));
  assert.throws(() => new /** @type {any} */ (hudi.HudiTable)(), code('INVALID_ARGUMENT'));
});

test('a module that fails to load is WASM_INIT, and the next call tries again', async () => {
  const source = `
    import { HudiTable, init } from 'hudi-wasm';
    const codes = [];
    for (const module of [new Uint8Array(3), () => { throw new Error('offline'); }]) await init({ module }).catch((error) => codes.push(error.code, error.retryable));
    const table = await HudiTable.open(process.argv[2]);
    console.log(JSON.stringify([...codes, table.tableName]));`;
  assert.deepEqual(await runBeside(source, { args: [folder] }), ['WASM_INIT', true, 'WASM_INIT', true, name]);
});

test('without a loader, initSync takes bytes, and open says what is missing', async () => {
  const source = `
    import { readFileSync } from 'node:fs';
    import { HudiTable, initSync } from 'hudi-wasm/slim';
    const files = [['.hoodie/hoodie.properties', new Uint8Array(0)]];
    const open = () => HudiTable.open('memory:///x', { storage: { type: 'memory', files } }).catch((error) => error.code);
    const before = await open();
    initSync({ module: readFileSync(new URL(import.meta.resolve('hudi-wasm/core.wasm'))) });
    console.log(JSON.stringify([before, await open()]));`;
  const [before, after] = await runBeside(source);
  assert.equal(before, 'WASM_INIT');
  assert.notEqual(after, 'WASM_INIT');
});
