// Pieces in the browser's Cache API, as answers to addresses that nobody asks.
import { HudiError } from '../errors.js';

const cacheName = 'hudi-wasm-1';
const origin = 'https://hudi-wasm.invalid/';

/** @returns {import('./persistent.js').Backend} */
export function cacheApiBackend() {
  if (typeof caches !== 'object' || typeof caches.open !== 'function') {
    throw new HudiError('UNSUPPORTED', 'this host has no Cache API', { hint: 'Pages have it where their origin is secure: https or localhost.' });
  }
  const opened = () => caches.open(cacheName);
  const urlOf = (/** @type {string} */ name, /** @type {number} */ size) => `${origin}${name}?${size}`;
  return {
    async list() {
      const requests = await (await opened()).keys();
      return requests.map(({ url }) => {
        const { pathname, search } = new URL(url);
        return { name: pathname.slice(1), size: Number(search.slice(1)) };
      });
    },
    async read(name) {
      // The size is only there to be listed.
      const response = await (await opened()).match(`${origin}${name}`, { ignoreSearch: true });
      if (response === undefined) return undefined;
      const about = JSON.parse(decodeURIComponent(response.headers.get('x-about') ?? 'null'));
      return about && { data: new Uint8Array(await response.arrayBuffer()), about };
    },
    async write(name, data, about) {
      const cache = await opened();
      // The list of uses changes its size, and so its address.
      if (!/-/.test(name)) await cache.delete(`${origin}${name}`, { ignoreSearch: true });
      const headers = { 'x-about': encodeURIComponent(JSON.stringify(about)) };
      await cache.put(urlOf(name, data.length), new Response(/** @type {any} */ (data), { headers }));
    },
    async remove(name) {
      await (await opened()).delete(`${origin}${name}`, { ignoreSearch: true });
    },
  };
}
