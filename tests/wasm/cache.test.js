// The cache that outlives a visit, in Chromium: a visit is a page of its own, tabs are pages at one time.
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { root } from '../../scripts/lib/run.mjs';
import { serve } from '../../scripts/lib/serve.mjs';
import { launch } from './support/chromium.js';
import { faultProxy } from './support/fault_proxy.js';
import { recorded, unpack } from './support/fixtures.js';

const name = 'v9_cow_all_types';
const many = 'v9_cow_skipping';
/** @type {Awaited<ReturnType<typeof serve>>} */
let site;
/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
/** @type {Awaited<ReturnType<typeof faultProxy>>} */
let proxy;
/** @type {Awaited<ReturnType<typeof launch>>} */
let chromium;
/** @type {import('playwright-core').BrowserContext} */
let context;

before(async () => {
  server = await serve(path.dirname(await unpack(name)));
  await unpack(many);
  site = await serve(root);
  proxy = await faultProxy(server.origin);
  chromium = await launch();
});
beforeEach(async () => {
  proxy.reset();
  await context?.close();
  context = await chromium.newContext();
});
after(async () => {
  await chromium.close();
  await proxy.close();
  await server.close();
  await site.close();
});

/** A page with the package. */
async function visit() {
  const page = await context.newPage();
  await page.goto(`${site.origin}/tests/wasm/support/blank.html`);
  await page.evaluate(async () => {
    const hudi = await import(/** @type {string} */ ('/tests/out/packed/node_modules/hudi-wasm/js/entry/default.js'));
    const { faultsOf } = await import(/** @type {string} */ ('/tests/wasm/support/ask.js'));
    Object.assign(window, { hudi, faultsOf });
  });
  return page;
}

/** Reads a table with a cache and tells what it cost. */
function read(/** @type {import('playwright-core').Page} */ page, /** @type {string} */ table, /** @type {any} */ cache, /** @type {any} */ options = {}) {
  return page.evaluate(
    async ([url, cache, options]) => {
      const sources = /** @type {string[]} */ ([]);
      const onRequest = (/** @type {any} */ { source, path }) => sources.push(`${source} ${path}`);
      const storage = { type: 'http', listing: { manifest: 'hudi-manifest.json' } };
      const opened = await /** @type {any} */ (window).hudi.HudiTable.open(url, { storage, cache, onRequest });
      const { numRows, metrics } = await opened.read(options);
      return { numRows, sources, warnings: metrics.warnings };
    },
    /** @type {const} */ ([`${proxy.origin}/${table}`, cache, options]),
  );
}

const asked = () => proxy.asked.filter((line) => !/hudi-manifest|hoodie\.properties/.test(line));

/** Bytes and number of what a cache holds. */
function held(/** @type {import('playwright-core').Page} */ page, /** @type {string} */ kind) {
  return page.evaluate(async (kind) => {
    const { cacheApiBackend } = await import(/** @type {string} */ ('/tests/out/packed/node_modules/hudi-wasm/js/cache/cache_api.js'));
    const { opfsBackend } = await import(/** @type {string} */ ('/tests/out/packed/node_modules/hudi-wasm/js/cache/opfs.js'));
    const all = await (kind === 'opfs' ? opfsBackend : cacheApiBackend)().list();
    const pieces = all.filter((/** @type {any} */ { name }) => name !== 'uses');
    return { count: pieces.length, bytes: pieces.reduce((/** @type {number} */ sum, /** @type {any} */ { size }) => sum + size, 0) };
  }, kind);
}

/** Waits until what was put is there. @param {import('playwright-core').Page} page @param {string} kind @param {number} count */
async function until(page, kind, count) {
  for (let i = 0; i < 100 && (await held(page, kind)).count < count; i += 1) await new Promise((resolve) => setTimeout(resolve, 50));
}

