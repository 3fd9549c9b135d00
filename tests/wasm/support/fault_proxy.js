// A proxy that stands before a server and does what networks do: it waits, refuses, cuts, hides and lies.
import { createServer, request as ask } from 'node:http';
import { gzipSync } from 'node:zlib';

/**
 * @typedef {{ method: string, path: string, url: string, headers: import('node:http').IncomingHttpHeaders, range?: { start: number, end: number }, nth: number }} Asked
 *   `path` is decoded and without query; `end` is behind the last byte; `nth` counts the requests of this method and path from 1
 *
 * @typedef {object} Fault what happens to one request; nothing given is no fault
 * @property {number} [delay] milliseconds before the answer begins
 * @property {boolean} [reset] the connection ends without an answer
 * @property {boolean} [lose] the server does what was asked, and the connection ends without its answer
 * @property {number} [status] an answer of the proxy's own, with `body`
 * @property {string} [body]
 * @property {number} [cut] so many bytes of the body, then the connection ends
 * @property {number} [shorten] so many bytes fewer, and a Content-Length that says so
 * @property {boolean} [ignoreRange] the whole object comes, as 200
 * @property {number} [shift] another range comes: so many bytes later
 * @property {boolean} [gzip] the object is stored compressed: a range is one of the compressed bytes
 * @property {(body: Buffer) => Buffer} [change] of the body's bytes
 * @property {Record<string, string | null>} [headers] set on the answer, or taken from it
 *
 * @typedef {object} Cors whether and how pages of other origins may read
 * @property {boolean} [allowed] false: no CORS header at all
 * @property {string[]} [expose] headers that script may see; Content-Range and ETag unless given
 * @property {boolean} [preflight] false: OPTIONS is refused with 403
 *
 * @typedef {Asked & { status: number, bytes: number }} Logged
 */

/**
 * @param {string} upstream its origin; Host goes through as it comes, so that signatures hold
 * @returns {Promise<FaultProxy>}
 */
export async function faultProxy(upstream) {
  const proxy = new FaultProxy(new URL(upstream));
  await proxy.listen();
  return proxy;
}

export class FaultProxy {
  /** @type {(asked: Asked) => Fault | undefined | void} */
  fault = () => {};
  /** @type {Cors} */
  cors = {};
  /** Every request that came, preflights too. @type {Logged[]} */
  log = [];
  /** Whether writes go to the server one at a time: s3s-fs looks at a condition first and writes later, so two that race may both win. */
  inTurn = false;
  /** The write before. @type {Promise<unknown>} */
  #before = Promise.resolve();
  /** Requests under way. */
  open = 0;
  origin = '';
  /** @type {Map<string, number>} */
  #counts = new Map();
  #upstream;
  #server;

  /** @param {URL} upstream */
  constructor(upstream) {
    this.#upstream = upstream;
    this.#server = createServer((request, response) => void this.#answer(request, response).catch(() => response.destroy()));
  }

  /** Forgets faults, rules and what was asked. */
  reset() {
    Object.assign(this, { fault: () => {}, cors: {}, log: [] });
    this.#counts.clear();
  }

