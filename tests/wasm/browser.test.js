// The packed package in Chromium: plain ES modules, and a Vite build; the tables lie on another origin.
import assert from 'node:assert/strict';
import { mkdtemp, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { tableFromIPC } from 'apache-arrow';
import { build } from 'vite';
import { root } from '../../scripts/lib/run.mjs';
import { serve } from '../../scripts/lib/serve.mjs';
import { packed } from '../../scripts/pack.mjs';
import { rows, sorted } from './support/canonical.js';
import { withPage } from './support/chromium.js';
import { recorded, unpack } from './support/fixtures.js';
import { folder } from './support/packed.js';

const name = 'v9_cow_all_types';
/** @type {Awaited<ReturnType<typeof serve>>} */
let tables;

before(async () => {
  tables = await serve(path.dirname(await unpack(name)));
});
after(() => tables.close());

/** Reads the table in a page that has `window.hudi`, and holds it against Spark's rows. */
async function check(/** @type {import('playwright-core').Page} */ page) {
  const [first] = await recorded(name);
  const bytes = await page.evaluate(async (url) => {
    const { HudiTable } = /** @type {any} */ (window).hudi;
    const table = await HudiTable.open(url, { storage: { type: 'http', listing: { manifest: `${url}/hudi-manifest.json` } } });
    const { ipc, metrics } = await table.read();
    return { ipc: Array.from(ipc), metrics };
  }, `${tables.origin}/${name}`);
  assert.deepEqual(rows(tableFromIPC(Uint8Array.from(bytes.ipc))), sorted(first?.rows ?? []));
  assert.equal(bytes.metrics.listing.source, 'manifest');
}

test('the packed wasm compiles in Chromium while it streams in', async () => {
  const names = await withPage(folder, async (page, origin) => {
    await page.goto(`${origin}/package.json`);
    return page.evaluate(async () => {
      const module = await WebAssembly.compileStreaming(fetch('/dist/core_bg.wasm'));
      return WebAssembly.Module.exports(module).map(({ name }) => name);
    });
  });
  assert.ok(names.includes('memory'));
});

test('plain ES modules read a table, under a policy that forbids eval', async () => {
  await withPage(root, async (page, origin) => {
    await page.goto(`${origin}/tests/wasm/support/strict.html`);
    await page.evaluate(async () => {
      /** @type {any} */ (window).hudi = await import(/** @type {string} */ ('hudi-wasm'));
    });
    await check(page);
  });
});

test('a Vite build carries the wasm along and reads a table', async () => {
  const project = await mkdtemp(path.join(packed, 'vite-'));
  await writeFile(path.join(project, 'index.html'), '<!doctype html><title>app</title><script type="module" src="/main.js"></script>');
  await writeFile(path.join(project, 'main.js'), "import { HudiTable } from 'hudi-wasm'; window.hudi = { HudiTable };");
  await build({ root: project, logLevel: 'silent', configFile: false });
  const built = path.join(project, 'dist');
  const assets = await readdir(path.join(built, 'assets'));
  assert.equal(assets.filter((asset) => asset.endsWith('.wasm')).length, 1);
  await withPage(built, async (page, origin) => {
    await page.goto(`${origin}/index.html`);
    await page.waitForFunction('window.hudi');
    await check(page);
  });
});
