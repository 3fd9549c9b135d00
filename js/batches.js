// Record batches as they leave the engine: each an Arrow IPC stream of its own, in memory that JavaScript owns.
import { asyncDispose } from './dispose.js';
import { HudiError, aborted } from './errors.js';

/**
 * @typedef {import('./index.d.ts').HudiBatch} HudiBatch
 * @typedef {import('./index.d.ts').ReadMetrics} ReadMetrics
 * @typedef {import('./guard.js').Engine} Engine
 * @typedef {import('./glue.d.ts').RawStream} RawStream
 * @typedef {Uint8Array<ArrayBuffer>} Bytes
 * @typedef {import('./index.d.ts').HudiResult} ResultShape
 * @typedef {import('./index.d.ts').HudiRecordBatchStream} StreamShape
 */

/** Length of the end-of-stream marker, with which every IPC stream of ours ends. */
const endLength = 8;

/** @type {ReadMetrics} */
const noMetrics = Object.freeze({
  requests: 0,
  bytes: 0,
  cacheHits: 0,
  filesTotal: 0,
  filesPruned: 0,
  rowGroupsPruned: 0,
  rowsScanned: 0,
  corruptLogBlocks: 0,
  ms: 0,
  wasmBytes: 0,
  warnings: Object.freeze([]),
  pinned: true,
  listing: Object.freeze({ source: 'store' }),
});

/** All batches of a read. @implements {ResultShape} */
class Result {
  #schema;
  #batches;
  /** @type {Bytes | undefined} */
  #ipc;

  /**
   * @param {Bytes} schema an IPC stream without batches
   * @param {readonly HudiBatch[]} batches
   * @param {ReadMetrics} metrics
   */
  constructor(schema, batches, metrics) {
    this.#schema = schema;
    this.#batches = batches;
    this.metrics = metrics;
    this.numRows = batches.reduce((sum, batch) => sum + batch.numRows, 0);
  }

  get numBatches() {
    return this.#batches.length;
  }

