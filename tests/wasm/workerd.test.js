import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Miniflare } from 'miniflare';
import { file } from './support/packed.js';

const script = `
import module from './core_bg.wasm';
export default { fetch: () => Response.json(WebAssembly.Module.exports(module).map(({ name }) => name)) };
`;

test('the packed wasm is a module to a Worker', async () => {
  const worker = new Miniflare({
    compatibilityDate: '2026-04-01',
    modules: [
      { type: 'ESModule', path: 'main.js', contents: script },
      { type: 'CompiledWasm', path: 'core_bg.wasm', contents: await file('dist/core_bg.wasm') },
    ],
  });
  try {
    const names = await (await worker.dispatchFetch('http://worker/')).json();
    assert.ok(/** @type {string[]} */ (names).includes('memory'));
  } finally {
    await worker.dispose();
  }
});
