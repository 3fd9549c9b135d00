// The classes over an engine in a Worker, in Chromium.
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { root } from '../../scripts/lib/run.mjs';
import { serve } from '../../scripts/lib/serve.mjs';
import { launch } from './support/chromium.js';
import { recorded, unpack } from './support/fixtures.js';

const names = ['v9_cow_all_types', 'v9_cow_partition_types'];
const large = 'v9_cow_rli_large';
/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
/** @type {Awaited<ReturnType<typeof launch>>} */
let chromium;
/** @type {import('playwright-core').Page} */
let page;
/** @type {string} */
let tables;

before(async () => {
  for (const name of [...names, large]) await unpack(name);
  server = await serve(root);
  chromium = await launch();
  page = await chromium.newPage();
  tables = `${server.origin}/${path.relative(root, path.dirname(await unpack(large)))}`;
  await page.goto(`${server.origin}/tests/wasm/support/blank.html`);
  await page.evaluate(async () => {
    const hudi = await import(/** @type {string} */ ('/tests/out/packed/node_modules/hudi-wasm/js/entry/default.js'));
    const { createHudiWorker } = await import(/** @type {string} */ ('/tests/out/packed/node_modules/hudi-wasm/js/worker/index.js'));
    const { faultsOf } = await import(/** @type {string} */ ('/tests/wasm/support/ask.js'));
    const tell = (/** @type {any} */ error) => ({ name: error.name, code: error.code, message: error.message, cause: String(error.cause), ours: hudi.HudiError.is(error) });
    const settled = (/** @type {Promise<any>} */ promise) => promise.then(() => 'done', tell);
    Object.assign(window, { hudi, createHudiWorker, faultsOf, settled });
  });
});
after(async () => {
  await chromium.close();
  await server.close();
});

const storage = { type: 'http', listing: { manifest: 'hudi-manifest.json' } };

test('many tables in one worker give the rows of Spark', async () => {
  const asked = await Promise.all(names.map(async (name) => ({ name, queries: await recorded(name) })));
  const faults = await page.evaluate(
    async ([tables, storage, asked]) => {
      const { hudi, createHudiWorker, faultsOf } = /** @type {any} */ (window);
      const worker = createHudiWorker();
      const there = { ...hudi, HudiTable: worker.HudiTable };
      const all = asked.map(({ name, queries }) => faultsOf(there, `${tables}/${name}`, { storage }, queries));
      const faults = (await Promise.all(all)).flat();
      worker.terminate();
      return faults;
    },
    /** @type {const} */ ([tables, storage, asked]),
  );
  assert.deepEqual(faults, []);
});

test('a table there is a HudiTable: facts, timeline, schema, slices, plan, refresh and a reader of file groups', async () => {
  const [here, there] = await page.evaluate(
    async ([url, storage]) => {
      const { hudi, createHudiWorker } = /** @type {any} */ (window);
      const worker = createHudiWorker();
      const facts = async (/** @type {any} */ HudiTable, /** @type {any} */ Reader) => {
        const table = await (await HudiTable.open(url, { storage, hudiOptions: { 'hoodie.metadata.enable': 'false' } })).refresh();
        const slices = await table.getFileSlices();
        const reader = await Reader.open(url, { storage });
        const { numRows, metrics } = await reader.readFileSlice(slices[0], { projection: [] });
        const plan = [await table.explain(), await table.columnStats(['id'])];
        const found = await table.lookup(['1', '2', 'nobody']);
        const stats = (await (await HudiTable.open(url, { storage })).computeTableStats()) ?? null;
        const timeline = table.getTimeline();
        const told = [table.tableName, table.isMor, table.baseUrl, table.hudiOptions(), table.storageOptions().type, table instanceof hudi.HudiTable];
        const schema = await table.getSchema();
        const instants = await timeline.getInstants({ limit: 1 });
        const body = await timeline.getInstantMetadataInJson(instants[0]);
        return JSON.stringify([told, slices, numRows, metrics.filesTotal, plan, found.numRows, stats, timeline.getCompletedCommits(), schema.fields, schema.ipc.length, instants, body]);
      };
      const both = [await facts(hudi.HudiTable, hudi.HudiFileGroupReader), await facts(worker.HudiTable, worker.HudiFileGroupReader)];
      worker.terminate();
      return both;
    },
    /** @type {const} */ ([`${tables}/${names[0]}`, storage]),
  );
  assert.deepEqual(JSON.parse(there ?? ''), JSON.parse(here ?? ''));
});

