// What networks, servers and hosts in between do wrong, by a proxy before a web server: a right answer or a typed error, never
// fewer rows. The letters are those under which such faults are known to us: H for HTTP, J for JavaScript, V for the rest.
import assert from 'node:assert/strict';
import { cp, mkdtemp, readFile, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { tableFromIPC } from 'apache-arrow';
import { Miniflare } from 'miniflare';
import { root } from '../../scripts/lib/run.mjs';
import { serve } from '../../scripts/lib/serve.mjs';
import { faultsOf } from './support/ask.js';
import { rows, sorted } from './support/canonical.js';
import { farParquet } from './support/far_parquet.js';
import { faultProxy } from './support/fault_proxy.js';
import { recorded, unpack } from './support/fixtures.js';
import { importBeside } from './support/packed.js';
import { withPackage } from './support/pages.js';
import { workerModules } from './support/worker.js';

/** @typedef {import('./support/fault_proxy.js').Fault} Fault @typedef {import('./support/fault_proxy.js').Asked} Asked */

/** @type {typeof import('../../js/index.d.ts')} */
const hudi = /** @type {any} */ (await importBeside("export * from 'hudi-wasm';"));
const name = 'v9_cow_all_types';
const queries = await recorded(name);
/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
/** @type {Awaited<ReturnType<typeof faultProxy>>} */
let proxy;
/** @type {string} */
let url;

before(async () => {
  server = await serve(path.dirname(await unpack(name)));
  proxy = await faultProxy(server.origin);
  url = `${proxy.origin}/${name}`;
});
beforeEach(() => proxy.reset());
after(async () => {
  await proxy.close();
  await server.close();
});

const storage = () => /** @type {const} */ ({ type: 'http', listing: { manifest: 'hudi-manifest.json' } });
const isData = (/** @type {string} */ path) => path.endsWith('.parquet');

/** Whether an error has a code, and what else it must say. */
function says(/** @type {string} */ code, /** @type {RegExp} */ hint = /(?:)/) {
  return (/** @type {any} */ error) => {
    assert.ok(hudi.HudiError.is(error), String(error));
    assert.equal(error.code, code, `${error.message} ${JSON.stringify(error.context)}`);
    assert.match(error.hint ?? '', hint);
    return true;
  };
}

/** Reads the table under a fault and holds it against Spark. */
async function checkRows(/** @type {(asked: Asked) => Fault | undefined | void} */ fault) {
  proxy.fault = fault;
  assert.deepEqual(await faultsOf(hudi, url, { storage: storage() }, queries), []);
}

/** Reads the table under a fault, which must fail with the code. @param {(asked: Asked) => Fault | undefined | void} fault @param {string} code @param {RegExp} [hint] */
async function checkRefused(fault, code, hint) {
  proxy.fault = fault;
  await assert.rejects(hudi.HudiTable.open(url, { storage: storage() }).then((table) => table.read()), says(code, hint));
}

test('H1: HEAD is refused, and never sent', async () => {
  await checkRows(({ method }) => (method === 'HEAD' ? { status: 405 } : undefined));
  assert.ok(proxy.log.every(({ method }) => method === 'GET'));
});

test('H3: a small object that comes whole for a range is cut', () => checkRows(({ range }) => (range ? { ignoreRange: true } : undefined)));

test('H3: another range than asked for is RANGE_NOT_SUPPORTED', async () => {
  await checkRefused(({ range }) => (range && range.start > 0 ? { shift: -1 } : range ? { shift: 1 } : undefined), 'RANGE_NOT_SUPPORTED');
});

test('H3: a shorter range than asked for that says so is no accident: PRECONDITION_FAILED', async () => {
  await checkRefused(({ range, path }) => (range && isData(path) ? { shorten: 3 } : undefined), 'PRECONDITION_FAILED');
});

test('H3: 416 where the object should go on is PRECONDITION_FAILED', async () => {
  await checkRefused(({ range, path }) => (range && isData(path) ? { status: 416, headers: { 'content-range': 'bytes */7' } } : undefined), 'PRECONDITION_FAILED');
});

test('a body that breaks off is asked for again, and NETWORK when it always does', async () => {
  await checkRows(({ path, nth }) => (isData(path) && nth === 1 ? { cut: 100 } : undefined));
  await checkRefused(({ path }) => (isData(path) ? { cut: 100 } : undefined), 'NETWORK');
});

test('H7: small objects stored compressed are read whole, and no piece of compressed bytes is parsed', async () => {
  await checkRows(() => ({ gzip: true }));
  assert.ok(proxy.log.filter(({ path, range }) => isData(path) && range === undefined).length > 0, 'a piece is not decodable');
  await checkRefused(({ path }) => (isData(path) ? { headers: { 'content-encoding': 'gzip' }, change: () => Buffer.alloc(0) } : undefined), 'RANGE_NOT_SUPPORTED');
});

test('H7: the same in a page, where script may not see that they are compressed', async () => {
  await withPackage(root, async (page) => {
    proxy.fault = ({ path }) => (path.includes('.hoodie/') ? { gzip: true } : undefined);
    assert.deepEqual(await page.faults(url, { storage: storage() }, queries), []);
    proxy.fault = ({ path }) => (isData(path) ? { gzip: true } : undefined);
    const error = await page.openError(url, { storage: storage() });
    assert.equal(error.code, 'NETWORK', 'a browser decodes the piece, and fails');
    assert.match(error.hint, /Content-Encoding/);
  });
});

for (const { exposed, pinned } of [
  { exposed: [], pinned: false },
  { exposed: ['Content-Range'], pinned: false },
  { exposed: ['ETag'], pinned: true },
  { exposed: ['Content-Range', 'ETag'], pinned: true },
]) {
  test(`H5: a page that sees ${exposed.join(' and ') || 'neither Content-Range nor ETag'} reads by the sizes it knows`, async () => {
    await withPackage(root, async (page) => {
      proxy.cors = { expose: exposed, preflight: false };
      assert.deepEqual(await page.faults(url, { storage: storage() }, queries), []);
      const seen = await page.page.evaluate(
        async ([url, storage]) => {
          const table = await /** @type {any} */ (window).hudi.HudiTable.open(url, { storage });
          return (await table.read()).metrics.pinned;
        },
        /** @type {const} */ ([url, storage()]),
      );
      assert.equal(seen, pinned);
      assert.ok(proxy.log.every(({ method }) => method === 'GET'), 'a range of two ends needs no preflight');
    });
  });
}

test('H5: a size that is only in a hidden Content-Range says which header to expose', async () => {
  await withPackage(root, async (page) => {
    proxy.cors = { expose: ['ETag'] };
    const error = await page.page.evaluate(
      async (url) => {
        const hudi = /** @type {any} */ (window).hudi;
        const manifest = await (await fetch(`${url}/hudi-manifest.json`)).json();
        const list = async function* (/** @type {string} */ prefix) {
          for (const file of manifest.files) if (file.path.startsWith(prefix) && !/\/\.|^\.[^h]/.test(file.path)) yield file;
        };
        // As the folder pages of a server: names without sizes.
        const listing = Object.assign(list, { lists: 'names' });
        try {
          await (await hudi.HudiTable.open(url, { storage: { type: 'http', listing } })).read();
        } catch (error) {
          return { code: /** @type {any} */ (error).code, hint: /** @type {any} */ (error).hint };
        }
        return undefined;
      },
      url,
    );
    assert.deepEqual([error?.code, /Access-Control-Expose-Headers: Content-Range/.test(error?.hint)], ['RANGE_NOT_SUPPORTED', true]);
  });
});

test('H5: a page that is not allowed, or whose preflight is refused, is told the headers to send', async () => {
  await withPackage(root, async (page, origin) => {
    proxy.cors = { allowed: false };
    const closed = await page.openError(url, { storage: storage() });
    assert.deepEqual([closed.code, closed.hint.includes(`Access-Control-Allow-Origin: ${origin}`)], ['NETWORK', true]);
    proxy.cors = { preflight: false };
    const refused = await page.openError(url, { storage: { ...storage(), headers: { authorization: 'Bearer s3cret' } } });
    assert.deepEqual([refused.code, refused.hint.includes('Access-Control-Allow-Headers')], ['NETWORK', true]);
    assert.ok(!JSON.stringify(refused).includes('s3cret'));
  });
});

/** A copy of a table to spoil, behind a server and a proxy of its own. */
async function withCopy(/** @type {string} */ table, /** @type {(at: { folder: string, url: string, data: string }) => Promise<void>} */ use) {
  const top = await mkdtemp(path.join(tmpdir(), 'hudi-faults-'));
  await cp(await unpack(table), path.join(top, table), { recursive: true });
  const own = await serve(top);
  const before = await faultProxy(own.origin);
  const kept = proxy;
  proxy = before;
  try {
    const files = (await readdir(path.join(top, table), { recursive: true })).filter((file) => file.endsWith('.parquet') && !file.startsWith('.hoodie'));
    const newest = files.sort((a, b) => ((a.split('_').at(-1) ?? '') < (b.split('_').at(-1) ?? '') ? -1 : 1)).at(-1) ?? '';
    await use({ folder: path.join(top, table), url: `${before.origin}/${table}`, data: newest });
  } finally {
    proxy = kept;
    await before.close();
    await own.close();
    await rm(top, { recursive: true });
  }
}

test('H11: a file that changes under an open handle is PRECONDITION_FAILED, at the same and at another size', async () => {
  await withCopy('v9_cow_skipping', async ({ folder, url, data }) => {
    const open = () => hudi.HudiTable.open(url, { storage: storage(), cache: { memory: 0 } });
    const file = path.join(folder, data);
    const bytes = await readFile(file);
    for (const changed of [bytes, bytes.subarray(0, bytes.length - 1)]) {
      const table = await open();
      await table.read();
      await writeFile(file, changed);
      await utimes(file, new Date(), new Date(Date.now() + 5000));
      await assert.rejects(table.read(), says('PRECONDITION_FAILED'));
      await writeFile(file, bytes);
    }
    // Another handle asks for all of it anew.
    assert.ok((await (await open()).read()).numRows > 0);
  });
});

test('H11: a weak ETag that stays is taken, and a file without one is told by pinned', async () => {
  await checkRows(({ path }) => (isData(path) ? { headers: { etag: 'W/"same"' } } : undefined));
  await checkRows(({ path }) => (isData(path) ? { headers: { etag: null } } : undefined));
  const table = await hudi.HudiTable.open(url, { storage: storage() });
  assert.equal((await table.read()).metrics.pinned, false);
});

test('V24: bytes that do not parse are forgotten and asked for again: by the read itself, which asks twice, and by the next', async () => {
  proxy.fault = ({ path, nth }) => (isData(path) && nth <= 2 ? { change: (body) => Buffer.from(body.map((byte) => byte ^ 0x5a)) } : undefined);
  const table = await hudi.HudiTable.open(url, { storage: storage() });
  await assert.rejects(table.read(), says('CORRUPT'));
  assert.equal((await table.read()).numRows, queries[0]?.rows?.length);
});

test('J5: throttling, a Retry-After and a reset connection pass in Node and in a page', async () => {
  const faults = /** @type {Fault[]} */ ([{ status: 503 }, { status: 429, headers: { 'retry-after': '1' } }, { reset: true }]);
  await checkRows(({ path, nth }) => (isData(path) || path.endsWith('hoodie.properties') ? faults[nth - 1] : undefined));
  proxy.reset();
  await withPackage(root, async (page) => {
    proxy.fault = ({ path, nth }) => (path.endsWith('hoodie.properties') ? faults[nth - 1] : undefined);
    assert.deepEqual(await page.faults(url, { storage: storage() }, queries), []);
  });
});

test('J5 and V26: in a Worker requests are made again, and a filtered read takes no more than fifty', async () => {
  await unpack('v9_cow_partition_types');
  const source = `import { HudiTable } from './hudi-wasm/js/entry/workerd.js';
    export default {
      async fetch(request) {
        const { url, options } = await request.json();
        const table = await HudiTable.open(url, { storage: { type: 'http', listing: { manifest: 'hudi-manifest.json' } } });
        const result = await table.read(options);
        return Response.json({ rows: result.numRows, wasm: result.metrics.wasmBytes });
      },
    };`;
  const worker = new Miniflare({ compatibilityDate: '2026-04-01', modules: await workerModules(source) });
  try {
    const ask = async (/** @type {string} */ table, /** @type {object} */ options) => {
      const body = JSON.stringify({ url: `${proxy.origin}/${table}`, options });
      return /** @type {any} */ (await (await worker.dispatchFetch('http://worker/', { method: 'POST', body })).json());
    };
    proxy.fault = ({ path, nth }) => (path.endsWith('hoodie.properties') ? [{ status: 503 }, { status: 503 }][nth - 1] : undefined);
    assert.equal((await ask(name, {})).rows, queries[0]?.rows?.length);
    proxy.reset();
    const [filtered] = (await recorded('v9_cow_partition_types')).filter(({ query }) => query.filters?.length === 1);
    const told = await ask('v9_cow_partition_types', filtered?.query);
    assert.equal(told.rows, filtered?.rows?.length);
    console.log(`# worker ${proxy.log.length} requests, wasm memory ${(told.wasm / 2 ** 20).toFixed(1)} MiB`);
    assert.ok(proxy.log.length <= 50, `${proxy.log.length} requests`);
    assert.ok(told.wasm <= 64 * 2 ** 20);
  } finally {
    await worker.dispose();
  }
});

test('J1, H3, H11: rows behind 5 GiB of a file are read; a server that would send all of it, or two versions of it, is refused', async () => {
  const table = 'v9_cow_simple';
  const [{ rows: expected = [] } = {}] = await recorded(table);
  await withCopy(table, async ({ folder, data }) => {
    const far = farParquet(await readFile(path.join(folder, data)), 5 * 2 ** 30);
    const manifest = JSON.parse(await readFile(path.join(folder, 'hudi-manifest.json'), 'utf8'));
    for (const file of manifest.files) if (file.path === data) file.size = far.size;
    await writeFile(path.join(folder, 'hudi-manifest.json'), JSON.stringify(manifest));
    let [ignore, sent] = [false, 0];
    let etag = () => '"e"';
    const sparse = createServer(async (request, response) => {
      const file = decodeURIComponent(new URL(request.url ?? '/', 'http://h').pathname).slice(1);
      const whole = file === data ? undefined : await readFile(path.join(folder, file)).catch(() => null);
      if (whole === null) return void response.writeHead(404).end();
      const size = whole?.length ?? far.size;
      const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
      if (first === undefined || (ignore && whole === undefined)) {
        response.writeHead(200, { 'content-length': size });
        if (whole !== undefined) return void response.end(whole);
        const piece = Buffer.alloc(1 << 20);
        const more = () => {
          while (!response.destroyed && response.write(piece)) sent += piece.length;
        };
        response.on('drain', more).on('error', () => {});
        return more();
      }
      const [start, end] = [Number(first), Math.min(Number(last) + 1, size)];
      response.writeHead(206, { 'content-range': `bytes ${start}-${end - 1}/${size}`, 'content-length': end - start, etag: etag() });
      response.end(whole?.subarray(start, end) ?? far.read(start, end));
    });
    await new Promise((resolve) => sparse.listen(0, '127.0.0.1', () => resolve(undefined)));
    try {
      const at = `http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (sparse.address()).port}`;
      const found = await (await hudi.HudiTable.open(at, { storage: storage() })).read();
      assert.deepEqual(rows(tableFromIPC(found.ipc)), sorted([...expected, ...expected]));
      ignore = true;
      await assert.rejects(hudi.HudiTable.open(at, { storage: storage() }).then((table) => table.read()), says('RANGE_NOT_SUPPORTED'));
      assert.ok(sent < 64 * 2 ** 20, `${sent} bytes were sent before it was stopped`);
      let answers = 0;
      for (const [sign, code] of /** @type {const} */ ([['', 'PRECONDITION_FAILED'], ['W/', 'PRECONDITION_FAILED']])) {
        [ignore, etag] = [false, () => `${sign}"${(answers += 1)}"`];
        await assert.rejects(hudi.HudiTable.open(at, { storage: storage() }).then((table) => table.read()), says(code));
      }
    } finally {
      sparse.closeAllConnections();
      sparse.close();
    }
  });
});

test('J3: a batch stays what it was while wasm memory grows', async () => {
  const table = await hudi.HudiTable.open(await unpack('v9_cow_rli_large'));
  const stream = table.readStream({ batchSize: 100 });
  const { value: first } = await stream.next();
  assert.ok(first !== undefined);
  const kept = Buffer.from(first.ipc);
  const before = stream.metrics.wasmBytes;
  const reads = await Promise.all(Array.from({ length: 24 }, () => table.read({ batchSize: 20_000 })));
  assert.ok(stream.metrics.wasmBytes > before, 'memory did not grow, so this shows nothing');
  assert.deepEqual(Buffer.from(first.ipc), kept);
  assert.equal(new Set(reads.map(({ numRows }) => numRows)).size, 1);
  assert.notEqual(first.ipc.byteLength, 0);
  await stream.return?.();
});
