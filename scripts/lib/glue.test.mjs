import assert from 'node:assert/strict';
import { test } from 'node:test';
import { finishGlue } from './glue.mjs';

/** The parts of wasm-bindgen's output that matter, around a module whose only export counts. */
const glue = (/** @type {{ head?: string, state?: string, tail?: string }} */ { head = '', state = 'let wasmModule, wasmInstance, wasm;\n', tail } = {}) => `${head}
export class Counter {
    next() {
        return wasm.next();
    }
}
export function peek() {
    return cachedUint8ArrayMemory0;
}
function __wbg_get_imports() {
    return { seen: () => wasm };
}
let cachedDataViewMemory0 = null;
let cachedUint8ArrayMemory0 = null;
${state}function __wbg_init() {}
${tail ?? 'export { initSync, __wbg_init as default };\n'}`;

/** @returns {Promise<() => any>} */
async function factory(/** @type {string} */ source) {
  return (await import(`data:text/javascript,${encodeURIComponent(finishGlue(source))}`)).createGlue;
}

test('two instances share no state', async () => {
  const createGlue = await factory(glue());
  const [first, second] = [createGlue(), createGlue()];
  first._start({ next: () => 1, __wbindgen_start() {} });
  second._start({ next: () => 2, __wbindgen_start() {} });
  assert.equal(new first.Counter().next(), 1);
  assert.equal(new second.Counter().next(), 2);
  assert.ok(!(new first.Counter() instanceof second.Counter));
});

test('the start function of the wasm runs once the exports are known', async () => {
  const one = (await factory(glue()))();
  /** @type {unknown} */
  let seen;
  const exports = { __wbindgen_start: () => (seen = one._imports().seen()) };
  one._start(exports);
  assert.equal(seen, exports);
});

test('glue of another form fails the build', () => {
  const cases = [
    glue({ state: '' }),
    glue({ head: "import * as snippet from './snippets/x.js';" }),
    glue({ tail: 'export default __wbg_init;' }),
    glue({ head: 'export const x = 1;' }),
    '',
  ];
  for (const source of cases) assert.throws(() => finishGlue(source), /another form/);
});
