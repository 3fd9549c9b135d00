// What happens to wasm-bindgen's JavaScript before it is shipped.

/** The variables that wasm-bindgen keeps for one instance stand below this line, and its own loader after it. */
const state = 'let wasmModule, wasmInstance, wasm;\n';
const caches = ['cachedDataViewMemory0', 'cachedUint8ArrayMemory0'];

/**
 * Makes wasm-bindgen's module into a factory: each `createGlue()` has classes and state of its own, so that an instance
 * that died in a trap can be replaced by a fresh one. The loader of wasm-bindgen is left out; js/wasm.js has its own.
 *
 * Throws when the glue is not in the form that it knows, rather than ship something else.
 *
 * @param {string} source the glue of `--target web --omit-default-module-path`
 * @returns {string}
 */
export function finishGlue(source) {
  const [body, loader, ...more] = source.split(state);
  if (body === undefined || loader === undefined || more.length > 0) throw unknown('one line with the state of an instance');
  if (!/^export \{ initSync, __wbg_init as default \};$/m.test(loader)) throw unknown('the loader below that line');
  if (/^import /m.test(source)) throw unknown('a module without imports: a crate brought a JavaScript snippet');
  for (const cache of caches) if (!body.includes(`let ${cache} = null;`)) throw unknown(cache);
  if (!body.includes('function __wbg_get_imports()')) throw unknown('__wbg_get_imports');
  const names = [...body.matchAll(/^export (?:class|function) (\w+)/gm)].map(([, name]) => name);
  const inner = body.replace(/^export (class|function) /gm, '$1 ');
  if (names.length === 0 || /^export /m.test(inner)) throw unknown('classes and functions as its exports');
  const forget = `${caches.join(' = ')} = null;`;
  return `// @ts-nocheck
/* eslint-disable */
// Made by scripts/build.mjs of wasm-bindgen's output.
export function createGlue() {
${inner.trim()}

let wasm;
return {
  ${names.join(', ')},
  _imports: __wbg_get_imports,
  _start(exports) {
    wasm = exports;
    ${forget}
    wasm.__wbindgen_start();
  },
  _release() {
    ${forget}
  },
};
}
`;
}

function unknown(/** @type {string | undefined} */ what) {
  return new Error(`wasm-bindgen's glue has another form than scripts/lib/glue.mjs knows: looked for ${what}`);
}
