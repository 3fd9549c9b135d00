// Tables made and written through an engine in a Worker, in Chromium: in the private files of the origin, and in stores of the page.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { root } from '../../scripts/lib/run.mjs';
import { serve } from '../../scripts/lib/serve.mjs';
import { launch } from './support/chromium.js';

/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
/** @type {Awaited<ReturnType<typeof launch>>} */
let chromium;
/** @type {import('playwright-core').Page} */
let page;

before(async () => {
  server = await serve(root);
  chromium = await launch();
  page = await chromium.newPage();
  await page.goto(`${server.origin}/tests/wasm/support/blank.html`);
  await page.evaluate(async () => {
    const hudi = await import(/** @type {string} */ ('hudi-wasm'));
    const arrow = await import(/** @type {string} */ ('apache-arrow'));
    const { createHudiWorker } = await import(/** @type {string} */ ('/tests/out/packed/node_modules/hudi-wasm/js/worker/index.js'));
    const settled = (/** @type {Promise<any>} */ promise) =>
      promise.then(({ inserted }) => ({ inserted }), ({ name, code, message, cause, context }) => ({ name, code, message, cause: String(cause), instant: context?.instant }));
    const ids = async (/** @type {any} */ table) => [...arrow.tableFromIPC((await table.read({ projection: ['id'] })).ipc).getChild('id')].map(Number).sort((a, b) => a - b);
    const schema = JSON.stringify({ type: 'record', name: 't', fields: [{ name: 'id', type: 'long' }, { name: 'text', type: ['null', 'string'], default: null }] });
    const ipc = (/** @type {number[]} */ numbers, text = 'x') => {
      const columns = { id: arrow.vectorFromArray(numbers.map(BigInt), new arrow.Int64()), text: arrow.vectorFromArray(numbers.map(() => text), new arrow.Utf8()) };
      return arrow.tableToIPC(new arrow.Table(columns), 'stream');
    };
    /** A store of the page that `watch` hears before each put of a completed file, and may stand in for. */
    const watched = (/** @type {(store: any, path: string, put: () => Promise<any>) => Promise<any>} */ watch) => {
      const inner = hudi.createObjectStore('memory:///t', { type: 'memory' });
      const store = {
        ...inner,
        put: async (/** @type {string} */ path, /** @type {any[]} */ ...rest) => {
          const put = () => inner.put(path, ...rest);
          return /^\.hoodie\/timeline\/\d+_\d+\.commit$/.test(path) ? watch(store, path, put) : put();
        },
      };
      return store;
    };
    Object.assign(window, { hudi, createHudiWorker, settled, ids, schema, ipc, watched });
  });
});
after(async () => {
  await chromium.close();
  await server.close();
});