for (const persistent of /** @type {const} */ (['cache-api', 'opfs'])) {
  test(`${persistent}: a second visit asks the network for nothing that never changes, and gives the rows of Spark`, async () => {
    const queries = await recorded(name);
    const first = await visit();
    await read(first, name, { persistent });
    const files = asked().length;
    assert.ok(files > 0);
    await until(first, persistent, files);
    await first.close();
    proxy.reset();
    const second = await visit();
    const { sources } = await read(second, name, { persistent });
    assert.deepEqual(asked(), []);
    assert.ok(sources.some((source) => source.startsWith('persistent ') && source.endsWith('.parquet')));
    const faults = await second.evaluate(
      ([url, persistent, queries]) => /** @type {any} */ (window).faultsOf(/** @type {any} */ (window).hudi, url, { storage: { type: 'http', listing: { manifest: 'hudi-manifest.json' } }, cache: { persistent } }, queries),
      /** @type {const} */ ([`${proxy.origin}/${name}`, persistent, queries]),
    );
    assert.deepEqual(faults, []);
  });

  test(`${persistent}: two tabs share it within its bound, and what was used least lately goes`, async () => {
    const bound = 400_000;
    const cache = { persistent, persistentBytes: bound };
    const tabs = [await visit(), await visit()];
    const counts = await Promise.all(tabs.map((tab) => read(tab, many, cache)));
    assert.equal(new Set(counts.map(({ numRows }) => numRows)).size, 1);
    assert.deepEqual(counts.map(({ warnings }) => warnings), [[], []]);
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const { bytes, count } = await held(/** @type {any} */ (tabs[0]), persistent);
    assert.ok(count > 0 && bytes > 0, 'it keeps something');
    assert.ok(bytes <= bound * 1.25, `${bytes} bytes are kept`);
    const again = await read(await visit(), many, cache);
    assert.equal(again.numRows, counts[0]?.numRows);
  });

  test(`${persistent}: a full disk ends it with a warning, and the read goes on`, async () => {
    const page = await visit();
    const session = await context.newCDPSession(page);
    await session.send('Storage.overrideQuotaForOrigin', { origin: site.origin, quotaSize: 100 });
    const first = await read(page, many, { persistent, memory: 0 });
    const second = await read(page, many, { persistent, memory: 0 });
    assert.equal(second.numRows, first.numRows);
    const warnings = [...first.warnings, ...second.warnings];
    assert.ok(warnings.some((/** @type {string} */ text) => /persistent cache is not used.*Quota/i.test(text)), JSON.stringify(warnings));
  });
}

test('what broke on the disk is not read, but asked for again', async () => {
  const cache = { persistent: 'cache-api' };
  const first = await visit();
  await read(first, name, cache);
  const files = asked().length;
  await until(first, 'cache-api', files);
  await first.evaluate(async () => {
    const cache = await caches.open('hudi-wasm-1');
    for (const request of await cache.keys()) {
      const response = /** @type {Response} */ (await cache.match(request));
      const bytes = new Uint8Array(await response.arrayBuffer()).map((byte) => byte ^ 0x5a);
      await cache.put(request, new Response(bytes, { headers: response.headers }));
    }
  });
  proxy.reset();
  const { numRows } = await read(await visit(), name, cache);
  assert.ok(numRows > 0);
  assert.equal(asked().length, files);
});

test('V24: what came broken over the network does not stay broken', async () => {
  const cache = { persistent: 'cache-api' };
  proxy.fault = ({ path, nth }) => (/\.commit$/.test(path) && nth === 1 ? { change: (body) => Buffer.from(body.map((byte) => byte ^ 0x5a)) } : undefined);
  const first = await visit();
  await assert.rejects(read(first, name, cache));
  assert.ok((await read(first, name, cache)).numRows > 0);
  assert.ok((await read(await visit(), name, cache)).numRows > 0);
});

test('a cache of the caller is asked and told, and one that fails ends with a warning', async () => {
  const page = await visit();
  const told = await page.evaluate(
    async (url) => {
      const pieces = new Map();
      const log = /** @type {string[]} */ ([]);
      const persistent = {
        async get(/** @type {string} */ key, /** @type {number} */ start, /** @type {number} */ end) {
          log.push(`get ${key}`);
          return pieces.get(`${key} ${start} ${end}`);
        },
        async put(/** @type {string} */ key, /** @type {number} */ start, /** @type {Uint8Array} */ data) {
          pieces.set(`${key} ${start} ${start + data.length}`, data);
        },
      };
      const failing = { get: () => Promise.reject(new Error('no disk')), put: () => Promise.reject(new Error('no disk')) };
      const read = async (/** @type {any} */ persistent) => {
        const storage = { type: 'http', listing: { manifest: 'hudi-manifest.json' } };
        const table = await /** @type {any} */ (window).hudi.HudiTable.open(`${url}?key=secret`, { storage, cache: { persistent, memory: 0 } });
        const { numRows, metrics } = await table.read();
        return { numRows, hits: metrics.cacheHits, warnings: metrics.warnings };
      };
      return { first: await read(persistent), second: await read(persistent), failing: await read(failing), log, kept: pieces.size };
    },
    `${proxy.origin}/${name}`,
  );
  assert.ok(told.kept > 0 && told.first.hits === 0 && told.second.hits > 0);
  assert.equal(told.failing.numRows, told.first.numRows);
  assert.ok(told.log.every((line) => line.startsWith(`get |${proxy.origin}/${name}/`) && !line.includes('secret')));
});

test('a persistent cache is refused where tables are near, and an unknown one too', async () => {
  const page = await visit();
  const codes = await page.evaluate(async () => {
    const { HudiTable } = /** @type {any} */ (window).hudi;
    const open = (/** @type {string} */ uri, /** @type {any} */ options) => HudiTable.open(uri, options).catch((/** @type {any} */ error) => error.code);
    return [
      await open('memory:///t', { storage: { type: 'memory', files: [] }, cache: { persistent: 'opfs' } }),
      await open('https://h.invalid/t', { cache: { persistent: 'odd' } }),
      await open('https://h.invalid/t', { cache: { persistentBytes: 0 } }),
    ];
  });
  assert.deepEqual(codes, ['INVALID_ARGUMENT', 'INVALID_ARGUMENT', 'INVALID_ARGUMENT']);
});
