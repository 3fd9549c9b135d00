// The worker's side of remote.js: one message a request, one an answer; batches go by transfer.
import { HudiError } from '../errors.js';
import { createHandle, openHandle } from '../open.js';
import { init } from '../wasm.js';
import { packedError, unpacked, unpackedError } from './marshal.js';

/**
 * @typedef {import('../handle.js').Handle} Handle
 * @typedef {import('../glue.d.ts').RawStream} RawStream
 * @typedef {{ postMessage(message: unknown, transfer?: Transferable[]): void, addEventListener(type: 'message', listener: (event: { data: any }) => void): void }} Port
 */

/** Answers whoever posts to this worker. @param {Port} port */
export function serveWorker(port) {
  const server = new Server(port);
  port.addEventListener('message', ({ data }) => server.hear(data));
}

class Server {
  #port;
  /** @type {Map<number, Handle>} */
  #tables = new Map();
  /** @type {Map<number, { handle: Handle, raw: RawStream, reading?: Promise<unknown> }>} */
  #streams = new Map();
  /** Calls under way, by the number of their request. @type {Map<number, AbortController>} */
  #calls = new Map();
  /** Functions of the other side that were called, by the number of the call. @type {Map<number, { resolve: (value: unknown) => void, reject: (error: Error) => void }>} */
  #callbacks = new Map();
  #next = 1;
  /** The wasm that the other side named, on its way. @type {Promise<void>} */
  #ready = Promise.resolve();

  /** @param {Port} port */
  constructor(port) {
    this.#port = port;
  }

  /** @param {any} message */
  hear(message) {
    switch (message.do) {
      case 'init':
        this.#ready = init({ module: message.module });
        // Whoever opens a table is told.
        this.#ready.catch(() => {});
        return;
      case 'cancel':
        return this.#calls.get(message.id)?.abort();
      case 'free':
        return this.#free(message);
      case 'reply':
        return this.#reply(message);
      default:
        return void this.#answer(message);
    }
  }

  /** @param {any} message */
  async #answer(message) {
    const { id } = message;
    const controller = new AbortController();
    this.#calls.set(id, controller);
    try {
      const { transfer = [], ...answer } = await this.#do(message, controller.signal);
      this.#port.postMessage({ id, ...answer }, transfer);
    } catch (error) {
      this.#port.postMessage({ id, error: packedError(error) });
    } finally {
      this.#calls.delete(id);
    }
  }

  /** @param {any} message @param {AbortSignal} signal @returns {Promise<Record<string, any>>} */
  async #do(message, signal) {
    const { id, events } = message;
    // Both kinds of events go over as one text; the other side tells them apart again.
    const event = (/** @type {any} */ told) => this.#port.postMessage({ id, event: JSON.stringify(told) });
    const heard = events ? { onProgress: event, onRequest: (/** @type {any} */ told) => event({ type: 'request', ...told }) } : {};
    if (message.do === 'open' || message.do === 'create') {
      await this.#ready;
      const options = unpacked(message.options, (fn, args) => this.#call(fn, args));
      const { handle } = await (message.do === 'open' ? openHandle : createHandle)(message.uri, { ...options, signal, ...heard });
      return this.#table(handle);
    }
    if (message.do === 'next') return this.#batch(message.of, signal);
    const handle = this.#tables.get(message.of);
    if (handle === undefined) throw new HudiError('DISPOSED', 'the table was closed', { hint: 'Open it again.' });
    if (message.verb === 'append') {
      const [lent] = message.args;
      message.args[0] = { next: () => this.#call(lent, []) };
    }
    const value = await handle.heardBy(heard.onRequest).run({ signal, ...(heard.onProgress && { onProgress: heard.onProgress }) }, (raw, cancel, sink) => /** @type {any} */ (raw)[message.verb](...message.args, cancel, sink));
    return this.#value(handle, value);
  }

  /** @param {Handle} handle @param {any} value */
  #value(handle, value) {
    if (Array.isArray(value) && typeof value[1]?.facts === 'function') return { ...this.#table(handle.beside(value[1])), result: value[0] };
    if (typeof value?.facts === 'function') return this.#table(handle.beside(value));
    if (typeof value?.next !== 'function') return { value };
    const of = this.#next++;
    this.#streams.set(of, { handle, raw: value });
    const { engine } = handle;
    const [schema, metrics] = engine.call(() => [value.schema(), value.metrics()]);
    return { stream: { of, schema, metrics }, memoryBytes: engine.memoryBytes };
  }

  /** @param {Handle} handle */
  #table(handle) {
    const of = this.#next++;
    this.#tables.set(of, handle);
    const [facts, timeline] = handle.call((raw) => [raw.facts(), raw.timeline()]);
    return { table: { of, facts, timeline }, memoryBytes: handle.engine.memoryBytes };
  }

  /** @param {number} of @param {AbortSignal} signal */
  async #batch(of, signal) {
    const stream = this.#streams.get(of);
    if (stream === undefined) throw new HudiError('DISPOSED', 'the stream is over');
    const { engine } = stream.handle;
    const batch = await engine.run(signal, () => stream.raw.next());
    const metrics = engine.call(() => stream.raw.metrics());
    return { value: { batch, metrics }, memoryBytes: engine.memoryBytes, transfer: batch === undefined ? [] : [batch[1].buffer] };
  }

  /** @param {{ kind: 'table' | 'stream', of: number }} what */
  #free({ kind, of }) {
    if (kind === 'table') this.#tables.get(of)?.close();
    const stream = kind === 'stream' ? this.#streams.get(of) : undefined;
    if (stream !== undefined && !stream.handle.engine.dead) {
      stream.handle.engine.call(() => {
        stream.raw.cancel();
        stream.raw.free();
      });
    }
    (kind === 'table' ? this.#tables : this.#streams).delete(of);
  }

  /** Calls a function of the other side. @param {number} fn @param {unknown[]} args */
  #call(fn, args) {
    const call = this.#next++;
    return new Promise((resolve, reject) => {
      this.#callbacks.set(call, { resolve, reject });
      this.#port.postMessage({ fn, args, call });
    });
  }

  /** @param {{ call: number, ok?: unknown, error?: any }} answer */
  #reply({ call, ok, error }) {
    const waiting = this.#callbacks.get(call);
    this.#callbacks.delete(call);
    if (error === undefined) waiting?.resolve(ok);
    else waiting?.reject(unpackedError(error));
  }
}
