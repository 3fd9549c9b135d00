// The packed package in a Cloudflare Worker.
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { tableFromIPC } from 'apache-arrow';
import { build } from 'esbuild';
import { Miniflare } from 'miniflare';
import { serve } from '../../scripts/lib/serve.mjs';
import { packed } from '../../scripts/pack.mjs';
import { rows, sorted } from './support/canonical.js';
import { recorded, unpack } from './support/fixtures.js';
import { file } from './support/packed.js';
import { workerModules } from './support/worker.js';

const name = 'v9_cow_all_types';
const compatibilityDate = '2026-04-01';
/** @type {Awaited<ReturnType<typeof serve>>} */
let tables;

before(async () => {
  tables = await serve(path.dirname(await unpack(name)));
});
after(() => tables.close());

const handler = `
  export default {
    async fetch(request) {
      const url = new URL(request.url).searchParams.get('table');
      const table = await HudiTable.open(url, { storage: { type: 'http', listing: { manifest: url + '/hudi-manifest.json' } } });
      return new Response(table.readStream().toReadableStream());
    },
  };`;

/** Asks a Worker for the table's rows as one Arrow stream, and holds them against Spark's. */
async function check(/** @type {any[]} */ modules) {
  const worker = new Miniflare({ compatibilityDate, modules });
  try {
    const answer = await worker.dispatchFetch(`http://worker/?table=${encodeURIComponent(`${tables.origin}/${name}`)}`);
    const [first] = await recorded(name);
    assert.deepEqual(rows(tableFromIPC(new Uint8Array(await answer.arrayBuffer()))), sorted(first?.rows ?? []));
  } finally {
    await worker.dispose();
  }
}

test('the packed modules read a table as they are', async () => {
  await check(await workerModules(`import { HudiTable } from './hudi-wasm/js/entry/workerd.js'; ${handler}`));
});

test('a bundle by the conditions of Workers reads a table', async () => {
  const { outputFiles } = await build({
    stdin: { contents: `import { HudiTable } from 'hudi-wasm'; ${handler}`, resolveDir: packed },
    bundle: true,
    write: false,
    format: 'esm',
    conditions: ['workerd', 'worker', 'browser'],
    plugins: [{ name: 'wasm', setup: (building) => building.onResolve({ filter: /\.wasm$/ }, () => ({ path: './core_bg.wasm', external: true })) }],
  });
  await check([
    { type: 'ESModule', path: 'main.js', contents: outputFiles[0]?.text },
    { type: 'CompiledWasm', path: 'core_bg.wasm', contents: await file('dist/core_bg.wasm') },
  ]);
});
