// Locks over all tabs of an origin, for the engine: the host's own, where it has any.

/** Where the host has no locks, tables are locked inside of this engine. */
export const hasLocks = () => typeof globalThis.navigator?.locks?.request === 'function';

/**
 * Waits for a lock and gives what releases it. The signal ends the wait, and a lock that nobody took over.
 *
 * @param {string} key
 * @param {{ signal: AbortSignal }} options
 * @returns {Promise<() => void>}
 */
export function acquire(key, { signal }) {
  return new Promise((resolve, reject) => {
    const held = () =>
      new Promise((release) => {
        const done = () => release(undefined);
        signal.addEventListener('abort', done);
        resolve(done);
      });
    navigator.locks.request(key, { signal }, held).catch(reject);
  });
}
