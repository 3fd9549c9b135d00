// Locks over all tabs of an origin, for the engine: the host's own, where it has any.

/** Where the host has no locks, tables are locked inside of this engine. */
export const hasLocks = () => typeof globalThis.navigator?.locks?.request === 'function';

/** So many milliseconds after an engine ended its locks go: what it had asked for may still land in the store. */
const grace = 10_000;

/** The locks of one engine. */
export class Locks {
  /** @type {Set<() => void>} */
  #held = new Set();
  #over = false;

  /**
   * Waits for a lock and gives what releases it. The signal ends the wait, and a lock that nobody took over.
   *
   * @param {string} key
   * @param {{ signal: AbortSignal }} options
   * @returns {Promise<() => void>}
   */
  acquire = (key, { signal }) =>
    new Promise((resolve, reject) => {
      const held = () =>
        new Promise((release) => {
          const done = () => {
            this.#held.delete(done);
            release(undefined);
          };
          if (this.#over) return done();
          this.#held.add(done);
          signal.addEventListener('abort', done);
          resolve(done);
        });
      navigator.locks.request(key, { signal }, held).catch(reject);
    });

  /** Gives all back some time from now: the engine ended, and nobody else will. */
  end() {
    this.#over = true;
    if (this.#held.size === 0) return;
    setTimeout(() => {
      for (const release of [...this.#held]) release();
    }, grace);
  }
}
