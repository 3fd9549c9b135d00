// Node, Deno and Bun: wasm and tables from the disk.
import { readFileSync } from 'node:fs';
import { fileStore, fileUrl } from '../file_store.js';
import { setFileStore } from '../stores.js';
import { setSource } from '../wasm.js';

// At once takes four milliseconds; in pieces, by turns of Node's threads, twice to five times as many.
setSource(() => readFileSync(new URL('../../dist/core_bg.wasm', import.meta.url)));
setFileStore({ open: fileStore, url: fileUrl });

export * from '../index.js';
