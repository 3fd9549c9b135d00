import { HudiError } from './errors.js';

/**
 * @typedef {import('./index.d.ts').CallOptions} CallOptions
 * @typedef {import('./guard.js').Engine} Engine
 * @typedef {import('./glue.d.ts').RawTable} RawTable
 * @typedef {import('./glue.d.ts').EventSink} EventSink
 */

/** A table of the engine, what its owner wants to hear, and whether it is still to be had. */
export class Handle {
  #engine;
  /** @type {RawTable | undefined} */
  #raw;
  #onRequest;

  /**
   * @param {Engine} engine
   * @param {RawTable} raw
   * @param {((request: import('./index.d.ts').RequestInfoEvent) => void) | undefined} onRequest
   */
  constructor(engine, raw, onRequest) {
    this.#engine = engine;
    this.#raw = raw;
    this.#onRequest = onRequest;
  }

  /** Another table of the same engine, heard by the same owner. */
  beside(/** @type {RawTable} */ raw) {
    return new Handle(this.#engine, raw, this.#onRequest);
  }

  /** The same table, heard by another. */
  heardBy(/** @type {((request: import('./index.d.ts').RequestInfoEvent) => void) | undefined} */ onRequest) {
    const raw = this.#open();
    return new Handle(this.#engine, raw, onRequest);
  }

  get engine() {
    return this.#engine;
  }

  /**
   * An answer that is there at once.
   *
   * @template T
   * @param {(raw: RawTable) => T} use
   * @returns {T}
   */
  call(use) {
    const raw = this.#open();
    return this.#engine.call(() => use(raw));
  }

  /**
   * An answer that takes time.
   *
   * @template T
   * @param {CallOptions} options
   * @param {(raw: RawTable, cancel: import('./glue.d.ts').Cancel, event: EventSink) => Promise<T>} start
   * @returns {Promise<T>}
   */
  async run({ signal, onProgress }, start) {
    const raw = this.#open();
    const event = sink(this.#onRequest, onProgress);
    return this.#engine.run(signal, (_, cancel) => start(raw, cancel, event));
  }

  /** Gives the memory back; calls under way go on. */
  close() {
    const raw = this.#raw;
    this.#raw = undefined;
    if (raw !== undefined && !this.#engine.dead) this.#engine.call(() => raw.free());
  }

  #open() {
    if (this.#raw !== undefined) return this.#raw;
    throw new HudiError('DISPOSED', 'the table was closed', { hint: 'Open it again.' });
  }
}

/**
 * Takes the engine's events, each one JSON text, to whoever listens. A listener that throws does not break the call.
 *
 * @param {((request: import('./index.d.ts').RequestInfoEvent) => void) | undefined} onRequest
 * @param {((event: import('./index.d.ts').HudiProgress) => void) | undefined} onProgress
 * @returns {EventSink}
 */
export function sink(onRequest, onProgress) {
  if (onRequest === undefined && onProgress === undefined) return undefined;
  return (json) => {
    const { type, ...rest } = JSON.parse(json);
    try {
      if (type === 'request') onRequest?.(rest);
      else onProgress?.({ type, ...rest });
    } catch (error) {
      console.error(`hudi-wasm: ${type === 'request' ? 'onRequest' : 'onProgress'} threw`, error);
    }
  };
}
