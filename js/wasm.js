// Loads the one wasm module: when it is first needed, again after a failure, and a new instance after a trap.
// @ts-ignore: the build makes it; glue.d.ts has its shape.
import { createGlue } from '../dist/core.js';
import { HudiError } from './errors.js';
import { Engine } from './guard.js';
import { version } from './version.js';

/** @typedef {import('./index.d.ts').WasmSource} WasmSource */
/** @typedef {WasmSource | (() => WasmSource | Promise<WasmSource>)} Source */

const glueOf = /** @type {() => import('./glue.d.ts').Glue} */ (/** @type {unknown} */ (createGlue));

/** Where the wasm comes from unless init() says otherwise; the entries set it. @type {Source | undefined} */
let usual;
/** Kept once compiled: an instance that replaces a dead one needs no download. @type {WebAssembly.Module | undefined} */
let compiled;
/** @type {Engine | undefined} */
let live;
/** The load under way, which calls meanwhile share. @type {Promise<Engine> | undefined} */
let loading;

/**
 * Says where this build of the package finds its wasm.
 *
 * @param {Source} source
 */
export function setSource(source) {
  usual = source;
}

/**
 * The engine, loaded if need be.
 *
 * @param {Source} [source]
 * @returns {Promise<Engine>}
 */
export function engine(source = usual) {
  if (live !== undefined && !live.dead) return Promise.resolve(live);
  loading ??= load(source).finally(() => {
    loading = undefined;
  });
  return loading;
}

/** @type {typeof import('./index.d.ts').init} */
export async function init({ module } = {}) {
  await engine(module);
}

/** @type {typeof import('./index.d.ts').initSync} */
export function initSync({ module }) {
  if (live !== undefined && !live.dead) return;
  try {
    const wanted = compiled ?? (module instanceof WebAssembly.Module ? module : new WebAssembly.Module(module));
    const next = new Engine(glueOf);
    next.start(new WebAssembly.Instance(wanted, next.imports()));
    live = checked(next);
    compiled = wanted;
  } catch (cause) {
    throw failed(cause);
  }
}

/**
 * @param {Source | undefined} source
 * @returns {Promise<Engine>}
 */
async function load(source) {
  try {
    const module = compiled ?? (await compile(typeof source === 'function' ? await source() : await source));
    const next = new Engine(glueOf);
    next.start(await WebAssembly.instantiate(module, next.imports()));
    live = checked(next);
    // Only now: bytes that compile and do not fit are not to be kept for the next try.
    compiled = module;
    return live;
  } catch (cause) {
    throw failed(cause);
  }
}

/**
 * @param {Awaited<WasmSource> | undefined} source
 * @returns {Promise<WebAssembly.Module>}
 */
async function compile(source) {
  if (source === undefined) {
    throw new Error('no wasm was named: call init({ module }) first, with what hudi-wasm/core.wasm resolves to');
  }
  if (source instanceof WebAssembly.Module) return source;
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) {
    return WebAssembly.compile(/** @type {BufferSource} */ (source));
  }
  const response = typeof Response === 'function' && source instanceof Response ? source : await fetch(/** @type {string} */ (source));
  if (!response.ok) throw new Error(`the server answered ${response.status} for ${response.url}`);
  // Streaming insists on the content type; a server that does not know .wasm is still good for the bytes.
  const streams = typeof WebAssembly.compileStreaming === 'function' && response.headers.get('content-type') === 'application/wasm';
  return streams ? WebAssembly.compileStreaming(response) : WebAssembly.compile(await response.arrayBuffer());
}

/** Refuses a wasm of another release: its calls would not be those of this code. */
function checked(/** @type {Engine} */ next) {
  const found = next.call((glue) => glue._version());
  if (found !== version) throw new Error(`the wasm is of version ${found}, the package of version ${version}`);
  return next;
}

function failed(/** @type {unknown} */ cause) {
  if (HudiError.is(cause, 'OUT_OF_MEMORY')) return cause;
  const text = cause instanceof Error ? cause.message : String(cause);
  return new HudiError('WASM_INIT', `the wasm module could not be loaded: ${text}`, {
    cause,
    hint: 'Bundlers that do not emit assets need init({ module: url }) with the URL of hudi-wasm/core.wasm.',
  });
}
