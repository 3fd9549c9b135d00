// The packed package under the tools of others: each reads a table and gives Spark's rows, or checks the package's face. A tool that cannot be
// had here is named, and its test skipped.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { Miniflare } from 'miniflare';
import { run } from '../../scripts/lib/run.mjs';
import { serve } from '../../scripts/lib/serve.mjs';
import { packed } from '../../scripts/pack.mjs';
import { launch } from '../wasm/support/chromium.js';
import { checkIpc, pageSource, printSource, printed, project, table } from '../wasm/support/consumer.js';
import { unpack } from '../wasm/support/fixtures.js';
import { folder as installed } from '../wasm/support/packed.js';
import { firefox, tools } from './support/tools.js';

const had = await tools();
const modules = 'modules' in had ? had.modules : '';
const skip = 'why' in had ? had.why : false;
const bin = (/** @type {string} */ name) => path.join(modules, '.bin', name);
const env = { NO_COLOR: '1', CI: '1', WRANGLER_SEND_METRICS: 'false', DENO_NO_UPDATE_CHECK: '1' };
/** @type {Awaited<ReturnType<typeof serve>>} */
let tables;
/** @type {string} */
let folder;

before(async () => {
  folder = await unpack(table);
  tables = await serve(path.dirname(folder));
});
after(() => tables.close());

/** Runs a command to its end and gives its output. @param {string} command @param {string[]} args @param {string} cwd */
async function output(command, args, cwd) {
  const { code, output } = await run(command, args, { cwd, env, timeout: 180_000 });
  assert.equal(code, 0, output);
  return output;
}

for (const [name, args] of /** @type {[string, string[]][]} */ ([['deno', ['run', '-A', '--node-modules-dir=manual']], ['bun', ['run']]])) {
  test(`${name} reads a table from the disk and over http`, { skip }, async () => {
    const at = await project(name, { 'main.mjs': printSource, 'web.mjs': printSource.replace('process.argv[2]', "process.argv[2], { storage: { type: 'http', listing: { manifest: 'hudi-manifest.json' } } }") });
    await checkIpc(printed(await output(bin(name), [...args, 'main.mjs', folder], at)));
    await checkIpc(printed(await output(bin(name), [...args, 'web.mjs', `${tables.origin}/${table}`], at)));
  });
}

test('webpack bundles a page and its worker', { skip }, async () => {
  const at = await project('webpack', {
    'page.js': pageSource("import { HudiTable } from 'hudi-wasm';"),
    'worker.js': pageSource("import { createHudiWorker } from 'hudi-wasm/worker';", 'createHudiWorker().HudiTable'),
  });
  const webpack = createRequire(path.join(modules, 'x.js'))('webpack');
  const stats = await new Promise((resolve, reject) => {
    const entry = { page: path.join(at, 'page.js'), worker: path.join(at, 'worker.js') };
    webpack({ mode: 'production', context: at, entry, output: { path: path.join(at, 'dist'), publicPath: '/' }, performance: false }, (/** @type {any} */ error, /** @type {any} */ stats) => (error ? reject(error) : resolve(stats)));
  });
  assert.ok(!stats.hasErrors() && !stats.hasWarnings(), stats.toString());
  const names = await readdir(path.join(at, 'dist'));
  assert.equal(names.filter((name) => name.endsWith('.wasm')).length, 1);
  const chromium = await launch();
  const site = createServer(async (request, response) => {
    const name = new URL(request.url ?? '/', 'http://h').pathname.slice(1);
    if (name.endsWith('.html')) return void response.writeHead(200, { 'content-type': 'text/html' }).end(`<!doctype html><script src="/${name.replace('.html', '.js')}"></script>`);
    const data = await readFile(path.join(at, 'dist', name)).catch(() => undefined);
    response.writeHead(data ? 200 : 404, { 'content-type': name.endsWith('.wasm') ? 'application/wasm' : 'text/javascript' }).end(data);
  });
  await new Promise((resolve) => site.listen(0, '127.0.0.1', () => resolve(undefined)));
  try {
    for (const name of ['page', 'worker']) {
      const page = await chromium.newPage();
      const { port } = /** @type {import('node:net').AddressInfo} */ (site.address());
      await page.goto(`http://127.0.0.1:${port}/${name}.html?table=${encodeURIComponent(`${tables.origin}/${table}`)}`);
      await page.waitForFunction('globalThis.result');
      await checkIpc(String(await page.evaluate('globalThis.result')));
    }
  } finally {
    await chromium.close();
    site.close();
    site.closeAllConnections();
  }
});

