// A static server for pages and tests: ranges, CORS, no cache, the types that browsers insist on.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';

/** @type {Record<string, string>} */
const types = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
};

const cors = {
  'access-control-allow-origin': '*',
  'access-control-allow-headers': '*',
  'access-control-expose-headers': 'content-range, content-length, etag, accept-ranges',
};

/**
 * Serves a folder until closed.
 *
 * @param {string} folder
 * @param {{ port?: number, host?: string }} [options] port 0 is any free one
 * @returns {Promise<{ origin: string, close: () => Promise<void> }>}
 */
export async function serve(folder, { port = 0, host = '127.0.0.1' } = {}) {
  const top = path.resolve(folder);
  const server = createServer((request, response) => {
    answer(top, request, response).catch((error) => {
      if (!response.headersSent) response.writeHead(error.code === 'ENOENT' ? 404 : 500, cors);
      response.end();
    });
  });
  await new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve(undefined));
  });
  const address = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    origin: `http://${host}:${address.port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/**
 * @param {string} top
 * @param {import('node:http').IncomingMessage} request
 * @param {import('node:http').ServerResponse} response
 */
async function answer(top, request, response) {
  if (request.method === 'OPTIONS') return void response.writeHead(204, cors).end();
  if (request.method !== 'GET' && request.method !== 'HEAD') return void response.writeHead(405, cors).end();
  const file = await find(top, request.url ?? '/');
  if (file === undefined) return void response.writeHead(404, cors).end();
  const range = parseRange(request.headers.range, file.size);
  const headers = {
    ...cors,
    'accept-ranges': 'bytes',
    'cache-control': 'no-store',
    'content-type': types[path.extname(file.name)] ?? 'application/octet-stream',
    etag: `"${file.size.toString(16)}-${Math.trunc(file.mtimeMs).toString(16)}"`,
  };
  if (range === 'unsatisfiable') {
    return void response.writeHead(416, { ...headers, 'content-range': `bytes */${file.size}` }).end();
  }
  const { start, end } = range ?? { start: 0, end: file.size - 1 };
  const part = range === undefined ? {} : { 'content-range': `bytes ${start}-${end}/${file.size}` };
  response.writeHead(range === undefined ? 200 : 206, { ...headers, ...part, 'content-length': end - start + 1 });
  if (request.method === 'HEAD' || file.size === 0) return void response.end();
  createReadStream(file.name, { start, end })
    .on('error', () => response.destroy())
    .pipe(response);
}

/** The file a URL names below `top`, or an index page of a folder; nothing above `top` is found. */
async function find(/** @type {string} */ top, /** @type {string} */ url) {
  const relative = decodeURIComponent(new URL(url, 'http://localhost').pathname);
  let name = path.join(top, relative);
  if (name !== top && !name.startsWith(top + path.sep)) return undefined;
  let info = await stat(name);
  if (info.isDirectory()) info = await stat((name = path.join(name, 'index.html')));
  return { name, size: info.size, mtimeMs: info.mtimeMs };
}

/**
 * One range of bytes, both ends included; undefined for none, or for a form that may be ignored.
 *
 * @param {string | undefined} header
 * @param {number} size
 * @returns {{ start: number, end: number } | 'unsatisfiable' | undefined}
 */
function parseRange(header, size) {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? [];
  if (first === '' && last === '') return undefined;
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size - 1 };
  }
  const start = Number(first);
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if (last !== '' && Number(last) < start) return undefined;
  return start < size ? { start, end } : 'unsatisfiable';
}
