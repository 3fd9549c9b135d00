// Tables in the private files of an origin, written by several of its pages in Chromium; and in a folder that stands for a picked one.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { root } from '../../scripts/lib/run.mjs';
import { serve } from '../../scripts/lib/serve.mjs';
import { launch } from './support/chromium.js';

/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
/** @type {Awaited<ReturnType<typeof launch>>} */
let chromium;
/** Two tabs of one origin. @type {import('playwright-core').Page[]} */
let pages;
let nth = 0;

before(async () => {
  server = await serve(root);
  chromium = await launch();
  const context = await chromium.newContext();
  pages = await Promise.all([1, 2].map(() => context.newPage()));
  for (const page of pages) {
    await page.addInitScript(() => {
      const schema = JSON.stringify({ type: 'record', name: 't', fields: [{ name: 'id', type: 'long' }, { name: 'city', type: 'string' }] });
      const ready = async () => {
        const hudi = await import(/** @type {string} */ ('hudi-wasm'));
        const arrow = await import(/** @type {string} */ ('apache-arrow'));
        const storage = async (/** @type {string} */ name) => ({ type: 'directory', handle: await (await navigator.storage.getDirectory()).getDirectoryHandle(name, { create: true }) });
        const create = async (/** @type {string} */ name, /** @type {any} */ more = {}) =>
          hudi.HudiTable.create('directory:///t', { tableName: 't', schema, recordKeyFields: ['id'], partitionFields: ['city'], storage: await storage(name), ...more });
        const open = async (/** @type {string} */ name) => hudi.HudiTable.open('directory:///t', { storage: await storage(name) });
        const rows = (/** @type {number[]} */ ...ids) => ({ rows: ids.map((id) => ({ id, city: `c${id % 3}` })) });
        const ids = async (/** @type {any} */ table) => [...(arrow.tableFromIPC((await table.read({ projection: ['id'] })).ipc).getChild('id') ?? [])].map(Number).sort((a, b) => a - b);
        /** A batch comes, so that there is an instant, and no more. */
        const endless = async function* () {
          const columns = { id: arrow.vectorFromArray([9n], new arrow.Int64()), city: arrow.vectorFromArray(['c0'], new arrow.Utf8()) };
          yield arrow.tableToIPC(new arrow.Table(columns), 'stream').slice(0, -8);
          await new Promise(() => {});
        };
        const paths = async (/** @type {string} */ name) => {
          const found = /** @type {string[]} */ ([]);
          const walk = async (/** @type {any} */ folder, /** @type {string} */ prefix) => {
            for await (const [name, handle] of folder.entries()) {
              if (handle.kind === 'directory') await walk(handle, `${prefix}${name}/`);
              else found.push(prefix + name);
            }
          };
          await walk((await storage(name)).handle, '');
          return found.sort();
        };
        return { hudi, storage, create, open, rows, endless, ids, paths };
      };
      /** @type {any} */ (window).ready = ready;
    });
    await page.goto(`${server.origin}/tests/wasm/support/blank.html`);
  }
});
after(async () => {
  await chromium.close();
  await server.close();
});

const place = () => `table ${(nth += 1)}`;

/** Ids that a page reads. */
const idsIn = (/** @type {import('playwright-core').Page | undefined} */ page, /** @type {string} */ name) =>
  page?.evaluate(async (name) => {
    const { open, ids } = await /** @type {any} */ (window).ready();
    return ids(await open(name));
  }, name);

/** Appends a row in each call, one after the other, with a handle of its own; gives what failed. */
const appendIn = (/** @type {import('playwright-core').Page | undefined} */ page, /** @type {string} */ name, /** @type {number} */ from, /** @type {number} */ to) =>
  page?.evaluate(
    async ([name, from, to]) => {
      const { open, rows } = await /** @type {any} */ (window).ready();
      const table = await open(name);
      const failed = /** @type {string[]} */ ([]);
      for (let id = from; id < to; id += 1) await table.append(rows(id)).catch((/** @type {any} */ error) => failed.push(`${id} ${error.code} ${error.message}`));
      return failed;
    },
    /** @type {const} */ ([name, from, to]),
  );

test('a table made and appended to in one tab is read and appended to in another, and after a reload', async () => {
  const [one, two] = pages;
  const name = place();
  const made = await one?.evaluate(async (name) => {
    const { create, rows, ids, paths } = await /** @type {any} */ (window).ready();
    const table = await create(name);
    const { table: after, ...told } = await table.append(rows(1, 2, 3));
    return { told, ids: await ids(after), paths: await paths(name) };
  }, name);
  assert.equal(made?.told.inserted, 3);
  assert.deepEqual(made?.ids, [1, 2, 3]);
  assert.ok(made?.paths.some((/** @type {string} */ path) => path.startsWith('.hoodie/metadata/')), 'with a metadata table');
  assert.deepEqual(made?.paths.filter((/** @type {string} */ path) => path.includes('.hudi-wasm-') || path.endsWith('.crswap')), [], 'no files on their way');
  assert.deepEqual(await appendIn(two, name, 4, 6), []);
  await one?.reload();
  assert.deepEqual(await idsIn(one, name), [1, 2, 3, 4, 5]);
  assert.deepEqual(await appendIn(one, name, 6, 7), []);
  assert.deepEqual(await idsIn(two, name), [1, 2, 3, 4, 5, 6]);
});

