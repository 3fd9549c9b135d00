// Every snapshot, time-travel, read-optimized and filter query that Spark was asked, asked of the packed package: in Node
// of local files, in Chromium over HTTP by a manifest.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { root } from '../../scripts/lib/run.mjs';
import { faultsOf } from './support/ask.js';
import { withPage } from './support/chromium.js';
import { recorded, tableFolder, tableNames, unpack } from './support/fixtures.js';
import { importBeside } from './support/packed.js';

test('in Node every table gives the rows of Spark from local files', async () => {
  const hudi = await importBeside("export * from 'hudi-wasm';");
  let asked = 0;
  for (const name of await tableNames()) {
    const queries = await recorded(name);
    assert.deepEqual(await faultsOf(hudi, await unpack(name), {}, queries), []);
    asked += queries.length;
  }
  assert.ok(asked > 200, `only ${asked} queries were asked`);
});

test('in Chromium every table gives the rows of Spark over HTTP by a manifest', async () => {
  const names = await tableNames();
  for (const name of names) await unpack(name);
  await withPage(root, async (page, origin) => {
    await page.goto(`${origin}/tests/wasm/support/blank.html`);
    for (const name of names) {
      const url = `${origin}/${path.relative(root, tableFolder(name)).split(path.sep).join('/')}`;
      const faults = await page.evaluate(
        async ({ url, queries, ask }) => {
          const hudi = await import(/** @type {string} */ ('hudi-wasm'));
          const { faultsOf } = await import(ask);
          const options = { storage: { type: 'http', listing: { manifest: `${url}/hudi-manifest.json` } } };
          return faultsOf(hudi, url, options, queries);
        },
        { url, queries: await recorded(name), ask: '/tests/wasm/support/ask.js' },
      );
      assert.deepEqual(faults, []);
    }
  });
});
