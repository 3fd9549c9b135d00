// The engine of a Worker, in the shape of the one in guard.js: the classes above do not know which they hold.
import { HudiError, aborted } from '../errors.js';
import { sink } from '../handle.js';
import { buffersOf, packed, packedError, result, unpackedError } from './marshal.js';

/**
 * @typedef {import('../glue.d.ts').EventSink} EventSink
 * @typedef {import('../index.d.ts').CallOptions & Pick<import('../index.d.ts').OpenOptions, 'onRequest'>} Listeners
 * @typedef {{ resolve: (value: any) => void, reject: (error: unknown) => void }} Waiting
 */

/** One Worker, alive until it ends by itself or by terminate(). */
export class RemoteEngine {
  #worker;
  #next = 1;
  /** @type {Map<number, Waiting>} */
  #waiting = new Map();
  /** Who hears of a call: until its answer, and of one that gave a stream as long as that. @type {Map<number, NonNullable<EventSink>>} */
  #listeners = new Map();
  /** Functions among the options of this side, which the worker calls by number. @type {Map<number, Function>} */
  #functions = new Map();
  /** @type {HudiError | undefined} */
  #death;
  #heard = false;
  memoryBytes = 0;

  /** @param {Worker} worker @param {unknown} [module] */
  constructor(worker, module) {
    this.#worker = worker;
    worker.addEventListener('message', ({ data }) => this.#hear(data));
    worker.addEventListener('error', (event) => this.#crash(event));
    worker.addEventListener('messageerror', (event) => this.#crash(event));
    if (module !== undefined) this.#post({ do: 'init', module: module instanceof URL ? module.href : module });
  }

  get dead() {
    return this.#death !== undefined;
  }

  /** Ends the worker; what is under way fails, and so does every later call of its tables. */
  end(/** @type {string} */ why) {
    this.#die(new HudiError('DISPOSED', why, { hint: 'Open the table again.' }));
  }

  /** What is there at once. @template T @param {() => T} use @returns {T} */
  call(use) {
    if (this.#death !== undefined) throw this.#disposed();
    return use();
  }

  /**
   * What takes time, until the signal ends it.
   *
   * @template T
   * @param {AbortSignal | undefined} signal
   * @param {(glue: undefined, cancel: { id: number, waits?: boolean }) => Promise<T>} start `waits` is set for a call whose end only the worker knows
   * @returns {Promise<T>}
   */
  run(signal, start) {
    if (this.#death !== undefined) return Promise.reject(this.#disposed());
    if (signal?.aborted) return Promise.reject(aborted(signal.reason));
    /** @type {{ id: number, waits?: boolean }} */
    const cancel = { id: this.#next++ };
    return new Promise((resolve, reject) => {
      let over = false;
      const onAbort = () => {
        if (this.#death === undefined) this.#post({ do: 'cancel', id: cancel.id });
        // A write that is about to be visible goes on to its end, and what came of it is told.
        if (cancel.waits) return;
        over = true;
        reject(aborted(signal?.reason));
      };
      signal?.addEventListener('abort', onAbort);
      start(undefined, cancel)
        .then((value) => {
          resolve(value);
          // What came after its caller had gone.
          if (over) /** @type {any} */ (value)?.free?.();
        })
        .catch((error) => reject(signal?.aborted && HudiError.is(error, 'ABORTED') ? aborted(signal.reason) : error))
        .finally(() => signal?.removeEventListener('abort', onAbort));
    });
  }

  /**
   * Opens or makes a table.
   *
   * @param {'open' | 'create'} how
   * @param {string} uri
   * @param {object} options
   * @param {Listeners} listeners
   * @returns {Promise<any>}
   */
  async open(how, uri, options, { signal, onProgress, onRequest }) {
    const functions = { keep: (/** @type {Function} */ fn) => this.lend(fn), drop: (/** @type {number} */ number) => this.unlend(number) };
    const event = sink(onRequest, onProgress);
    return this.run(signal, (_, cancel) => {
      cancel.waits = how === 'create';
      return this.ask(cancel.id, { do: how, uri, options: packed(options, functions) }, event);
    });
  }

  /**
   * Posts a request and waits for its answer.
   *
   * @param {number} id
   * @param {object} message
   * @param {EventSink} [event]
   * @returns {Promise<any>}
   */
  ask(id, message, event) {
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      if (event !== undefined) this.#listeners.set(id, event);
      try {
        this.#post({ ...message, id, events: event !== undefined });
      } catch (cause) {
        // Something among the options that cannot be sent to a worker.
        this.#waiting.delete(id);
        this.#listeners.delete(id);
        reject(new HudiError('INVALID_ARGUMENT', 'an option cannot be sent to a worker', { cause }));
      }
    });
  }

  /** Lends the worker a function until the answer to its call. */
  lend(/** @type {Function} */ fn) {
    const number = this.#next++;
    this.#functions.set(number, fn);
    return number;
  }

  /** Takes it back. */
  unlend(/** @type {number} */ number) {
    this.#functions.delete(number);
  }

  /** A number for a request that no cancel comes with. */
  number() {
    return this.#next++;
  }

  /** Lets go of something that the worker holds, and of who heard the call that it came from. */
  free(/** @type {'table' | 'stream'} */ kind, /** @type {number} */ of, /** @type {number} */ id = 0) {
    this.#listeners.delete(id);
    if (this.#death === undefined) this.#post({ do: 'free', kind, of });
  }

  #post(/** @type {object} */ message, /** @type {Transferable[]} */ transfer = []) {
    this.#worker.postMessage(message, transfer);
  }

  /** @param {any} message */
  #hear(message) {
    this.#heard = true;
    if (message.memoryBytes !== undefined) this.memoryBytes = message.memoryBytes;
    if (message.fn !== undefined) return void this.#callBack(message);
    if (message.event !== undefined) return this.#listeners.get(message.id)?.(message.event);
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (message.stream === undefined) this.#listeners.delete(message.id);
    if (message.error !== undefined) return waiting?.reject(unpackedError(message.error));
    const value = this.#value(message);
    if (waiting !== undefined) waiting.resolve(value);
    else value?.free?.();
  }

  /** @param {any} message @returns {any} */
  #value({ id, table, stream, value, result }) {
    if (result !== undefined) return [result, remoteTable(this, table)];
    if (table !== undefined) return remoteTable(this, table);
    return stream === undefined ? value : remoteStream(this, stream, id);
  }

  /** @param {{ fn: number, args: unknown[], call: number }} asked */
  async #callBack({ fn, args, call }) {
    try {
      const ok = await result(this.#functions.get(fn)?.(...args));
      if (this.#death === undefined) this.#post({ do: 'reply', call, ok }, buffersOf(ok));
    } catch (error) {
      if (this.#death === undefined) this.#post({ do: 'reply', call, error: packedError(error) });
    }
  }

  #crash(/** @type {Event} */ event) {
    const text = 'message' in event && typeof event.message === 'string' && event.message !== '' ? event.message : 'it gave no reason';
    event.preventDefault();
    // One that never said a word did not load.
    if (this.#heard) this.#die(new HudiError('INTERNAL', `the worker failed: ${text}`, { hint: 'Opening the table again starts another worker.' }));
    else this.#die(new HudiError('WASM_INIT', `the worker could not be started: ${text}`, { hint: 'Bundlers that do not find it need createHudiWorker({ worker }), a Worker of hudi-wasm/worker/main.js.' }));
  }

  #die(/** @type {HudiError} */ error) {
    if (this.#death !== undefined) return;
    this.#death = error;
    this.#worker.terminate();
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
    this.#listeners.clear();
    this.#functions.clear();
  }

  #disposed() {
    return new HudiError('DISPOSED', 'the worker that this handle belongs to has ended', { hint: 'Open the table again.', cause: this.#death });
  }
}

/**
 * What a table is asked for by name: each call ends with its cancel and its events, as the engine's own does. The type holds it to all there are.
 *
 * @type {Record<Exclude<keyof import('../glue.d.ts').RawTable, 'facts' | 'timeline' | 'free'>, 'reads' | 'writes'>}
 */
const verbs = {
  refresh: 'reads',
  append: 'writes',
  rollback: 'writes',
  resolve: 'reads',
  schema: 'reads',
  avroSchema: 'reads',
  timelineEntries: 'reads',
  instantMetadata: 'reads',
  fileSlices: 'reads',
  explain: 'reads',
  columnStats: 'reads',
  tableStats: 'reads',
  lookup: 'reads',
  read: 'reads',
  diff: 'reads',
  readPaths: 'reads',
};

/**
 * A table in the worker, with what it told of itself when it was opened.
 *
 * @param {RemoteEngine} engine
 * @param {{ of: number, facts: string, timeline: string }} opened
 * @returns {any} a RawTable
 */
function remoteTable(engine, { of, facts, timeline }) {
  const ask = (/** @type {string} */ verb, writes = false) => (/** @type {any[]} */ ...args) => {
    const [cancel, event] = args.splice(-2);
    cancel.waits = writes;
    return engine.ask(cancel.id, { do: 'table', of, verb, args }, event);
  };
  return {
    ...Object.fromEntries(Object.entries(verbs).map(([verb, does]) => [verb, ask(verb, does === 'writes')])),
    // The rows stay here, and the worker pulls them.
    async append(/** @type {import('../glue.d.ts').RawSource} */ source, /** @type {any[]} */ ...args) {
      const lent = engine.lend(() => source.next());
      try {
        return await ask('append', true)(lent, ...args);
      } finally {
        engine.unlend(lent);
      }
    },
    facts: () => facts,
    timeline: () => timeline,
    free: () => engine.free('table', of),
  };
}

/**
 * Record batches in the worker; what they cost comes with each.
 *
 * @param {RemoteEngine} engine
 * @param {{ of: number, schema: Uint8Array<ArrayBuffer>, metrics: string }} opened
 * @param {number} id of the call that opened it
 * @returns {import('../glue.d.ts').RawStream}
 */
function remoteStream(engine, { of, schema, metrics }, id) {
  let known = metrics;
  return {
    schema: () => schema,
    metrics: () => known,
    async next() {
      const { batch, metrics } = await engine.ask(engine.number(), { do: 'next', of });
      known = metrics;
      return batch;
    },
    // Freeing it ends it.
    cancel() {},
    free: () => engine.free('stream', of, id),
  };
}