  get ipc() {
    return (this.#ipc ??= this.#joined());
  }

  [Symbol.iterator]() {
    return this.#batches[Symbol.iterator]();
  }

  #joined() {
    const [only, ...more] = this.#batches;
    if (only === undefined) return this.#schema;
    if (more.length === 0) return only.ipc;
    const head = this.#schema.length - endLength;
    const bodies = this.#batches.map(({ ipc }) => ipc.subarray(head, ipc.length - endLength));
    const length = bodies.reduce((sum, body) => sum + body.length, this.#schema.length);
    const joined = new Uint8Array(length);
    joined.set(this.#schema.subarray(0, head));
    let offset = head;
    for (const body of bodies) {
      joined.set(body, offset);
      offset += body.length;
    }
    joined.set(this.#schema.subarray(head), offset);
    return joined;
  }
}

/**
 * A stream of batches that begins when it is first asked for something. Single-use; its calls wait for one another.
 *
 * @implements {StreamShape}
 */
export class RecordBatchStream {
  #open;
  #caller;
  /** Ends the opening and the read, by the caller's signal or by return(). */
  #stop = new AbortController();
  /** The schema of the read, once it is open. @type {Promise<Bytes> | undefined} */
  #opened;
  /** @type {{ engine: Engine, raw: RawStream } | undefined} */
  #live;
  #over = false;
  /** The caller's signal ended the read, and no next() has said so yet. */
  #untold = false;
  /** The call before; the next one waits for it. @type {Promise<unknown>} */
  #before = Promise.resolve();
  #metrics = noMetrics;
  #onAbort = () => {
    this.#untold = !this.#over;
    this.#end(this.#caller?.reason);
  };

  /**
   * @param {(signal: AbortSignal) => Promise<{ engine: Engine, raw: RawStream }>} open
   * @param {AbortSignal} [signal] the caller's
   */
  constructor(open, signal) {
    this.#open = open;
    this.#caller = signal;
  }

  /** @returns {Promise<Bytes>} */
  get schemaIpc() {
    return this.#start();
  }

  /** @returns {ReadMetrics} */
  get metrics() {
    if (this.#live !== undefined && !this.#live.engine.dead) this.#metrics = metricsOf(this.#live);
    return this.#metrics;
  }

  /** @returns {Promise<IteratorResult<HudiBatch, undefined>>} */
  next() {
    const answer = this.#before.then(() => this.#pull());
    this.#before = answer.catch(() => {});
    return answer;
  }

  /** @returns {Promise<IteratorResult<HudiBatch, undefined>>} */
  async return() {
    this.#end(undefined);
    await this.#before;
    return { done: true, value: undefined };
  }

  /** @returns {Promise<IteratorResult<HudiBatch, undefined>>} */
  async throw(/** @type {unknown} */ error) {
    await this.return();
    throw error;
  }

  [Symbol.asyncIterator]() {
    return this;
  }

  async [asyncDispose]() {
    await this.return();
  }

  /** @type {import('./index.d.ts').HudiRecordBatchStream['toReadableStream']} */
  toReadableStream() {
    /** @type {Bytes | undefined} */
    let schema;
    return new ReadableStream({
      pull: async (controller) => {
        if (schema === undefined) {
          schema = await this.schemaIpc;
          controller.enqueue(schema.slice(0, schema.length - endLength));
          return;
        }
        const { done, value } = await this.next();
        const head = schema.length - endLength;
        controller.enqueue(done ? schema.slice(head) : value.ipc.subarray(head, value.ipc.length - endLength));
        if (done) controller.close();
      },
      cancel: async () => {
        await this.return();
      },
    });
  }

  /** @returns {Promise<IteratorResult<HudiBatch, undefined>>} */
  async #pull() {
    if (!this.#over) {
      try {
        const batch = await this.#take();
        if (batch !== undefined) return { done: false, value: batch };
        this.#finish();
      } catch (error) {
        // What return() broke off ends quietly; what the caller's signal broke off says so below.
        const broken = this.#over && HudiError.is(error, 'ABORTED');
        this.#finish();
        if (!broken) throw error;
      }
    }
    if (this.#untold) {
      this.#untold = false;
      throw aborted(this.#caller?.reason);
    }
    return { done: true, value: undefined };
  }

  /** @returns {Promise<HudiBatch | undefined>} */
  async #take() {
    await this.#start();
    const live = this.#live;
    if (live === undefined) return undefined;
    return batchOf(await live.engine.run(this.#stop.signal, () => live.raw.next()));
  }

  #start() {
    return (this.#opened ??= this.#opening());
  }

  async #opening() {
    if (this.#over) throw new HudiError('DISPOSED', 'the stream was ended before it began');
    this.#caller?.addEventListener('abort', this.#onAbort);
    if (this.#caller?.aborted) this.#onAbort();
    const live = await this.#open(this.#stop.signal);
    this.#live = live;
    return live.engine.call(() => live.raw.schema());
  }

  /** Stops whatever is under way. */
  #end(/** @type {unknown} */ reason) {
    if (this.#over) return;
    this.#stop.abort(reason);
    this.#finish();
  }

  #finish() {
    this.#over = true;
    this.#caller?.removeEventListener('abort', this.#onAbort);
    if (this.#live !== undefined) this.#close(this.#live);
  }

  #close(/** @type {{ engine: Engine, raw: RawStream }} */ live) {
    if (!live.engine.dead) {
      this.#metrics = metricsOf(live);
      live.engine.call(() => {
        live.raw.cancel();
        live.raw.free();
      });
    }
    this.#live = undefined;
  }
}

/**
 * Reads a stream of the engine to its end.
 *
 * @param {Engine} engine
 * @param {RawStream} raw
 * @param {AbortSignal} [signal]
 * @returns {Promise<import('./index.d.ts').HudiResult>}
 */
export async function collect(engine, raw, signal) {
  const { schema, batches, metrics } = await drained(engine, raw, signal);
  return new Result(schema, batches, metrics);
}

/**
 * Reads a stream of several parts to its end, each part a result.
 *
 * @param {Engine} engine
 * @param {RawStream} raw
 * @param {AbortSignal} [signal]
 * @returns {Promise<import('./index.d.ts').HudiResult[]>}
 */
export async function collectParts(engine, raw, signal) {
  const { schema, batches, metrics, parts } = await drained(engine, raw, signal);
  let first = 0;
  return parts.map((count) => new Result(schema, batches.slice(first, (first += count)), metrics));
}

/** @param {Engine} engine @param {RawStream} raw @param {AbortSignal} [signal] */
async function drained(engine, raw, signal) {
  try {
    const schema = engine.call(() => raw.schema());
    /** @type {HudiBatch[]} */
    const batches = [];
    for (;;) {
      const batch = batchOf(await engine.run(signal, () => raw.next()));
      if (batch === undefined) break;
      batches.push(batch);
    }
    /** @type {number[]} */
    const parts = JSON.parse(engine.call(() => raw.metrics())).parts ?? [];
    return { schema, batches, metrics: metricsOf({ engine, raw }), parts };
  } finally {
    if (!engine.dead) {
      engine.call(() => {
        raw.cancel();
        raw.free();
      });
    }
  }
}

/** @returns {HudiBatch | undefined} */
function batchOf(/** @type {[number, Bytes] | undefined} */ answer) {
  return answer && Object.freeze({ numRows: answer[0], ipc: answer[1] });
}

/** @returns {ReadMetrics} */
function metricsOf(/** @type {{ engine: Engine, raw: RawStream }} */ { engine, raw }) {
  const metrics = JSON.parse(engine.call(() => raw.metrics()));
  delete metrics.parts;
  return Object.freeze({ ...noMetrics, ...metrics, wasmBytes: engine.memoryBytes });
}
