// What the JavaScript heap of a Worker takes, as its inspector tells.
import { createRequire } from 'node:module';

// Node 20 has no WebSocket of its own; Miniflare brings one.
const { WebSocket } = createRequire(createRequire(import.meta.url).resolve('miniflare'))('ws');

/**
 * Values and the bytes of array buffers, garbage too; pages of wasm memory are not among them.
 *
 * @param {import('miniflare').Miniflare} worker made with `inspectorPort: 0`
 */
export async function workerHeap(worker) {
  const { host } = await worker.getInspectorURL();
  const socket = new WebSocket(`ws://${host}/core:user:`);
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  /** @type {Map<number, (bytes: number) => void>} */
  const waiting = new Map();
  let asked = 0;
  socket.on('message', (/** @type {Buffer} */ text) => {
    const { id, result } = JSON.parse(text.toString());
    waiting.get(id)?.(result.usedSize + result.backingStorageSize);
    waiting.delete(id);
  });
  /** @returns {Promise<number>} */
  const now = () =>
    new Promise((resolve) => {
      asked += 1;
      waiting.set(asked, resolve);
      socket.send(JSON.stringify({ id: asked, method: 'Runtime.getHeapUsage' }));
    });
  return {
    /** Looks again and again, between the Worker's own turns, until it is asked for the most that it saw. */
    watch() {
      let watching = true;
      const seen = (async () => {
        let most = 0;
        while (watching) most = Math.max(most, await now());
        return Math.max(most, await now());
      })();
      return {
        most: () => {
          watching = false;
          return seen;
        },
      };
    },
    close: () => void socket.close(),
  };
}
