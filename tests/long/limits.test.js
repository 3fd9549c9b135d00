// What reads cost in memory and requests: measured, since no host here enforces its limits. The numbers are printed.
import assert from 'node:assert/strict';
import { cp, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { Miniflare } from 'miniflare';
import { root } from '../../scripts/lib/run.mjs';
import { serve } from '../../scripts/lib/serve.mjs';
import { manifestOf } from '../../scripts/manifest.mjs';
import { faultProxy } from '../wasm/support/fault_proxy.js';
import { recorded, tableNames, unpack } from '../wasm/support/fixtures.js';
import { repeatedParquet } from '../wasm/support/far_parquet.js';
import { runBeside } from '../wasm/support/packed.js';
import { withPackage } from '../wasm/support/pages.js';
import { workerModules } from '../wasm/support/worker.js';
import { workerHeap } from './support/worker_heap.js';

const mebi = 2 ** 20;
const name = 'v9_cow_rli_large';
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
after(async () => {
  await proxy.close();
  await server.close();
});

const storage = { type: 'http', listing: { manifest: 'hudi-manifest.json' } };

test('in a page 64 reads at once, then 200 one after the other, then 64 again leave memory flat', async () => {
  const { before, single, after, rows } = await withPackage(root, (page) =>
    page.page.evaluate(
      async ([url, storage]) => {
        const table = await /** @type {any} */ (window).hudi.HudiTable.open(url, { storage });
        const rows = new Set();
        const round = async () => {
          for (const { numRows } of await Promise.all(Array.from({ length: 64 }, () => table.read()))) rows.add(numRows);
          return (await table.read()).metrics.wasmBytes;
        };
        const first = [];
        for (let i = 0; i < 20; i += 1) first.push((await table.read()).metrics.wasmBytes);
        const before = [];
        for (let i = 0; i < 10; i += 1) before.push(await round());
        const single = [];
        for (let i = 0; i < 200; i += 1) single.push((await table.read()).metrics.wasmBytes);
        const after = [];
        for (let i = 0; i < 8; i += 1) after.push(await round());
        return { before, single: [first[9], first[19], single[0], single[199]], after, rows: rows.size };
      },
      /** @type {const} */ ([url, storage]),
    ),
  );
  const told = (/** @type {number[]} */ list) => list.map((bytes) => (bytes / mebi).toFixed(1)).join(', ');
  console.log(`# wasm memory in MiB: single reads ${told(single)}; 64 at once ${told(before)}, after 200 more ${told(after)}`);
  assert.equal(rows, 1);
  const [tenth = 0, twentieth = 0, early = 0, late = 0] = single;
  assert.ok(twentieth <= tenth * 1.1, 'it grows from read to read');
  assert.ok(late <= early, '200 reads that need less than 64 at once make it grow');
  // How many of the 64 hold a decoded batch at one moment is a matter of chance: ten rounds see nearly the most.
  assert.ok(Math.max(...after) <= Math.max(...before) * 1.1, 'it grows from round to round');
});

test('in a page a stream of 2 GB of rows stays within 64 MiB above one row group', async () => {
  const top = await mkdtemp(path.join(tmpdir(), 'hudi-limits-'));
  await cp(await unpack(name), top, { recursive: true });
  const files = (await readdir(top)).filter((file) => file.endsWith('.parquet')).sort();
  // Of the one file group, the newest file: the other group's files go.
  const newest = files.filter((file) => file.startsWith('c4acabfa')).sort((a, b) => ((a.split('_').at(-1) ?? '') < (b.split('_').at(-1) ?? '') ? -1 : 1)).at(-1) ?? '';
  const file = await readFile(path.join(top, newest));
  const once = repeatedParquet(file, 1);
  const times = Math.ceil((2 * 2 ** 30) / once.bytes);
  const repeated = repeatedParquet(file, times);
  await writeFile(path.join(top, newest), repeated.file);
  await writeFile(path.join(top, 'hudi-manifest.json'), JSON.stringify(await manifestOf(top)));
  const own = await serve(top);
  try {
    const told = await withPackage(root, (page) =>
      page.page.evaluate(
        async ([url, storage]) => {
          const table = await /** @type {any} */ (window).hudi.HudiTable.open(url, { storage, hudiOptions: { 'hoodie.metadata.enable': 'false' } });
          const stream = table.readStream({ batchSize: 8192 });
          let [rows, bytes, most] = [0, 0, 0];
          for await (const { numRows, ipc } of stream) {
            rows += numRows;
            bytes += ipc.byteLength;
            most = Math.max(most, stream.metrics.wasmBytes);
          }
          return { rows, bytes, most };
        },
        /** @type {const} */ ([own.origin, storage]),
      ),
    );
    console.log(`# streamed ${told.rows} rows, ${(told.bytes / 2 ** 30).toFixed(2)} GiB of Arrow, wasm memory ${told.most / mebi} MiB, row group ${(once.bytes / mebi).toFixed(1)} MiB`);
    assert.ok(told.rows >= repeated.rows);
    assert.ok(told.bytes >= 2 * 2 ** 30);
    assert.ok(told.most <= 64 * mebi + once.bytes);
  } finally {
    await own.close();
    await rm(top, { recursive: true });
  }
});

test('aborts at random points leave no request running, in a page and in Node', async () => {
  proxy.fault = () => ({ delay: Math.random() * 20 });
  const source = async (/** @type {any} */ hudi, /** @type {string} */ url, /** @type {any} */ storage) => {
    const codes = new Map();
    for (let i = 0; i < 60; i += 1) {
      const controller = new AbortController();
      setTimeout(() => controller.abort(), Math.random() * 120);
      const { signal } = controller;
      try {
        const table = await hudi.HudiTable.open(url, { storage, signal, cache: { memory: 0 } });
        if (i % 2 === 0) await table.read({ signal });
        else for await (const { numRows } of table.readStream({ signal, batchSize: 500 })) if (numRows === 0) break;
        codes.set('done', (codes.get('done') ?? 0) + 1);
      } catch (error) {
        const code = /** @type {any} */ (error)?.code ?? String(error);
        codes.set(code, (codes.get(code) ?? 0) + 1);
      }
    }
    return [...codes];
  };
  const check = async (/** @type {[string, number][]} */ codes, /** @type {string} */ where) => {
    console.log(`# aborts in ${where}: ${JSON.stringify(codes)}`);
    assert.ok(codes.every(([code]) => code === 'done' || code === 'ABORTED'), JSON.stringify(codes));
    assert.ok(codes.some(([code]) => code === 'ABORTED'));
    await new Promise((resolve) => setTimeout(resolve, 300));
    assert.equal(proxy.open, 0, 'requests still run');
    const before = proxy.log.length;
    await new Promise((resolve) => setTimeout(resolve, 300));
    assert.equal(proxy.log.length, before, 'requests are still made');
  };
  await withPackage(root, async (page) => {
    const codes = await page.page.evaluate(`(${source})(window.hudi, ${JSON.stringify(url)}, ${JSON.stringify(storage)})`);
    await check(/** @type {any} */ (codes), 'a page');
  });
  const program = `import * as hudi from 'hudi-wasm';
    const codes = await (${source})(hudi, ${JSON.stringify(url)}, ${JSON.stringify(storage)});
    console.log(JSON.stringify(codes));`;
  await check(await runBeside(program), 'Node');
});

test('in a Worker wasm pages and JavaScript heap stay within 64 MiB on every sample table, filtered reads within fifty requests', async () => {
  const source = `import { HudiTable } from './hudi-wasm/js/entry/workerd.js';
    export default {
      async fetch(request) {
        const { url, query } = await request.json();
        const table = await HudiTable.open(url, { storage: { type: 'http', listing: { manifest: 'hudi-manifest.json' } } });
        const { numRows, metrics } = await table.read(query);
        return Response.json({ rows: numRows, wasm: metrics.wasmBytes });
      },
    };`;
  const modules = await workerModules(source);
  let [most, worst] = [{ bytes: 0, wasm: 0, table: '' }, { requests: 0, table: '' }];
  const wrong = [];
  let filtered = 0;
  const names = await tableNames();
  // Ten tables a Worker: what is measured is not the garbage of all tables before.
  for (let at = 0; at < names.length; at += 10) {
    const worker = new Miniflare({ compatibilityDate: '2026-04-01', inspectorPort: 0, modules });
    const heap = await workerHeap(worker);
    try {
      for (const table of names.slice(at, at + 10)) {
        await unpack(table);
        for (const { query, rows, count = rows?.length, code } of (await recorded(table)).filter(({ query }) => query.filters !== undefined || Object.keys(query).length === 1)) {
          if (code !== undefined) continue;
          proxy.reset();
          const body = JSON.stringify({ url: `${proxy.origin}/${table}`, query });
          const during = heap.watch();
          const told = /** @type {any} */ (await (await worker.dispatchFetch('http://worker/', { method: 'POST', body })).json());
          const bytes = told.wasm + (await during.most());
          if (bytes > most.bytes) most = { bytes, wasm: told.wasm, table };
          if (told.rows !== count) wrong.push(`${table} ${JSON.stringify(query)}: ${told.rows} rows, not ${count}`);
          if (query.filters === undefined) continue;
          filtered += 1;
          const requests = proxy.log.length;
          if (requests > worst.requests) worst = { requests, table };
          if (requests > 50) wrong.push(`${table} ${JSON.stringify(query.filters)}: ${requests} requests`);
        }
      }
    } finally {
      heap.close();
      await worker.dispose();
    }
  }
  const told = `${(most.bytes / mebi).toFixed(1)} MiB at most, ${(most.wasm / mebi).toFixed(1)} of them wasm (${most.table})`;
  console.log(`# in a Worker: ${told}; ${worst.requests} requests at most of ${filtered} filtered reads (${worst.table})`);
  assert.deepEqual(wrong, []);
  assert.ok(filtered > 100);
  assert.ok(most.wasm > 0 && most.bytes > most.wasm, 'nothing was measured');
  assert.ok(most.bytes <= 64 * mebi, told);
});

test('wasm pages and the JavaScript heap together stay within 64 MiB on every sample table', async () => {
  const folders = [];
  for (const table of await tableNames()) folders.push(await unpack(table));
  const program = `import { HudiTable } from 'hudi-wasm';
    // Pages of wasm memory are among the external bytes.
    const used = () => { globalThis.gc(); const { heapUsed, external } = process.memoryUsage(); return heapUsed + external; };
    let most = { bytes: 0, table: '' };
    for (const folder of process.argv.slice(2)) {
      const table = await HudiTable.open(folder, { cache: { memory: 16 * 2 ** 20 } });
      const stream = table.readStream({ batchSize: 1024 });
      try {
        for await (const _ of stream) {
          const bytes = used();
          if (bytes > most.bytes) most = { bytes, table: folder };
        }
      } catch (error) {
        if (!['UNSUPPORTED', 'CORRUPT'].includes(error.code)) throw error;
      }
      table.close();
    }
    console.log(JSON.stringify(most));`;
  const most = await runBeside(program, { args: folders, node: ['--expose-gc'], seconds: 300 });
  console.log(`# wasm and heap: ${(most.bytes / mebi).toFixed(1)} MiB at most (${path.basename(most.table)})`);
  assert.ok(most.bytes <= 64 * mebi);
});
