// Browsers and bundlers: this very form of URL is what they look for.
import { setSource } from '../wasm.js';

setSource(() => new URL('../../dist/core_bg.wasm', import.meta.url));

export * from '../index.js';
