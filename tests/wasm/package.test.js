import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { test } from 'node:test';
import { file, folder } from './support/packed.js';

test('the package carries its licence and one wasm', async () => {
  assert.match((await file('LICENSE')).toString(), /Apache License\s+Version 2\.0/);
  const names = await readdir(folder, { recursive: true });
  assert.deepEqual(names.filter((name) => name.endsWith('.wasm')), ['dist/core_bg.wasm']);
});
test('the package has no dependency at run time', async () => {
  const manifest = JSON.parse((await file('package.json')).toString());
  assert.equal(manifest.dependencies, undefined);
});