test('a table is made, appended to with every kind of input, read, asked about and rolled back', async () => {
  const told = await page.evaluate(async () => {
    const { createHudiWorker, hudi, ids, ipc, schema } = /** @type {any} */ (window);
    const handle = await (await navigator.storage.getDirectory()).getDirectoryHandle('made in a worker', { create: true });
    const storage = { type: 'directory', handle };
    const worker = createHudiWorker();
    const requests = /** @type {any[]} */ ([]);
    const made = /** @type {string[]} */ ([]);
    const onProgress = (/** @type {any} */ { phase }) => phase && made.push(phase);
    const table = await worker.HudiTable.create('directory:///t', { tableName: 't', schema, recordKeyFields: ['id'], metadata: false, storage, onProgress, onRequest: (/** @type {any} */ request) => requests.push(request) });
    const bytes = ipc([3, 4]);
    const pieces = async function* () {
      const all = ipc([5, 6, 7]);
      for (let at = 0; at < all.length; at += 100) yield await Promise.resolve(all.subarray(at, at + 100));
    };
    const inputs = [{ rows: [{ id: 1 }, { id: 2n, text: 'ä€' }] }, bytes, pieces(), new Blob([ipc([8])]).stream(), ipc([9]).slice().buffer];
    const results = [];
    for (const input of inputs) {
      const events = /** @type {any[]} */ ([]);
      const { table: after, ...plain } = await table.append(input, { onProgress: (/** @type {any} */ event) => events.push(event) });
      const phases = events.filter(({ type }) => type === 'phase').map(({ phase }) => phase);
      results.push({ ...plain, phases, rows: events.filter(({ type }) => type === 'rows').at(-1)?.rows, ids: await ids(after), is: after instanceof hudi.HudiTable });
    }
    const last = results.at(-1)?.instant;
    const resolved = await table.resolve(last);
    const undone = await table.rollback(last);
    const now = await table.refresh();
    const there = [await ids(now), await now.resolve(last), await ids(await hudi.HudiTable.open('directory:///t', { storage }))];
    // A result from there is encoded here, without the worker.
    const result = await now.read();
    worker.terminate();
    const parquet = await hudi.toParquet(result, { compression: 'snappy' });
    const magic = [parquet.subarray(0, 4), parquet.subarray(-4)].map((/** @type {Uint8Array} */ four) => new TextDecoder().decode(four));
    return { made, results, resolved, undone, there, magic, intact: bytes.buffer.byteLength > 0, puts: requests.filter(({ method }) => method === 'PUT').length };
  });
  assert.deepEqual(told.made, ['write']);
  assert.deepEqual(told.results.map(({ inserted, rows }) => [inserted, rows]), [2, 2, 3, 1, 1].map((count) => [count, count]));
  for (const { phases, is, action } of told.results) assert.deepEqual([phases, is, action], [['plan', 'write', 'commit'], true, 'commit']);
  assert.deepEqual(told.results.at(-1)?.ids, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
  assert.equal(told.resolved, 'COMMITTED');
  assert.deepEqual([told.undone.service, told.undone.state, told.undone.filesDeleted], ['rollback', 'COMPLETED', 1]);
  assert.deepEqual(told.there, [[1, 2, 3, 4, 5, 6, 7, 8], 'NOT_COMMITTED', [1, 2, 3, 4, 5, 6, 7, 8]]);
  assert.deepEqual(told.magic, ['PAR1', 'PAR1']);
  assert.ok(told.intact, "the caller's bytes stay the caller's");
  assert.ok(told.puts > 10);
});

test('bytes go over by transfer, a piece at a time, and not with the buffer that they are a part of', async () => {
  const told = await page.evaluate(async () => {
    const { createHudiWorker, hudi, ids, ipc, schema, watched } = /** @type {any} */ (window);
    const posted = /** @type {any[]} */ ([]);
    const start = () => {
      const started = new Worker('/tests/out/packed/node_modules/hudi-wasm/js/worker/main.js', { type: 'module' });
      const post = started.postMessage.bind(started);
      started.postMessage = (/** @type {any} */ message, /** @type {any} */ transfer = []) => {
        const sizes = [message.ok, message.ok?.data].filter((one) => one instanceof Uint8Array).map((one) => [one.length, one.buffer.byteLength]);
        post(message, transfer);
        for (const [length, whole] of sizes) posted.push({ length, whole, moved: transfer.length === 1 && transfer[0].byteLength === 0 });
      };
      return started;
    };
    const worker = createHudiWorker({ worker: start });
    const storage = watched((/** @type {any} */ _, /** @type {string} */ __, /** @type {any} */ put) => put());
    const table = await worker.HudiTable.create('memory:///t', { tableName: 't', schema, metadata: false, storage });
    posted.length = 0;
    const numbers = Array.from({ length: 40_000 }, (_, i) => i);
    const bytes = ipc(numbers, 'some text that is the same in every row, as long as it takes');
    const within = new Uint8Array(bytes.length + 5_000_000);
    within.set(bytes, 1000);
    const { table: after } = await table.append(within.subarray(1000, 1000 + bytes.length), { compression: 'uncompressed' });
    const here = await hudi.HudiTable.open('memory:///t', { storage });
    const told = { posted, length: bytes.length, within: within.length, same: within[1000] === bytes[0], count: (await ids(after)).length, here: (await ids(here)).length };
    worker.terminate();
    return told;
  });
  const large = told.posted.filter(({ length }) => length > 100_000);
  assert.ok(large.length >= 2, JSON.stringify(told.posted));
  for (const { length, whole, moved } of told.posted) assert.ok(length === whole && moved, JSON.stringify({ length, whole, moved }));
  assert.ok(told.same && told.within > told.length);
  assert.deepEqual([told.count, told.here], [40_000, 40_000]);
});

test("a large file leaves by parts into a page's own store", async () => {
  const told = await page.evaluate(async () => {
    const { createHudiWorker, hudi, schema, watched, ipc, settled } = /** @type {any} */ (window);
    const worker = createHudiWorker();
    const inner = watched((/** @type {any} */ _, /** @type {string} */ __, /** @type {any} */ put) => put());
    const log = /** @type {any[]} */ ([]);
    let failing = false;
    const storage = {
      ...inner,
      async upload(/** @type {string} */ path) {
        const upload = await inner.upload(path);
        return {
          write: (/** @type {Uint8Array} */ part) => (log.push(part.length), failing && log.length === 2 ? Promise.reject(Object.assign(new Error('no'), { status: 403 })) : upload.write(part)),
          complete: () => (log.push('complete'), upload.complete()),
          abort: () => (log.push('abort'), upload.abort()),
        };
      },
    };
    const table = await worker.HudiTable.create('memory:///t', { tableName: 't', schema, metadata: false, storage });
    const random = () => Array.from(crypto.getRandomValues(new Uint8Array(60_000)), (byte) => String.fromCharCode(33 + (byte % 90))).join('');
    const rows = Array.from({ length: 300 }, (_, id) => ({ id, text: random() }));
    const { bytesWritten, table: after } = await table.append({ rows }, { compression: 'uncompressed' });
    const parts = log.splice(0);
    const read = (await after.read()).numRows;
    failing = true;
    const failed = await settled(table.append({ rows }, { compression: 'uncompressed' }));
    const ended = log.splice(0);
    failing = false;
    const again = await table.append(ipc([1000]));
    const count = (await (await hudi.HudiTable.open('memory:///t', { storage })).read()).numRows;
    worker.terminate();
    return { bytesWritten, parts, read, failed, ended, again: again.inserted, count };
  });
  assert.deepEqual(told.parts.slice(0, 2), [8 << 20, 8 << 20]);
  assert.equal(told.parts.at(-1), 'complete');
  assert.equal(told.parts.slice(0, -1).reduce((sum, length) => sum + length, 0), told.bytesWritten);
  assert.equal(told.read, 300);
  assert.equal(told.failed.code, 'UNAUTHORIZED');
  assert.equal(told.ended.at(-1), 'abort');
  assert.equal(told.count, 301);
});

test('a signal before the completed file ends the write; from then on what comes of it is told', async () => {
  const told = await page.evaluate(async () => {
    const { createHudiWorker, ids, schema, settled, watched } = /** @type {any} */ (window);
    const worker = createHudiWorker();
    const late = () => new Promise((resolve) => setTimeout(resolve, 200));
    let controller = new AbortController();
    let fails = 'no';
    const storage = watched(async (/** @type {any} */ store, /** @type {string} */ path, /** @type {any} */ put) => {
      controller.abort(new Error('too late'));
      await late();
      if (fails === 'refused') throw Object.assign(new Error('refused'), { status: 403 });
      if (fails === 'no') return put();
      await put();
      // The answer is lost, and so is every later one about this file.
      const get = store.get;
      unread = { path, get };
      throw Object.assign(new Error('gone'), { status: 503 });
    });
    /** @type {any} */
    let unread;
    const readable = storage.get;
    storage.get = (/** @type {string} */ path, /** @type {any} */ options) => (path === unread?.path ? Promise.reject(Object.assign(new Error('no'), { status: 403 })) : readable(path, options));
    const table = await worker.HudiTable.create('memory:///t', { tableName: 't', schema, recordKeyFields: ['id'], metadata: false, storage });
    const now = async () => ids(await table.refresh());
    const told = /** @type {Record<string, any>} */ ({});

    controller = new AbortController();
    told.landed = [await settled(table.append({ rows: [{ id: 1 }] }, { signal: controller.signal })), controller.signal.aborted, await now()];

    controller = new AbortController();
    const endless = (async function* () {
      for (;;) yield await new Promise(() => {});
    })();
    const waiting = settled(table.append(endless, { signal: controller.signal }));
    setTimeout(() => controller.abort(new Error('enough')), 100);
    told.early = [await waiting, await now()];
    told.before = await settled(table.append({ rows: [{ id: 8 }] }, { signal: AbortSignal.abort('before') }));

    controller = new AbortController();
    fails = 'refused';
    told.refused = [await settled(table.append({ rows: [{ id: 2 }] }, { signal: controller.signal })), await now()];

    controller = new AbortController();
    fails = 'lost';
    const lost = await settled(table.append({ rows: [{ id: 3 }] }, { signal: controller.signal }));
    unread = undefined;
    told.lost = [lost, await table.resolve(lost.instant), await now()];

    fails = 'no';
    told.after = [await settled(table.append({ rows: [{ id: 4 }] })), await now()];
    worker.terminate();
    return told;
  });
  assert.deepEqual(told.landed, [{ inserted: 1 }, true, [1]]);
  const [early, unchanged] = told.early;
  assert.deepEqual([early.name, early.code, early.cause, unchanged], ['AbortError', 'ABORTED', 'Error: enough', [1]]);
  assert.deepEqual([told.before.code, told.before.cause], ['ABORTED', 'before']);
  assert.deepEqual([told.refused[0].code, told.refused[1]], ['UNAUTHORIZED', [1]]);
  const [lost, resolved, rows] = told.lost;
  assert.equal(lost.code, 'COMMIT_STATE_UNKNOWN', JSON.stringify(lost));
  assert.match(lost.instant, /^\d{17}$/);
  assert.deepEqual([resolved, rows], ['COMMITTED', [1, 3]]);
  assert.deepEqual(told.after, [{ inserted: 1 }, [1, 3, 4]]);
});

test('what is wrong with an input, or with rows, arrives as it is', async () => {
  const told = await page.evaluate(async () => {
    const { createHudiWorker, schema, settled, watched, ids } = /** @type {any} */ (window);
    const worker = createHudiWorker();
    const storage = watched((/** @type {any} */ _, /** @type {string} */ __, /** @type {any} */ put) => put());
    const table = await worker.HudiTable.create('memory:///t', { tableName: 't', schema, metadata: false, storage });
    const dry = (async function* () {
      yield new Uint8Array(4);
      throw new Error('the tap ran dry');
    })();
    const told = [
      await settled(table.append(dry)),
      await settled(table.append({ rows: [{ id: 1.5 }] })),
      await settled(table.append(5)),
      await settled(table.rollback('20200101000000000')),
      await settled(worker.HudiTable.create('memory:///t', { tableName: 't', schema, storage })),
      await settled(worker.HudiTable.create('http://127.0.0.1:9/t', { tableName: 't', schema })),
    ];
    const left = await ids(await table.refresh());
    worker.terminate();
    return { told, left };
  });
  assert.deepEqual(told.told.map(({ code }) => code), ['INVALID_ARGUMENT', 'SCHEMA', 'INVALID_ARGUMENT', 'NOT_FOUND', 'TABLE_EXISTS', 'READ_ONLY_STORAGE']);
  assert.match(told.told[0].cause, /ran dry/);
  assert.deepEqual(told.left, []);
});