  async listen() {
    await new Promise((resolve) => this.#server.listen(0, '127.0.0.1', () => resolve(undefined)));
    this.origin = `http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (this.#server.address()).port}`;
  }

  async close() {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** What was asked without preflights, by method and path. */
  get asked() {
    return this.log.filter(({ method }) => method !== 'OPTIONS').map(({ method, path }) => `${method} ${path}`);
  }

  /** @param {import('node:http').IncomingMessage} request @param {import('node:http').ServerResponse} response */
  async #answer(request, response) {
    const asked = this.#note(request);
    this.open += 1;
    response.once('close', () => (this.open -= 1));
    if (asked.method === 'OPTIONS' && this.cors.allowed !== false) {
      asked.status = this.cors.preflight === false ? 403 : 204;
      return void response.writeHead(asked.status, this.#corsHeaders()).end();
    }
    const fault = this.fault(asked) ?? {};
    if (fault.delay !== undefined) await new Promise((resolve) => setTimeout(resolve, fault.delay));
    if (fault.reset) return void request.socket.destroy();
    if (fault.status !== undefined) {
      asked.status = fault.status;
      return void response.writeHead(fault.status, this.#corsHeaders(fault.headers)).end(fault.body ?? '');
    }
    const forward = () => this.#forward(request, asked, fault);
    const writes = this.inTurn && asked.method !== 'GET' && asked.method !== 'HEAD';
    const turn = writes ? this.#before.then(forward) : forward();
    if (writes) this.#before = turn.catch(() => {});
    const came = await turn;
    if (fault.lose) return void request.socket.destroy();
    const body = fault.change?.(came.body) ?? came.body;
    const cut = fault.shorten === undefined ? body : body.subarray(0, Math.max(0, body.length - fault.shorten));
    Object.assign(asked, { status: came.status, bytes: cut.length });
    const headers = this.#corsHeaders({ ...came.headers, 'content-length': String(cut.length), ...fault.headers });
    response.writeHead(came.status, headers);
    if (fault.cut === undefined) return void response.end(cut);
    response.write(cut.subarray(0, fault.cut));
    setTimeout(() => request.socket.destroy(), 20);
  }

  /** @param {import('node:http').IncomingMessage} request @returns {Logged} */
  #note(request) {
    const url = new URL(request.url ?? '/', this.origin);
    const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
    const method = request.method ?? 'GET';
    const path = decodeURIComponent(url.pathname);
    const key = `${method} ${path}`;
    const nth = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, nth);
    const range = start === undefined ? {} : { range: { start: Number(start), end: Number(end) + 1 } };
    const asked = { method, path, url: url.href, headers: request.headers, ...range, nth, status: 0, bytes: 0 };
    this.log.push(asked);
    return asked;
  }

  /** @param {Record<string, string | null>} [more] */
  #corsHeaders(more = {}) {
    const { allowed = true, expose = ['Content-Range', 'ETag'] } = this.cors;
    const rules = allowed
      ? { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*', 'access-control-expose-headers': expose.join(', '), 'access-control-allow-methods': '*' }
      : {};
    const own = Object.entries(more).filter(([name, value]) => value !== null && !name.startsWith('access-control-'));
    return /** @type {Record<string, string>} */ ({ ...rules, ...Object.fromEntries(own) });
  }

  /**
   * Asks the server, as the fault would have it.
   *
   * @param {import('node:http').IncomingMessage} request
   * @param {Asked} asked
   * @param {Fault} fault
   * @returns {Promise<{ status: number, headers: Record<string, string>, body: Buffer }>}
   */
  async #forward(request, { range }, { ignoreRange = false, shift = 0, gzip = false }) {
    const headers = { ...request.headers };
    if (ignoreRange || gzip) delete headers.range;
    else if (range !== undefined && shift !== 0) headers.range = `bytes=${range.start + shift}-${range.end + shift - 1}`;
    const came = await exchange(this.#upstream, request, headers);
    if (!gzip || came.status !== 200) return came;
    const all = gzipSync(came.body);
    const part = range === undefined ? all : all.subarray(range.start, range.end);
    /** @type {Record<string, string>} */
    const told = range === undefined ? {} : { 'content-range': `bytes ${range.start}-${range.start + part.length - 1}/${all.length}` };
    return { status: range === undefined ? 200 : 206, headers: { ...came.headers, ...told, 'content-encoding': 'gzip' }, body: part };
  }
}

/**
 * @param {URL} upstream
 * @param {import('node:http').IncomingMessage} request
 * @param {import('node:http').IncomingHttpHeaders} headers
 * @returns {Promise<{ status: number, headers: Record<string, string>, body: Buffer }>}
 */
function exchange(upstream, request, headers) {
  return new Promise((resolve, reject) => {
    const sent = ask({ host: upstream.hostname, port: upstream.port, method: request.method, path: request.url, headers }, (answer) => {
      /** @type {Buffer[]} */
      const chunks = [];
      answer.on('data', (chunk) => chunks.push(chunk));
      answer.on('error', reject);
      answer.on('end', () => {
        const kept = Object.entries(answer.headers).filter(([name]) => !['connection', 'transfer-encoding', 'keep-alive'].includes(name));
        const flat = kept.map(([name, value]) => [name, String(value)]);
        resolve({ status: answer.statusCode ?? 0, headers: Object.fromEntries(flat), body: Buffer.concat(chunks) });
      });
    });
    sent.on('error', reject);
    // Who gives up half-way would have the server wait for the rest, and the writes behind it for their turn.
    request.on('close', () => void (request.complete || sent.destroy(new Error('the request was given up'))));
    request.pipe(sent);
  });
}
