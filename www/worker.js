// The engine off the main thread: one message in, one answer out, requests and progress told as they happen.

import { PageEngine } from './engine/engine.js';
import { failureOf } from './engine/failure.js';

/** @type {Map<number, AbortController>} */
const running = new Map();
const engine = new PageEngine(
  (value) => postMessage({ event: 'request', value, ended: performance.timeOrigin + performance.now() }),
  new URL('core_bg.wasm', import.meta.url),
);

/** @param {{ id: number, verb: 'open' | 'rows' | 'slices' | 'avro' | 'instant', question: any }} message */
async function answer({ id, verb, question }) {
  const controller = new AbortController();
  running.set(id, controller);
  try {
    const call = { signal: controller.signal, onProgress: (/** @type {unknown} */ value) => postMessage({ event: 'progress', id, value }) };
    postMessage({ id, value: await engine[verb](question, call) });
  } catch (error) {
    postMessage({ id, failure: failureOf(error) });
  } finally {
    running.delete(id);
  }
}

addEventListener('message', ({ data }) => {
  if (data.cancel !== undefined) running.get(data.cancel)?.abort();
  else void answer(data);
});
