// Node, Deno and Bun: wasm and tables from the disk.
import { readFile } from 'node:fs/promises';
import { fileStore, fileUrl } from '../file_store.js';
import { setFileStore } from '../stores.js';
import { setSource } from '../wasm.js';

setSource(() => readFile(new URL('../../dist/core_bg.wasm', import.meta.url)));
setFileStore({ open: fileStore, url: fileUrl });

export * from '../index.js';
