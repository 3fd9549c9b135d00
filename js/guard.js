// The trap guard. A panic or a failed allocation in wasm leaves the instance in pieces, and nothing in the language
// says so: later calls go on over broken state, a promise that a Rust task held never settles, and when the trap
// happens in a task it escapes through queueMicrotask and ends a Node process. So every way into wasm goes through
// `#enter`, which ends the instance at the first throw.
import { HudiError, aborted, fromEngine } from './errors.js';
import { Locks, hasLocks } from './locks.js';

/** @typedef {import('./glue.d.ts').Glue} Glue */

/**
 * What a dead export returns: neither the glue's number nor its `ret[0]`, `ret[1]` find anything in it.
 *
 * @type {readonly never[]}
 */
const nothing = Object.freeze([]);

/** One wasm instance, alive until its first trap. */
export class Engine {
  /** @type {Glue} */
  #glue;
  /** Text of the panic that is about to trap. @type {string | undefined} */
  #panic;
  /** @type {{ code: 'INTERNAL' | 'OUT_OF_MEMORY', message: string, cause: unknown } | undefined} */
  #death;
  #depth = 0;
  #locks = new Locks();
  /** Calls that wait for wasm; each is told when the instance dies. @type {Set<(error: HudiError) => void>} */
  #pending = new Set();
  /** @type {Record<string, unknown>} */
  #exports = Object.create(null);
  /** @type {() => boolean} */
  #outOfMemory = () => false;

  /**
   * @param {() => Glue} createGlue
   */
  constructor(createGlue) {
    this.#glue = createGlue();
  }

  /** What the module imports. */
  imports() {
    return this.#glue._imports();
  }

  /**
   * Begins to use an instance of the module.
   *
   * @param {WebAssembly.Instance} instance
   */
  start(instance) {
    for (const [name, value] of Object.entries(instance.exports)) {
      this.#exports[name] = typeof value === 'function' ? this.#guarded(value) : value;
    }
    this.#outOfMemory = () => Boolean(/** @type {any} */ (instance.exports)._outOfMemory());
    this.#glue._start(/** @type {WebAssembly.Exports} */ (this.#exports));
    this.#glue._boot((text) => {
      this.#panic ??= text;
    });
    if (hasLocks()) this.#glue._locks(this.#locks.acquire);
    if (this.#death !== undefined) throw this.#fault();
  }

  /** Whether a trap ended this instance. */
  get dead() {
    return this.#death !== undefined;
  }

  /** Bytes of wasm memory. */
  get memoryBytes() {
    const memory = this.#exports.memory;
    return memory instanceof WebAssembly.Memory ? memory.buffer.byteLength : 0;
  }

  /**
   * Calls the engine and has its answer at once.
   *
   * @template T
   * @param {(glue: Glue) => T} use
   * @returns {T}
   */
  call(use) {
    if (this.#death !== undefined) throw this.#disposed();
    let value;
    try {
      value = use(this.#glue);
    } catch (thrown) {
      throw this.dead ? this.#fault() : fromEngine(thrown);
    }
    if (this.dead) throw this.#fault();
    return value;
  }

  /**
   * Calls the engine and waits for its answer, for the signal, or for the end of the instance.
   *
   * @template T
   * @param {AbortSignal | undefined} signal
   * @param {(glue: Glue, cancel: import('./glue.d.ts').Cancel) => Promise<T>} start
   * @returns {Promise<T>}
   */
  run(signal, start) {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) throw aborted(signal.reason);
      const cancel = this.call((glue) => new glue.Cancel());
      /** The first to end the call says how; whoever comes later is not heard. */
      const end = () => {
        if (!this.#pending.delete(fail)) return false;
        signal?.removeEventListener('abort', onAbort);
        return true;
      };
      const fail = (/** @type {HudiError} */ error) => {
        if (end()) reject(error);
      };
      const onAbort = () => {
        if (!this.dead && this.call(() => cancel.cancel()) === false) return;
        fail(aborted(signal?.reason));
      };
      this.#pending.add(fail);
      signal?.addEventListener('abort', onAbort);
      const release = () => {
        if (!this.dead) this.call(() => cancel.free());
      };
      /** @type {Promise<T>} */
      let answer;
      try {
        answer = this.call((glue) => start(glue, cancel));
      } catch (error) {
        fail(fromEngine(error));
        return;
      }
      answer.then(
        (value) => {
          release();
          if (end()) resolve(value);
          else this.#discard(value);
        },
        (thrown) => {
          release();
          fail(fromEngine(thrown));
        },
      );
    });
  }

  /** Frees a handle that came after its caller had gone. */
  #discard(/** @type {unknown} */ value) {
    const handle = /** @type {{ free?: () => void } | undefined} */ (Array.isArray(value) ? value[1] : value);
    if (!this.dead && typeof handle?.free === 'function') handle.free();
  }

  #guarded(/** @type {Function} */ run) {
    return (/** @type {unknown[]} */ ...args) => this.#enter(run, args);
  }

  /**
   * The one way into wasm, for verbs, for callbacks of promises and timers, and for finalizers.
   *
   * Whatever is thrown through wasm frames has unwound them without their destructors, so it ends the instance. Inside
   * another wasm call it goes on up, to unwind that one too; at the bottom it ends here: verbs look at `dead`, and a
   * callback has nobody to throw to but the process.
   *
   * @param {Function} run
   * @param {unknown[]} args
   */
  #enter(run, args) {
    if (this.#death !== undefined) return nothing;
    this.#depth += 1;
    try {
      return run(...args);
    } catch (thrown) {
      this.#die(thrown);
      if (this.#depth > 1) throw thrown;
      return nothing;
    } finally {
      this.#depth -= 1;
    }
  }

  #die(/** @type {unknown} */ thrown) {
    if (this.#death !== undefined) return;
    const text = thrown instanceof Error ? thrown.message : String(thrown);
    const noMemory = this.#panic === undefined && (this.#outOfMemory() || /allocation failed|out of memory/i.test(text));
    const message = noMemory ? 'the engine ran out of memory' : `the engine failed: ${this.#panic ?? text}`;
    this.#death = { code: noMemory ? 'OUT_OF_MEMORY' : 'INTERNAL', message, cause: thrown };
    this.#locks.end();
    for (const fail of [...this.#pending]) fail(this.#fault());
    // Later, since wasm frames further up may still be on their way out.
    queueMicrotask(() => this.#release());
  }

  /** Lets go of the memory, although callbacks that the host still holds reach this instance's glue. */
  #release() {
    for (const [name, value] of Object.entries(this.#exports)) {
      if (typeof value === 'function') this.#exports[name] = () => nothing;
    }
    this.#exports.memory = { buffer: new ArrayBuffer(0) };
    this.#exports.__wbindgen_externrefs = { get() {}, set() {} };
    this.#outOfMemory = () => false;
    this.#glue._release();
  }

  #fault() {
    const { code, message, cause } = this.#death ?? { code: 'INTERNAL', message: 'the engine failed', cause: undefined };
    const hint =
      code === 'OUT_OF_MEMORY'
        ? 'Open the table again, and read smaller batches or fewer columns.'
        : 'This is a fault of the library: please report it. Opening the table again works.';
    return new HudiError(code, message, { cause, hint });
  }

  #disposed() {
    return new HudiError('DISPOSED', 'the engine that this handle belongs to has ended', {
      hint: 'Open the table again.',
      cause: this.#fault(),
    });
  }
}
