// Cloudflare Workers: code may not be compiled at run time, so an import gives the module compiled.
// @ts-ignore: the build makes it.
import module from '../../dist/core_bg.wasm';
import { setSource } from '../wasm.js';

setSource(module);

export * from '../index.js';
