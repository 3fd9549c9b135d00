// The page's line to the engine. Calls go one after another, so that each request belongs to the call that is running.

import { signal } from '@preact/signals';
import { PageEngine } from './engine.js';
import { failureOf } from './failure.js';

/**
 * @typedef {import('../types.js').ActionFacts} ActionFacts
 * @typedef {import('../types.js').SeenRequest} SeenRequest
 * @typedef {import('../types.js').Failure} Failure
 */

const keptRequests = 2000;
const keptActions = 200;

/** Every request since the page began, newest last. */
export const requests = signal(/** @type {readonly SeenRequest[]} */ ([]));
/** Every finished call to the engine, newest last. */
export const actions = signal(/** @type {readonly ActionFacts[]} */ ([]));
/** The call under way: its label, and how far it is when it says so. */
export const running = signal(/** @type {{ id: number, label: string, progress?: string } | undefined} */ (undefined));

let nextId = 1;
let nextRequest = 1;
/** What the open table, or the one that is being opened, is reached through. */
let storage = 'http';
/** @type {Promise<unknown>} */
let line = Promise.resolve();
const engine = new PageEngine(note);

/**
 * Asks the engine. Throws a `Failure`; a call whose signal fires before its turn never starts.
 * @template {keyof import('../types.js').Engine} V
 * @param {V} verb @param {string} label what the user sees it as
 * @param {Parameters<import('../types.js').Engine[V]>[0]} question
 * @param {AbortSignal} signal
 * @returns {Promise<Awaited<ReturnType<import('../types.js').Engine[V]>>>}
 */
export function ask(verb, label, question, signal) {
  const turn = line.then(() => run(verb, label, question, signal));
  line = turn.catch(() => undefined);
  return turn;
}

/** @param {string} verb @param {string} label @param {unknown} question @param {AbortSignal} signal @returns {Promise<any>} */
async function run(verb, label, question, signal) {
  if (signal.aborted) throw cancelled();
  const id = nextId++;
  const began = performance.now();
  running.value = { id, label };
  const before = storage;
  if (verb === 'open') storage = /** @type {Parameters<import('../types.js').Engine['open']>[0]} */ (question).storage.type;
  const call = { signal, onProgress: (/** @type {import('../../js/index.js').HudiProgress} */ event) => progress(id, event) };
  let memory;
  try {
    const value = await /** @type {any} */ (engine)[verb](question, call);
    memory = value?.metrics?.wasmBytes;
    return value;
  } catch (error) {
    storage = before;
    throw failureOf(error);
  } finally {
    running.value = undefined;
    actions.value = [...actions.value.slice(1 - keptActions), factsOf(id, label, began, memory)];
  }
}

/** @returns {Failure} */
const cancelled = () => ({ code: 'ABORTED', message: 'cancelled', retryable: false, context: {} });

/** @param {number} id @param {string} label @param {number} began @param {number | undefined} memory @returns {ActionFacts} */
function factsOf(id, label, began, memory) {
  const own = requests.value.filter(({ action }) => action === id);
  const network = own.filter(({ from }) => from === 'network' || from === 'disk');
  const cached = own.filter(({ from }) => from === 'cache').length;
  const sum = network.reduce((total, { bytes }) => total + bytes, 0);
  const ms = performance.now() - began;
  return { id, label, began, ms, requests: network.length, bytes: sum, cacheHits: cached, ...(memory !== undefined && { memory }) };
}

/** @param {import('../types.js').RequestInfoEvent} event */
function note(event) {
  const ended = performance.now();
  const seen = { ...event, id: nextRequest++, action: running.value?.id ?? 0, began: ended - event.ms, from: fromOf(event) };
  requests.value = [...requests.value.slice(1 - keptRequests), seen];
}

/**
 * A listing of a web server comes out of its manifest, which is in memory by then.
 * @param {import('../types.js').RequestInfoEvent} event @returns {SeenRequest['from']}
 */
function fromOf({ source, method }) {
  if (source !== 'network') return 'cache';
  if (storage === 'folder') return 'disk';
  return storage === 'http' && method === 'LIST' ? 'manifest' : 'network';
}

/** @param {number} id @param {import('../../js/index.js').HudiProgress} event */
function progress(id, event) {
  const now = running.value;
  if (now?.id !== id) return;
  const text =
    event.type === 'files'
      ? `${event.done} of ${event.total} files`
      : event.type === 'rows'
        ? `${event.rows} rows`
        : event.type === 'phase'
          ? event.phase
          : undefined;
  if (text !== undefined) running.value = { ...now, progress: text };
}