test('batches stream over, with progress, requests and metrics; break ends the read', async () => {
  const told = await page.evaluate(
    async ([url, storage]) => {
      const worker = /** @type {any} */ (window).createHudiWorker();
      const requests = /** @type {any[]} */ ([]);
      const progress = /** @type {any[]} */ ([]);
      const table = await worker.HudiTable.open(url, { storage, onRequest: (/** @type {any} */ request) => requests.push(request) });
      const stream = table.readStream({ batchSize: 5000, onProgress: (/** @type {any} */ event) => progress.push(event) });
      const sizes = [];
      for await (const { numRows, ipc } of stream) {
        sizes.push([numRows, ipc.buffer.byteLength === ipc.byteLength]);
        if (sizes.length === 2) break;
      }
      const { metrics } = stream;
      const whole = await table.read();
      table.close();
      worker.terminate();
      return { sizes, metrics, rows: whole.numRows, paths: requests.map(({ path }) => path), types: progress.map(({ type }) => type) };
    },
    /** @type {const} */ ([`${tables}/${large}`, storage]),
  );
  assert.deepEqual(told.sizes, [[5000, true], [5000, true]]);
  assert.ok(told.metrics.requests > 0 && told.metrics.wasmBytes > 0);
  assert.ok(told.rows > 10_000);
  assert.ok(told.paths.includes('.hoodie/hoodie.properties') && told.paths.some((path) => path.endsWith('.parquet')));
  assert.ok(told.types.includes('rows') && told.types.includes('bytes'));
});

test('a signal ends a call with its reason, and no request goes on', async () => {
  const told = await page.evaluate(
    async ([url, storage]) => {
      const { createHudiWorker, settled } = /** @type {any} */ (window);
      const worker = createHudiWorker();
      const table = await worker.HudiTable.open(url, { storage, cache: { memory: 0 } });
      const controller = new AbortController();
      const reading = settled(table.read({ signal: controller.signal }));
      controller.abort(new Error('enough'));
      const early = settled(worker.HudiTable.open(url, { storage, signal: AbortSignal.abort('before') }));
      const answers = [await reading, await early];
      const rows = (await table.read()).numRows;
      worker.terminate();
      return { answers, rows };
    },
    /** @type {const} */ ([`${tables}/${large}`, storage]),
  );
  assert.deepEqual(told.answers.map(({ name, code, cause }) => [name, code, cause]), [['AbortError', 'ABORTED', 'Error: enough'], ['AbortError', 'ABORTED', 'before']]);
  assert.ok(told.rows > 0);
});

test('functions and stores of the page are asked where they are', async () => {
  const [first] = await recorded(names[0] ?? '');
  const told = await page.evaluate(
    async ([url, storage]) => {
      const { hudi, createHudiWorker, settled } = /** @type {any} */ (window);
      const worker = createHudiWorker();
      const log = /** @type {string[]} */ ([]);
      const rows = async (/** @type {any} */ storage) => (await (await worker.HudiTable.open(url, { storage })).read()).numRows;
      const fetching = (/** @type {string} */ asked, /** @type {any} */ init) => {
        log.push('fetch');
        return fetch(asked, init);
      };
      const manifest = await (await fetch(`${url}/hudi-manifest.json`)).json();
      const files = await Promise.all(
        manifest.files.map(async (/** @type {any} */ { path }) => {
          const at = `${url}/${path.split('/').map(encodeURIComponent).join('/')}`;
          return [path, new Uint8Array(await (await fetch(at)).arrayBuffer())];
        }),
      );
      class Store {
        #inner = hudi.createObjectStore('memory:///t', { type: 'memory', files });
        capabilities = this.#inner.capabilities;
        get(/** @type {string} */ path, /** @type {any} */ options) {
          log.push('get');
          return this.#inner.get(path, options);
        }
        list(/** @type {string} */ prefix, /** @type {any} */ options) {
          log.push('list');
          return this.#inner.list(prefix, options);
        }
      }
      const counts = [
        await rows({ ...storage, fetch: fetching, headers: () => (log.push('headers'), new Headers({ 'x-a': 'b' })) }),
        await rows(new Store()),
        await rows({ type: 'memory', files: new Map(files) }),
      ];
      const pieces = new Map();
      const persistent = {
        get: async (/** @type {string} */ key, /** @type {number} */ start, /** @type {number} */ end) => pieces.get(`${key} ${start} ${end}`),
        put: async (/** @type {string} */ key, /** @type {number} */ start, /** @type {Uint8Array} */ data) => void pieces.set(`${key} ${start} ${start + data.length}`, data),
      };
      const cached = [];
      for (let i = 0; i < 2; i += 1) {
        const table = await worker.HudiTable.open(url, { storage, cache: { persistent, memory: 0 } });
        cached.push((await table.read()).metrics.cacheHits);
      }
      const failing = await settled(rows({ ...storage, fetch: () => Promise.reject(Object.assign(new Error('no'), { code: 'LIMIT_EXCEEDED' })) }));
      const unsendable = await settled(rows({ ...storage, headers: { get: 1, value: Symbol('x') } }));
      worker.terminate();
      return { counts, log: [...new Set(log)].sort(), failing, unsendable, cached };
    },
    /** @type {const} */ ([`${tables}/${names[0]}`, storage]),
  );
  const expected = first?.rows?.length;
  assert.deepEqual(told.counts, [expected, expected, expected]);
  assert.deepEqual(told.log, ['fetch', 'get', 'headers', 'list']);
  assert.ok(told.cached[0] === 0 && Number(told.cached[1]) > 0, JSON.stringify(told.cached));
  assert.deepEqual([told.failing.code, told.unsendable.code], ['LIMIT_EXCEEDED', 'INVALID_ARGUMENT']);
});

