import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { Miniflare } from 'miniflare';
import { root } from '../../scripts/lib/run.mjs';
import { withPage } from './support/chromium.js';
import { unpack } from './support/fixtures.js';
import { folder } from './support/packed.js';
import { expected, faults, provoke } from './support/trap.js';
import { workerModules } from './support/worker.js';

/** A module of the installed package that its exports do not show. */
const internal = (/** @type {string} */ name) => pathToFileURL(path.join(folder, 'js', name)).href;

test('in Node a fault ends its calls and its instance, and nothing else', async () => {
  await import(internal('entry/node.js'));
  assert.deepEqual(await provoke(await import(internal('wasm.js')), faults), expected);
});

test('a table of an ended instance is DISPOSED, what waited is INTERNAL, and a new open reads', async () => {
  const { createObjectStore, HudiTable } = await import(internal('entry/node.js'));
  const { engine } = await import(internal('wasm.js'));
  const folder = await unpack('v9_cow_simple');
  const files = createObjectStore(folder, { type: 'file' });
  const waits = new Promise(() => {});
  const silent = { ...files, get: (/** @type {string} */ path, /** @type {any} */ options) => (path.endsWith('.parquet') ? waits : files.get(path, options)) };
  const table = await HudiTable.open(folder);
  const stream = table.readStream({ batchSize: 1 });
  assert.equal((await stream.next()).value.numRows, 1);
  const code = (/** @type {string} */ wanted) => (/** @type {any} */ error) => error.code === wanted && /(open|report)/i.test(error.hint);
  const waiting = (await HudiTable.open('x://y', { storage: silent })).read();
  const told = assert.rejects(waiting, code('INTERNAL'));
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.match((await provoke({ engine }, ['panic later']))[0] ?? '', /next INVALID_ARGUMENT$/);
  await told;
  await assert.rejects(table.read(), code('DISPOSED'));
  await assert.rejects(stream.next(), code('DISPOSED'));
  assert.throws(() => table.getTimeline(), code('DISPOSED'));
  table.close();
  assert.ok((await (await HudiTable.open(folder)).read()).numRows > 0);
});

test('without the guard a panic in a task escapes and its call never settles', async () => {
  // The reason for the guard; when this fails, wasm-bindgen has learnt it.
  const script = `
    import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
    import { createGlue } from './dist/core.js';
    const glue = createGlue();
    const { instance } = await WebAssembly.instantiate(await readFile('dist/core_bg.wasm'), glue._imports());
    glue._start(instance.exports);
    process.on('uncaughtException', (error) => console.log('escaped', error.name));
    glue._probe('panic later', new glue.Cancel()).finally(() => console.log('settled'));
    setTimeout(() => console.log('over'), 50);`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], { cwd: folder });
  assert.deepEqual(stdout.trim().split('\n'), ['escaped RuntimeError', 'over']);
});

test('in Chromium a fault leaves the page alive and its error event unheard', async () => {
  const from = (/** @type {string} */ file) => `/${path.relative(root, file).split(path.sep).join('/')}`;
  const [said, events] = await withPage(root, async (page, origin) => {
    /** @type {string[]} */
    const events = [];
    page.on('pageerror', (error) => events.push(String(error)));
    await page.goto(`${origin}/tests/wasm/support/blank.html`);
    const said = await page.evaluate(
      async ([js, scenario]) => {
        await import(`${js}/entry/default.js`);
        const { provoke, faults } = await import(/** @type {string} */ (scenario));
        return provoke(await import(`${js}/wasm.js`), faults);
      },
      [from(path.join(folder, 'js')), '/tests/wasm/support/trap.js'],
    );
    return [said, events];
  });
  assert.deepEqual(said, expected);
  assert.deepEqual(events, []);
});

test('in a Worker a fault ends its calls and its instance, and nothing else', async () => {
  const main = `
    import './hudi-wasm/js/entry/workerd.js';
    import * as internals from './hudi-wasm/js/wasm.js';
    import { provoke, faults } from './trap.js';
    export default { fetch: async () => Response.json(await provoke(internals, faults)) };`;
  const scenario = await readFile(new URL('./support/trap.js', import.meta.url), 'utf8');
  const worker = new Miniflare({
    compatibilityDate: '2026-04-01',
    modules: await workerModules(main, { 'trap.js': scenario }),
  });
  try {
    assert.deepEqual(await (await worker.dispatchFetch('http://worker/')).json(), expected);
  } finally {
    await worker.dispose();
  }
});