test('Vitest runs a test that reads a table', { skip }, async () => {
  const source = `
    import { expect, test } from 'vitest';
    import { HudiTable } from 'hudi-wasm';
    test('reads', async () => {
      const { ipc, numRows } = await (await HudiTable.open(${JSON.stringify(folder)})).read();
      expect(numRows).toBeGreaterThan(0);
      console.log('IPC ' + Buffer.from(ipc).toString('base64'));
    });`;
  const at = await project('vitest', { 'read.test.js': source, 'vitest.config.js': `export default { resolve: { alias: { vitest: ${JSON.stringify(path.join(modules, 'vitest'))} } } };` });
  const said = await output(bin('vitest'), ['run', '--reporter=verbose', '--disable-console-intercept'], at);
  assert.match(said, /1 passed/);
  await checkIpc(printed(said));
});

test('wrangler bundles a Worker, and workerd runs it', { skip }, async () => {
  const source = `
    import { HudiTable } from 'hudi-wasm';
    export default {
      async fetch(request) {
        const url = new URL(request.url).searchParams.get('table');
        const table = await HudiTable.open(url, { storage: { type: 'http', listing: { manifest: 'hudi-manifest.json' } } });
        return new Response(table.readStream().toReadableStream());
      },
    };`;
  const date = '2026-04-01';
  const at = await project('wrangler', { 'main.js': source, 'wrangler.json': JSON.stringify({ name: 'app', main: 'main.js', compatibility_date: date }) });
  await output(bin('wrangler'), ['deploy', '--dry-run', '--outdir', 'out'], at);
  const names = (await readdir(path.join(at, 'out'))).filter((name) => /\.(js|wasm)$/.test(name)).sort((a) => (a === 'main.js' ? -1 : 1));
  const built = names.map(async (name) => ({ type: name.endsWith('.wasm') ? 'CompiledWasm' : 'ESModule', path: name, contents: await readFile(path.join(at, 'out', name)) }));
  const worker = new Miniflare({ compatibilityDate: date, modules: /** @type {any} */ (await Promise.all(built)) });
  try {
    const answer = await worker.dispatchFetch(`http://worker/?table=${encodeURIComponent(`${tables.origin}/${table}`)}`);
    await checkIpc(Buffer.from(await answer.arrayBuffer()).toString('base64'));
  } finally {
    await worker.dispose();
  }
});

test('publint and are-the-types-wrong find nothing wrong', { skip }, async () => {
  await output(bin('publint'), ['run', '--strict', '--pack', 'false', installed], packed);
  const [tarball = ''] = (await readdir(packed)).filter((name) => name.endsWith('.tgz'));
  // What is no module of JavaScript, and what only a Worker runs, has no types.
  await output(bin('attw'), [tarball, '--profile', 'esm-only', '--exclude-entrypoints', './core.wasm', './worker/main.js'], packed);
});

const firefoxAt = await firefox();

test('Firefox reads a table', { skip: firefoxAt === undefined && 'Firefox is neither on PATH nor to be had from apt' }, async () => {
  const at = await project('firefox', { 'main.js': pageSource("import { HudiTable } from 'hudi-wasm';") });
  const map = JSON.stringify({ imports: { 'hudi-wasm': '/package/js/entry/default.js' } });
  const page = `<!doctype html><meta charset="utf-8"><script type="importmap">${map}</script><script type="module" src="/main.js"></script>`;
  const profile = await mkdtemp(path.join(tmpdir(), 'hudi-firefox-'));
  /** @type {(body: string) => void} */
  let done = () => {};
  const result = /** @type {Promise<string>} */ (new Promise((resolve) => (done = resolve)));
  const site = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://h');
    if (request.method === 'POST') {
      const chunks = [];
      for await (const chunk of request) chunks.push(chunk);
      response.end();
      return done(Buffer.concat(chunks).toString());
    }
    if (pathname === '/') return void response.writeHead(200, { 'content-type': 'text/html' }).end(page);
    const file = pathname.startsWith('/package/') ? path.join(installed, pathname.slice('/package/'.length)) : path.join(at, pathname);
    const data = await readFile(file).catch(() => undefined);
    response.writeHead(data ? 200 : 404, { 'content-type': file.endsWith('.wasm') ? 'application/wasm' : 'text/javascript' }).end(data);
  });
  await new Promise((resolve) => site.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (site.address());
  const address = `http://127.0.0.1:${port}/?table=${encodeURIComponent(`${tables.origin}/${table}`)}`;
  const child = spawn(/** @type {string} */ (firefoxAt), ['--headless', '--no-remote', '--profile', profile, address], { stdio: 'ignore', detached: true, env: { ...process.env, HOME: profile } });
  try {
    const late = new Promise((_, reject) => setTimeout(() => reject(new Error('Firefox posted nothing within two minutes')), 120_000).unref());
    await checkIpc(String(await Promise.race([result, late])));
  } finally {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    site.close();
    site.closeAllConnections();
    await rm(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
});