test('a crash rejects what is under way, and the next open starts another worker', async () => {
  const told = await page.evaluate(
    async ([url, storage]) => {
      const { createHudiWorker, settled } = /** @type {any} */ (window);
      const started = /** @type {Worker[]} */ ([]);
      const start = () => {
        started.push(new Worker('/tests/wasm/support/crashing_worker.js', { type: 'module' }));
        return started.at(-1);
      };
      const worker = createHudiWorker({ worker: start });
      const table = await worker.HudiTable.open(url, { storage });
      const reading = settled(table.read());
      started[0]?.postMessage({ crash: true });
      const crashed = await reading;
      const later = await settled(table.read());
      const again = (await (await worker.HudiTable.open(url, { storage })).read()).numRows;
      const missing = createHudiWorker({ worker: () => new Worker('/tests/wasm/support/nothing.js', { type: 'module' }) });
      const absent = await settled(missing.HudiTable.open(url, { storage }));
      worker.terminate();
      return { crashed, later, again, absent, started: started.length };
    },
    /** @type {const} */ ([`${tables}/${names[0]}`, storage]),
  );
  assert.deepEqual([told.crashed.code, told.crashed.ours, told.later.code, told.absent.code], ['INTERNAL', true, 'DISPOSED', 'WASM_INIT']);
  assert.match(told.crashed.message, /crashed on request/);
  assert.equal(told.started, 2);
  assert.ok(told.again > 0);
});

test('terminate() ends tables and calls, and the next open starts another worker', async () => {
  const told = await page.evaluate(
    async ([url, storage]) => {
      const { createHudiWorker, settled } = /** @type {any} */ (window);
      const worker = createHudiWorker();
      const table = await worker.HudiTable.open(url, { storage });
      const reading = settled(table.read());
      worker.terminate();
      const answers = [await reading, await settled(table.read()), await settled((async () => table.getTimeline())())];
      table.close();
      const rows = (await (await worker.HudiTable.open(url, { storage })).read()).numRows;
      worker.terminate();
      return { codes: answers.map(({ code }) => code), rows };
    },
    /** @type {const} */ ([`${tables}/${names[0]}`, storage]),
  );
  assert.deepEqual(told.codes, ['DISPOSED', 'DISPOSED', 'DISPOSED']);
  assert.ok(told.rows > 0);
});

test('errors of the engine arrive as they are', async () => {
  const told = await page.evaluate(
    async ([url, storage]) => {
      const { createHudiWorker, settled } = /** @type {any} */ (window);
      const worker = createHudiWorker();
      const table = await worker.HudiTable.open(url, { storage });
      const answers = [
        await settled(table.read({ filters: [['nothing', '=', 1]] })),
        await settled(worker.HudiTable.open(`${url}/nothing`, { storage })),
        await settled(worker.HudiTable.open(url, { storage, odd: 1 })),
        await settled(worker.HudiTable.open(url, { storage: { type: 'odd' } })),
      ];
      worker.terminate();
      return answers.map(({ code, ours }) => [code, ours]);
    },
    /** @type {const} */ ([`${tables}/${names[0]}`, storage]),
  );
  assert.deepEqual(told, [['SCHEMA', true], ['TABLE_NOT_FOUND', true], ['INVALID_ARGUMENT', true], ['INVALID_ARGUMENT', true]]);
});
