// Stores that only some hosts have: a Worker's R2 binding, a browser's own folder, folder pages and WebDAV.
import assert from 'node:assert/strict';
import { readFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { tableFromIPC } from 'apache-arrow';
import { Miniflare } from 'miniflare';
import { root } from '../../scripts/lib/run.mjs';
import { faultsOf } from './support/ask.js';
import { rows, sorted } from './support/canonical.js';
import { recorded, unpack } from './support/fixtures.js';
import { importBeside } from './support/packed.js';
import { withPackage } from './support/pages.js';
import { folderServer } from './support/folder_server.js';
import { workerModules } from './support/worker.js';

/** @type {typeof import('../../js/index.d.ts')} */
const hudi = /** @type {any} */ (await importBeside("export * from 'hudi-wasm';"));
const code = (/** @type {any} */ wanted) => (/** @type {unknown} */ error) => hudi.HudiError.is(error, wanted);
const cow = ['v9_cow_all_types', 'v9_cow_partition_types', 'v6_cow_parts', 'v9_cow_nonhive_multi', 'v9_cow_archived'];
const mor = 'v9_mor_event_time';
/** @type {Awaited<ReturnType<typeof folderServer>>} */
let server;

before(async () => {
  for (const name of [...cow, mor, 'v9_cow_hive_parts']) await unpack(name);
  server = await folderServer(path.dirname(await unpack(mor)));
});
after(() => server.close());

/** Files of a table by path. @returns {Promise<[path: string, data: Buffer][]>} */
async function filesOf(/** @type {string} */ name) {
  const folder = await unpack(name);
  const entries = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  return Promise.all(
    entries.map(async (entry) => {
      const file = path.join(entry.parentPath, entry.name);
      return /** @type {[string, Buffer]} */ ([path.relative(folder, file).split(path.sep).join('/'), await readFile(file)]);
    }),
  );
}

test('a Worker reads a table through its R2 binding', async () => {
  const source = `import { HudiTable } from './hudi-wasm/js/entry/workerd.js';
    export default {
      async fetch(request, { BUCKET }) {
        const { uri, storage } = await request.json();
        try {
          const table = await HudiTable.open(uri, { storage: { type: 'r2', bucket: BUCKET, ...storage } });
          return new Response((await table.read()).ipc);
        } catch (error) {
          return Response.json({ code: error.code, message: error.message }, { status: 500 });
        }
      },
    };`;
  const worker = new Miniflare({ compatibilityDate: '2026-04-01', modules: await workerModules(source), r2Buckets: ['BUCKET'] });
  try {
    const bucket = /** @type {any} */ (await worker.getR2Bucket('BUCKET'));
    const [name = ''] = cow;
    for (const [file, data] of await filesOf(name)) await bucket.put(`lake/${name}/${file}`, Uint8Array.from(data).buffer);
    await bucket.put(`lake/${name}x/.hoodie/hoodie.properties`, 'not of this table');
    const ask = (/** @type {object} */ body) => worker.dispatchFetch('http://worker/', { method: 'POST', body: JSON.stringify(body) });
    const [first] = await recorded(name);
    for (const place of [{ uri: `r2://bucket/lake/${name}` }, { uri: 'r2://any', storage: { prefix: `lake/${name}/` } }]) {
      const answer = await ask(place);
      assert.equal(answer.status, 200, await answer.clone().text());
      assert.deepEqual(rows(tableFromIPC(new Uint8Array(await answer.arrayBuffer()))), sorted(first?.rows ?? []));
    }
    assert.equal(/** @type {any} */ (await (await ask({ uri: 'r2://bucket/lake' })).json()).code, 'TABLE_NOT_FOUND');
  } finally {
    await worker.dispose();
  }
});

test('a Worker makes a table in its R2 bucket, appends to it, large files by equal parts, and rolls back', async () => {
  const source = `import { HudiTable, createObjectStore } from './hudi-wasm/js/entry/workerd.js';
    const log = [];
    const watched = (bucket) => ({
      get: (...given) => bucket.get(...given),
      head: (key) => bucket.head(key),
      list: (options) => bucket.list(options),
      delete: (keys) => bucket.delete(keys),
      put: (key, value, options) => {
        log.push({ put: key, absent: options?.onlyIf?.get('if-none-match') ?? null });
        return bucket.put(key, value, options);
      },
      async createMultipartUpload(key) {
        const upload = await bucket.createMultipartUpload(key);
        return {
          uploadPart: (number, value) => (log.push({ part: number, size: value.byteLength }), globalThis.failing ? Promise.reject(new Error('uploadPart: no (10001)')) : upload.uploadPart(number, value)),
          complete: (parts) => (log.push({ complete: parts.length }), upload.complete(parts)),
          abort: () => (log.push({ abort: true }), upload.abort()),
        };
      },
    });
    const schema = JSON.stringify({ type: 'record', name: 't', fields: [{ name: 'id', type: 'long' }, { name: 'city', type: 'string' }, { name: 'noise', type: ['null', 'bytes'], default: null }] });
    const random = (size) => {
      const bytes = new Uint8Array(size);
      for (let at = 0; at < size; at += 65536) crypto.getRandomValues(bytes.subarray(at, Math.min(size, at + 65536)));
      return bytes;
    };
    const uri = 'r2://bucket/lake/made';
    const open = (bucket) => HudiTable.open(uri, { storage: { type: 'r2', bucket } });
    const steps = {
      async create(bucket) {
        await HudiTable.create(uri, { tableName: 't', schema, recordKeyFields: ['id'], partitionFields: ['city'], storage: { type: 'r2', bucket } });
      },
      async append(bucket, { from, to }) {
        const rows = Array.from({ length: to - from }, (_, i) => ({ id: from + i, city: 'c' + ((from + i) % 2) }));
        const { table, ...told } = await (await open(bucket)).append({ rows });
        return told;
      },
      async race(bucket, { ids }) {
        const tables = await Promise.all(ids.map(() => open(bucket)));
        await Promise.all(ids.map((id, i) => tables[i].append({ rows: [{ id, city: 'c0' }] })));
      },
      async large(bucket, { id, fail = false }) {
        globalThis.failing = fail;
        const rows = Array.from({ length: 18 }, (_, i) => ({ id: id + i, city: 'big', noise: random(1 << 20) }));
        const { table, ...told } = await (await open(bucket)).append({ rows }, { compression: 'uncompressed' });
        return told;
      },
      rollback: async (bucket, { instant }) => (await open(bucket)).rollback(instant),
      async absent(bucket) {
        const store = createObjectStore(uri, { type: 'r2', bucket, prefix: 'other' });
        const put = (text) => store.put('file', new TextEncoder().encode(text), { ifNoneMatch: '*' }).then(() => 'put', (error) => error.code);
        const answers = await Promise.all([put('one'), put('two')]);
        return { answers: answers.sort(), late: await put('three'), there: new TextDecoder().decode((await store.get('file', {})).data) };
      },
      read: async (bucket) => ({ rows: (await (await open(bucket)).read({ projection: ['id'] })).numRows }),
    };
    export default {
      async fetch(request, { BUCKET }) {
        const { step, ...given } = await request.json();
        log.length = 0;
        try {
          return Response.json({ told: await steps[step](watched(BUCKET), given), log });
        } catch (error) {
          return Response.json({ code: error.code, message: error.message, log });
        }
      },
    };`;
  const worker = new Miniflare({ compatibilityDate: '2026-04-01', modules: await workerModules(source), r2Buckets: ['BUCKET'] });
  const ask = async (/** @type {string} */ step, /** @type {object} */ given = {}) => /** @type {any} */ (await (await worker.dispatchFetch('http://worker/', { method: 'POST', body: JSON.stringify({ step, ...given }) })).json());
  const rows = async () => (await ask('read')).told.rows;
  try {
    const made = await ask('create');
    assert.equal(made.code, undefined, made.message);
    assert.ok(made.log.some((/** @type {any} */ { put, absent }) => put === 'lake/made/.hoodie/hoodie.properties' && absent === '*'));
    assert.equal((await ask('create')).code, 'TABLE_EXISTS');
    const first = await ask('append', { from: 0, to: 10 });
    assert.deepEqual([first.told?.inserted, first.told?.filesWritten], [10, 2], first.message);
    const timeline = first.log.filter((/** @type {any} */ { put }) => put?.startsWith('lake/made/.hoodie/timeline/'));
    assert.deepEqual(timeline.map((/** @type {any} */ { absent }) => absent), ['*', '*', '*'], 'each file of an instant is put where there is none');
    assert.equal((await ask('race', { ids: [100, 101, 102] })).code, undefined);
    assert.equal(await rows(), 13);

    const large = await ask('large', { id: 1000 });
    assert.equal(large.told?.inserted, 18, large.message);
    const parts = large.log.filter((/** @type {any} */ { part }) => part).map((/** @type {any} */ { size }) => size);
    assert.ok(parts.length >= 3 && parts.slice(0, -1).every((/** @type {number} */ size) => size === 8 << 20) && parts.at(-1) <= 8 << 20, JSON.stringify(parts));
    assert.equal(parts.reduce((/** @type {number} */ sum, /** @type {number} */ size) => sum + size), large.told.bytesWritten);
    assert.equal(await rows(), 31);

    const failed = await ask('large', { id: 2000, fail: true });
    assert.equal(failed.code, 'UNAVAILABLE', failed.message);
    assert.ok(failed.log.some((/** @type {any} */ { abort }) => abort), 'the upload is given up');
    assert.equal(await rows(), 31);

    const last = await ask('append', { from: 20, to: 21 });
    const undone = await ask('rollback', { instant: last.told?.instant });
    assert.equal(undone.told?.filesDeleted, 1, undone.message);
    assert.equal(await rows(), 31);

    const { told } = await ask('absent');
    assert.deepEqual([told.answers, told.late], [['PRECONDITION_FAILED', 'put'], 'PRECONDITION_FAILED']);
    assert.match(told.there, /^(one|two)$/);
  } finally {
    await worker.dispose();
  }
});

test("a page reads a table from the browser's own folder", async () => {
  const [name = ''] = cow;
  const files = (await filesOf(name)).map(([file]) => file);
  await withPackage(root, async (page) => {
    const faults = await page.page.evaluate(
      async ([name, files, queries]) => {
        const { faultsOf } = await import(/** @type {string} */ ('/tests/wasm/support/ask.js'));
        const top = await (await navigator.storage.getDirectory()).getDirectoryHandle('a table', { create: true });
        for (const file of files) {
          const parts = file.split('/');
          let folder = top;
          for (const part of parts.slice(0, -1)) folder = await folder.getDirectoryHandle(part, { create: true });
          const writable = await (await folder.getFileHandle(parts.at(-1) ?? '', { create: true })).createWritable();
          const url = `/tests/out/tables/${name}/${file.split('/').map(encodeURIComponent).join('/')}`;
          await writable.write(await (await fetch(url)).arrayBuffer());
          await writable.close();
        }
        return faultsOf(/** @type {any} */ (window).hudi, 'directory:///table', { storage: { type: 'directory', handle: top } }, queries);
      },
      /** @type {const} */ ([name, files, await recorded(name)]),
    );
    assert.deepEqual(faults, []);
    const missing = await page.page.evaluate(async () => {
      const handle = await navigator.storage.getDirectory();
      return /** @type {any} */ (window).hudi.HudiTable.open('directory:///table', { storage: { type: 'directory', handle } }).catch((/** @type {any} */ error) => error.code);
    });
    assert.equal(missing, 'TABLE_NOT_FOUND');
  });
});

for (const style of /** @type {const} */ (['nginx', 'apache', 'python'])) {
  test(`the folder pages of ${style} serve copy-on-write tables`, async () => {
    server.style = style;
    for (const name of cow) {
      const storage = /** @type {const} */ ({ type: 'http', listing: 'autoindex' });
      assert.deepEqual(await faultsOf(hudi, `${server.origin}/${name}`, { storage }, await recorded(name)), []);
    }
  });
}

test('a file behind folder pages takes three rounds: its size, its end, its columns', async () => {
  server.style = 'apache';
  const requests = /** @type {import('../../js/index.d.ts').RequestInfoEvent[]} */ ([]);
  const url = `${server.origin}/v9_cow_skipping`;
  await unpack('v9_cow_skipping');
  const table = await hudi.HudiTable.open(url, { storage: { type: 'http', listing: 'autoindex' }, onRequest: (request) => requests.push(request) });
  const { metrics, numRows } = await table.read({ limit: 10, filters: [['n', '=', 5]], projection: ['n'] });
  assert.equal(numRows, 1);
  assert.equal(metrics.listing.source, 'store');
  const [first] = requests.filter(({ cause }) => cause === 'footer');
  const ofFirst = requests.filter(({ path, source }) => path === first?.path && source === 'network');
  assert.deepEqual([ofFirst[0]?.start, ofFirst[0]?.end], [0, 1]);
  assert.ok(ofFirst.length <= 3);
  const [slice] = await table.getFileSlices();
  assert.equal(slice?.baseFileSize, 0, 'a size that nobody told is 0');
});

test('folder pages refuse a merge-on-read table, WebDAV and a manifest serve it', async () => {
  const url = `${server.origin}/${mor}`;
  for (const style of /** @type {const} */ (['nginx', 'apache', 'python'])) {
    server.style = style;
    await assert.rejects(hudi.HudiTable.open(url, { storage: { type: 'http', listing: 'autoindex' } }), (/** @type {any} */ error) => {
      return code('LIST_NOT_SUPPORTED')(error) && /manifest/.test(String(error.hint));
    });
  }
  for (const listing of /** @type {const} */ (['webdav', { manifest: 'hudi-manifest.json' }])) {
    assert.deepEqual(await faultsOf(hudi, url, { storage: { type: 'http', listing } }, await recorded(mor)), []);
  }
});

test('a manifest that is not there is told, and never an empty table', async () => {
  for (const name of ['v9_cow_inflight', 'v9_cow_hive_parts', mor]) {
    const storage = /** @type {const} */ ({ type: 'http', listing: { manifest: 'no-such-manifest.json' } });
    const read = async () => (await hudi.HudiTable.open(`${server.origin}/${name}`, { storage })).read();
    await assert.rejects(read, (/** @type {any} */ error) => {
      return code('LIST_NOT_SUPPORTED')(error) && /npm run manifest/.test(String(error.hint));
    });
  }
});

test('through a manifest the first batch of a partitioned table takes six requests and one for each log of the index, the next read none', async () => {
  const name = 'v9_cow_hive_parts';
  const logs = (await filesOf(name)).filter(([file]) => file.startsWith('.hoodie/metadata/files/.files')).length;
  const asked = /** @type {string[]} */ ([]);
  const storage = /** @type {const} */ ({ type: 'http', listing: { manifest: 'hudi-manifest.json' } });
  const onRequest = (/** @type {import('../../js/index.d.ts').RequestInfoEvent} */ { source, method, path: file }) => {
    if (source === 'network') asked.push(`${method} ${file}`);
  };
  const first = async (/** @type {import('../../js/index.d.ts').HudiTable} */ table) => {
    for await (const batch of await table.readStream()) return batch.numRows;
    return 0;
  };
  const before = server.asked;
  const table = await hudi.HudiTable.open(`${server.origin}/${name}`, { storage, onRequest });
  const { metrics } = await table.read({ limit: 1 });
  assert.equal(metrics.listing.source, 'metadata-table');
  assert.ok(asked.length <= 6 + logs, asked.join('\n'));
  assert.equal(asked.length, server.asked - before, 'every request is told');
  assert.ok((await first(table)) > 0);
  await table.read();
  asked.length = 0;
  assert.ok((await first(table)) > 0);
  assert.deepEqual(asked, []);
  const anew = await table.refresh();
  assert.ok((await first(anew)) > 0);
  assert.ok(asked.length <= 2, asked.join('\n'));
});

test('WebDAV serves tables with every character in their paths', async () => {
  for (const name of cow) {
    assert.deepEqual(await faultsOf(hudi, `${server.origin}/${name}`, { storage: { type: 'http', listing: 'webdav' } }, await recorded(name)), []);
  }
});

test('a server that lists nothing is LIST_NOT_SUPPORTED, never an empty table', async () => {
  const url = `${server.origin}/${cow[0]}`;
  for (const style of /** @type {const} */ (['none', 'page'])) {
    server.style = style;
    for (const listing of /** @type {const} */ (['autoindex', 'webdav'])) {
      await assert.rejects(hudi.HudiTable.open(url, { storage: { type: 'http', listing } }).then((table) => table.read()), code('LIST_NOT_SUPPORTED'), `${style} ${listing}`);
    }
  }
  server.style = 'forbidden';
  await assert.rejects(hudi.HudiTable.open(url, { storage: { type: 'http', listing: 'autoindex' } }), code('UNAUTHORIZED'));
});
