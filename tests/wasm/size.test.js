import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { file } from './support/packed.js';

/** What a page may have to download for the engine, reader and writer, in bytes of brotli. */
const limit = 1_400_000;

test('the release wasm is within its budget', async () => {
  const wasm = await file('dist/core_bg.wasm');
  const gzip = gzipSync(wasm, { level: 9 }).length;
  const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_LGWIN, BROTLI_PARAM_SIZE_HINT } = constants;
  const params = { [BROTLI_PARAM_QUALITY]: 11, [BROTLI_PARAM_LGWIN]: 22, [BROTLI_PARAM_SIZE_HINT]: wasm.length };
  const brotli = brotliCompressSync(wasm, { params }).length;
  const kb = (/** @type {number} */ bytes) => bytes.toLocaleString('en');
  console.log(`# raw ${kb(wasm.length)} bytes`);
  console.log(`# gzip -9 ${kb(gzip)} bytes`);
  console.log(`# brotli 11, window 22: ${kb(brotli)} bytes of ${kb(limit)} allowed`);
  assert.ok(brotli <= limit, `brotli 11, window 22: ${brotli} bytes, allowed are ${limit}`);
});
