import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { importBeside } from './support/packed.js';

test('the packed wasm resolves by name and compiles in Node', async () => {
  const { url } = await importBeside("export const url = import.meta.resolve('hudi-wasm/core.wasm');");
  const module = await WebAssembly.compile(await readFile(new URL(url)));
  assert.ok(WebAssembly.Module.exports(module).some(({ name }) => name === 'memory'));
});
