// The server of the benchmark: everything from memory, so that disks do not count; each run's requests under a path of its own.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';

/**
 * What one run asked for. `rounds` are those of the base file alone, `all` are requests to whatever file.
 *
 * @typedef {{ requests: number, all: number, bytes: number, rounds: number, paths: string[] }} Traffic
 */

/** @typedef {{ path: string, start: number, end: number, bytes: number }} Asked */

/** @type {Record<string, string>} */
const types = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8', '.json': 'application/json', '.wasm': 'application/wasm' };

const headers = {
  'access-control-allow-origin': '*',
  'access-control-allow-headers': '*',
  'access-control-expose-headers': 'content-range, content-length, etag, accept-ranges',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
  'cross-origin-resource-policy': 'cross-origin',
  'cache-control': 'no-store',
  'accept-ranges': 'bytes',
};

/** Browsers hold so many connections to a host; a request that waited for one depends on no answer. */
const connections = 6;

/**
 * Serves `/run/<name>/<delay>/<file of the table>`, counted and late by `delay` milliseconds, and `/<name>`, any other file.
 *
 * @param {(name: string, ofTable: boolean) => string | Uint8Array} find where that file is, or what it holds
 */
export async function serve(find) {
  /** @type {Map<string, Uint8Array>} */
  const kept = new Map();
  /** @type {Map<string, Asked[]>} */
  const runs = new Map();
  const bytesOf = (/** @type {string} */ file) => {
    const bytes = kept.get(file) ?? readFileSync(file);
    kept.set(file, bytes);
    return bytes;
  };
  const server = createServer((request, response) => {
    const name = decodeURIComponent(new URL(request.url ?? '/', 'http://localhost').pathname).slice(1);
    const [, run, delay, file] = /^run\/([^/]+)\/(\d+)\/(.+)$/.exec(name) ?? [];
    const asked = { path: file ?? name, start: performance.now(), end: Infinity, bytes: 0 };
    response.on('close', () => (asked.end = performance.now()));
    if (run !== undefined) runs.set(run, [...(runs.get(run) ?? []), asked]);
    const answer = () => {
      try {
        const found = find(file ?? name, file !== undefined);
        send(request, response, typeof found === 'string' ? bytesOf(found) : found, types[path.extname(name)], asked);
      } catch {
        response.writeHead(404, headers).end();
      }
    };
    if (request.method === 'OPTIONS') response.writeHead(204, headers).end();
    else if (Number(delay) > 0) setTimeout(answer, Number(delay));
    else answer();
  });
  // A connection that ends while a slow contender has its turn would be a failure of the others.
  server.keepAliveTimeout = 600_000;
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    origin: `http://127.0.0.1:${port}`,
    /** @returns {Traffic} */
    traffic: (/** @type {string} */ run) => {
      const asked = runs.get(run) ?? [];
      const data = asked.filter((one) => one.path.endsWith('.parquet'));
      const bytes = asked.reduce((sum, one) => sum + one.bytes, 0);
      return { requests: data.length, all: asked.length, bytes, rounds: rounds(data), paths: asked.map((one) => one.path) };
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/**
 * @param {import('node:http').IncomingMessage} request
 * @param {import('node:http').ServerResponse} response
 * @param {Uint8Array} bytes
 * @param {string | undefined} type
 * @param {Asked} asked
 */
function send(request, response, bytes, type, asked) {
  const size = bytes.length;
  const all = { ...headers, 'content-type': type ?? 'application/octet-stream', etag: `"${size.toString(16)}"` };
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(request.headers.range ?? '') ?? [];
  const ranged = first !== '' || last !== '';
  const start = first === '' ? (ranged ? Math.max(size - Number(last), 0) : 0) : Number(first);
  const end = first === '' || last === '' ? size : Math.min(Number(last) + 1, size);
  if (start >= end && ranged) return void response.writeHead(416, { ...all, 'content-range': `bytes */${size}` }).end();
  const part = ranged ? { 'content-range': `bytes ${start}-${end - 1}/${size}` } : {};
  response.writeHead(ranged ? 206 : 200, { ...all, ...part, 'content-length': end - start });
  if (request.method === 'HEAD') return void response.end();
  asked.bytes = end - start;
  response.end(bytes.subarray(start, end));
}

/**
 * The longest chain of requests of which each began only after the one before had ended.
 *
 * A request that began while all connections were taken waited for one of them, so it belongs to their round.
 *
 * @param {Asked[]} asked
 */
function rounds(asked) {
  const depth = new Map();
  for (const one of [...asked].sort((a, b) => a.start - b.start)) {
    const before = [...depth.keys()].filter((other) => other !== one);
    const running = before.filter((other) => other.end > one.start);
    const waited = running.length >= connections - 1;
    const ended = before.filter((other) => other.end <= one.start);
    const deepest = (/** @type {Asked[]} */ list) => Math.max(0, ...list.map((other) => depth.get(other)));
    depth.set(one, waited ? deepest(running) : deepest(ended) + 1);
  }
  return Math.max(0, ...depth.values());
}
