import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withPage } from './support/chromium.js';
import { folder } from './support/packed.js';

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