test('of two tabs that make one table, one does', async () => {
  for (let i = 0; i < 5; i += 1) {
    const name = place();
    const made = await Promise.all(
      pages.map((page) =>
        page.evaluate(async (name) => {
          const { create } = await /** @type {any} */ (window).ready();
          return create(name).then(() => 'made', (/** @type {any} */ error) => error.code);
        }, name),
      ),
    );
    assert.deepEqual(made.sort(), ['TABLE_EXISTS', 'made']);
    assert.deepEqual(await appendIn(pages[0], name, 1, 2), []);
    assert.deepEqual(await idsIn(pages[1], name), [1]);
  }
});

test('appends of two tabs and of a worker race, and none is lost', async () => {
  const name = place();
  await pages[0]?.evaluate(async (name) => void (await (await /** @type {any} */ (window).ready()).create(name)), name);
  const inWorker = pages[1]?.evaluate(async (name) => {
    const { storage, rows } = await /** @type {any} */ (window).ready();
    const { createHudiWorker } = await import(/** @type {string} */ ('/tests/out/packed/node_modules/hudi-wasm/js/worker/index.js'));
    const worker = createHudiWorker();
    const table = await worker.HudiTable.open('directory:///t', { storage: await storage(name) });
    for (let id = 300; id < 308; id += 1) await table.append(rows(id));
    worker.terminate();
    return [];
  }, name);
  const failed = await Promise.all([appendIn(pages[0], name, 100, 108), appendIn(pages[1], name, 200, 208), appendIn(pages[0], name, 400, 404), inWorker]);
  assert.deepEqual(failed.flat(), []);
  const expected = [...Array(8).keys()].flatMap((i) => [100 + i, 200 + i, 300 + i, ...(i < 4 ? [400 + i] : [])]).sort((a, b) => a - b);
  for (const page of pages) assert.deepEqual(await idsIn(page, name), expected);
});

test('a tab that is reloaded while it writes holds nobody up, and what it left is rolled back', async () => {
  const [one, two] = pages;
  const name = place();
  await one?.evaluate(async (name) => {
    const { create, rows, endless } = await /** @type {any} */ (window).ready();
    const table = await create(name);
    await table.append(rows(1));
    void table.append(endless());
  }, name);
  const pending = () =>
    two?.evaluate(async (name) => {
      const { paths } = await /** @type {any} */ (window).ready();
      const count = (/** @type {RegExp} */ of, /** @type {string[]} */ all) => all.filter((path) => of.test(path)).length;
      const all = await paths(name);
      return count(/^\.hoodie\/timeline\/\d+\.inflight$/, all) - count(/^\.hoodie\/timeline\/\d+_\d+\.commit$/, all);
    }, name);
  for (let i = 0; i < 100 && (await pending()) !== 1; i += 1) await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(await pending(), 1, 'the write has begun');
  const waits = appendIn(two, name, 2, 3);
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert.deepEqual(await idsIn(two, name), [1], 'the other tab waits for its turn');
  await one?.reload();
  assert.deepEqual(await waits, []);
  assert.deepEqual(await idsIn(one, name), [1, 2]);
  const told = await one?.evaluate(async (name) => {
    const { open } = await /** @type {any} */ (window).ready();
    const entries = await (await open(name)).getTimeline().getInstants();
    return entries.map((/** @type {any} */ { action, state }) => `${action} ${state}`).sort();
  }, name);
  assert.deepEqual(told, ['commit COMPLETED', 'commit COMPLETED', 'rollback COMPLETED']);
});

test('an engine that ended while it wrote gives its lock back', async () => {
  const [one, two] = pages;
  const name = place();
  await one?.evaluate(async (name) => {
    const { create, endless } = await /** @type {any} */ (window).ready();
    const table = await create(name);
    const { engine } = await import(/** @type {string} */ ('/tests/out/packed/node_modules/hudi-wasm/js/wasm.js'));
    const append = table.append(endless()).catch((/** @type {any} */ error) => error.code);
    await new Promise((resolve) => setTimeout(resolve, 200));
    const host = await engine();
    await host.run(undefined, (/** @type {any} */ glue, /** @type {any} */ cancel) => glue._probe('panic', cancel)).catch(() => {});
    if ((await append) !== 'INTERNAL') throw new Error('the append went on');
  }, name);
  const began = performance.now();
  assert.deepEqual(await appendIn(two, name, 1, 2), []);
  const waited = performance.now() - began;
  assert.ok(waited > 5_000 && waited < 40_000, `${waited} ms`);
  assert.deepEqual(await appendIn(one, name, 2, 3), []);
  assert.deepEqual(await idsIn(two, name), [1, 2]);
});

