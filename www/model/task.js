// One question to the engine with its answer, its wait and its failure; a newer question of the same task ends the older one.

import { signal } from '@preact/signals';
import { ask } from '../engine/client.js';

/** @typedef {import('../types.js').Engine} Engine */

/**
 * @template {keyof Engine} V
 * @typedef {Awaited<ReturnType<Engine[V]>>} Answer
 */

/** @template {keyof Engine} V */
export class Task {
  /** @param {V} verb */
  constructor(verb) {
    this.verb = verb;
    this.state = signal(/** @type {import('../types.js').TaskState<Answer<V>>} */ ({ status: 'idle' }));
    /** @type {AbortController | undefined} */
    this.controller = undefined;
    /** @type {() => void} */
    this.again = () => undefined;
  }

  /** What is shown: the answer, or while a newer one is awaited the last. @returns {Answer<V> | undefined} */
  get shown() {
    const state = this.state.value;
    return state.status === 'ready' ? state.value : state.status === 'loading' ? state.last : undefined;
  }

  /**
   * The answer, or undefined when it failed, was cancelled or a newer question took its place: then `state` says which.
   * @param {string} label @param {Parameters<Engine[V]>[0]} question @returns {Promise<Answer<V> | undefined>}
   */
  async start(label, question) {
    this.controller?.abort();
    const controller = new AbortController();
    this.controller = controller;
    this.again = () => void this.start(label, question);
    const last = this.shown;
    this.state.value = { status: 'loading', ...(last !== undefined && { last }) };
    try {
      const value = await ask(this.verb, label, question, controller.signal);
      if (this.controller !== controller) return undefined;
      this.state.value = { status: 'ready', value };
      return value;
    } catch (error) {
      if (this.controller !== controller) return undefined;
      const failure = /** @type {import('../types.js').Failure} */ (error);
      this.state.value = failure.code === 'ABORTED' ? { status: 'cancelled' } : { status: 'failed', failure };
      return undefined;
    }
  }

  /** Ends what runs; the state becomes `cancelled`. */
  cancel() {
    this.controller?.abort();
  }

  /** Forgets everything, for another table. */
  reset() {
    const { controller } = this;
    this.controller = undefined;
    controller?.abort();
    this.state.value = { status: 'idle' };
  }
}