for (const moves of [true, false]) {
  const how = moves ? 'no file of it is ever seen empty' : 'and refuses to have files moved gets them in place, one by a copy';
  test(`a folder that is not of the origin is written, ${how}`, async () => {
    const name = place();
    const told = await pages[0]?.evaluate(
      async ([name, moves]) => {
        const { create, rows, ids, paths } = await /** @type {any} */ (window).ready();
        const [files, folders] = [FileSystemFileHandle.prototype, FileSystemDirectoryHandle.prototype].map((of) => /** @type {any} */ (of));
        const [own, move, make] = [navigator.storage.getDirectory, files.move, folders.getFileHandle];
        const begun = /** @type {string[]} */ ([]);
        folders.getFileHandle = function (/** @type {string} */ file, /** @type {any} */ options) {
          if (options?.create) begun.push(file);
          return make.call(this, file, options);
        };
        // The first that is refused has content, which is to be copied.
        files.move = function (/** @type {string} */ to) {
          return moves || !/^\d+_\d+\.commit$/.test(to) ? move.call(this, to) : Promise.reject(new DOMException('not here', 'NotAllowedError'));
        };
        try {
          const made = create(name);
          navigator.storage.getDirectory = () => Promise.reject(new Error('none'));
          const first = await (await made).append(rows(1, 2));
          const before = await ids(first.table);
          const { table } = await first.table.append(rows(3));
          return { before, ids: await ids(table), begun, left: await paths(name).catch(() => []) };
        } finally {
          [navigator.storage.getDirectory, files.move, folders.getFileHandle] = [own, move, make];
        }
      },
      /** @type {const} */ ([name, moves]),
    );
    assert.deepEqual([told?.before, told?.ids], [[1, 2], [1, 2, 3]]);
    const passing = (/** @type {string} */ file) => file.startsWith('.hudi-wasm-');
    const inPlace = told?.begun.filter((/** @type {string} */ file) => !passing(file)) ?? [];
    if (moves) assert.deepEqual(inPlace, []);
    else assert.ok(inPlace.some((/** @type {string} */ file) => /^\d+_\d+\.commit$/.test(file)));
    const all = await pages[0]?.evaluate(async (name) => (await /** @type {any} */ (window).ready()).paths(name), name);
    assert.deepEqual(all?.filter((/** @type {string} */ path) => path.includes('.hudi-wasm-')), []);
    assert.deepEqual(await idsIn(pages[1], name), [1, 2, 3]);
  });
}

test('a folder that is not of the origin has one writer', async () => {
  const [one] = pages;
  const name = place();
  const told = await one?.evaluate(async (name) => {
    const { storage, rows, ids, paths, hudi } = await /** @type {any} */ (window).ready();
    const picked = await storage(name);
    const own = navigator.storage.getDirectory;
    navigator.storage.getDirectory = () => Promise.reject(new Error('none'));
    try {
      const table = await hudi.HudiTable.create('directory:///t', { tableName: 't', schema: JSON.stringify({ type: 'record', name: 't', fields: [{ name: 'id', type: 'long' }, { name: 'city', type: 'string' }] }), storage: picked });
      const results = await Promise.all([1, 2, 3].map((id) => table.append(rows(id))));
      const last = results.map(({ instant }) => instant).sort().at(-1);
      const before = await ids(await table.refresh());
      const optimistic = await table.append(rows(4), { concurrency: { mode: 'optimistic', lock: 'storage' } }).catch((/** @type {any} */ error) => error.code);
      // What another program is writing is not taken for a failed write.
      const folder = await (await picked.handle.getDirectoryHandle('.hoodie')).getDirectoryHandle('timeline');
      const young = new Date(Date.now() + 1).toISOString().replace(/[-:TZ.]/g, '');
      for (const end of ['commit.requested', 'inflight']) await folder.getFileHandle(`${young}.${end}`, { create: true });
      const foreign = await table.append(rows(5)).catch((/** @type {any} */ error) => error.code);
      navigator.storage.getDirectory = own;
      return { before, last: typeof last, optimistic, foreign, left: (await paths(name)).filter((/** @type {string} */ path) => path.includes('.hudi-wasm-')) };
    } finally {
      navigator.storage.getDirectory = own;
    }
  }, name);
  assert.deepEqual(told, { before: [1, 2, 3], last: 'string', optimistic: 'UNSUPPORTED', foreign: 'WRITE_CONFLICT', left: [] });
});
