// The packed package as users' tools take it. The tools here are this project's own; those of others are in tests/long.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFile, readFile, symlink } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { build as esbuild } from 'esbuild';
import { createServer } from 'vite';
import { root } from '../../scripts/lib/run.mjs';
import { serve } from '../../scripts/lib/serve.mjs';
import { launch } from './support/chromium.js';
import { checkIpc, pageSource, project, table } from './support/consumer.js';
import { unpack } from './support/fixtures.js';
import { folder as installed } from './support/packed.js';

/** @type {Awaited<ReturnType<typeof serve>>} */
let tables;
/** @type {Awaited<ReturnType<typeof launch>>} */
let chromium;

before(async () => {
  tables = await serve(path.dirname(await unpack(table)));
  chromium = await launch();
});
after(async () => {
  await chromium.close();
  await tables.close();
});

/** Opens a page that reads the table, and holds its rows against Spark's. */
async function checkPage(/** @type {string} */ url) {
  const page = await chromium.newPage();
  const errors = /** @type {string[]} */ ([]);
  page.on('pageerror', (error) => errors.push(String(error)));
  await page.goto(`${url}?table=${encodeURIComponent(`${tables.origin}/${table}`)}`);
  // By looks at the title: Playwright's own waiting evaluates text, which a strict policy forbids.
  for (let left = 600; (await page.title()) !== 'done'; left -= 1) {
    assert.ok(left > 0, `the page did not end: ${errors}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const result = String(await page.evaluate('globalThis.result'));
  assert.ok(!result.startsWith('ERROR'), result);
  await checkIpc(result);
  await page.close();
}

const html = '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><title>app</title><script type="module" src="/main.js"></script>';
const imports = "import { HudiTable } from 'hudi-wasm';";
const inWorker = "import { createHudiWorker } from 'hudi-wasm/worker';";

for (const [module, resolution] of /** @type {const} */ ([['esnext', 'bundler'], ['node16', 'node16'], ['nodenext', 'nodenext']])) {
  test(`TypeScript takes the types, strictly, under ${resolution}`, async () => {
    const source = `
      import { HudiTable, HudiError, col, type HudiBatch, type OpenOptions } from 'hudi-wasm';
      import { init } from 'hudi-wasm/slim';
      import { createHudiWorker, type HudiWorker } from 'hudi-wasm/worker';
      const options: OpenOptions = { storage: { type: 's3-presigned', sign: ({ key }) => \`https://h/\${key}\` }, cache: { persistent: 'opfs' } };
      export async function read(uri: string): Promise<Uint8Array<ArrayBuffer>> {
        await init({ module: new URL('https://h/core.wasm') });
        const worker: HudiWorker = createHudiWorker();
        await using table: HudiTable = await worker.HudiTable.open(uri, options);
        for await (const batch of table.readStream({ filters: [col('a').gt(1n)] })) ((b: HudiBatch) => b.numRows)(batch);
        try {
          return (await table.read()).ipc;
        } catch (error) {
          if (HudiError.is(error, 'NETWORK')) throw new Error(error.hint);
          throw error;
        }
      }
      // @ts-expect-error: an option that nobody reads
      HudiTable.open('x', { odd: 1 });`;
    const folder = await project('types', {
      'main.ts': source,
      'tsconfig.json': JSON.stringify({
        compilerOptions: { target: 'es2022', module, moduleResolution: resolution, lib: ['es2022', 'esnext.disposable', 'dom'], types: [], strict: true, noEmit: true, skipLibCheck: false, exactOptionalPropertyTypes: true },
        files: ['main.ts'],
      }),
    });
    await promisify(execFile)(process.execPath, [path.join(root, 'node_modules/typescript/bin/tsc'), '-p', folder]).catch((error) => assert.fail(error.stdout));
  });
}

test('esbuild bundles a page whose wasm and worker are named explicitly', async () => {
  const folder = await project('esbuild', {
    'index.html': html,
    'app.js': pageSource("import { HudiTable, init } from 'hudi-wasm/slim';\nawait init({ module: '/core.wasm' });"),
    'worker.html': html.replace('main.js', 'worker-main.js'),
    'worker-app.js': pageSource(inWorker, "createHudiWorker({ module: '/core.wasm', worker: () => new Worker('/engine.js', { type: 'module' }) }).HudiTable"),
    'engine-app.js': "import 'hudi-wasm/worker/main.js';",
  });
  for (const [from, to] of [['app.js', 'main.js'], ['worker-app.js', 'worker-main.js'], ['engine-app.js', 'engine.js']]) {
    await esbuild({ entryPoints: [path.join(folder, from ?? '')], outfile: path.join(folder, to ?? ''), bundle: true, format: 'esm', logLevel: 'silent' });
  }
  await copyFile(path.join(installed, 'dist/core_bg.wasm'), path.join(folder, 'core.wasm'));
  const site = await serve(folder);
  try {
    await checkPage(`${site.origin}/index.html`);
    await checkPage(`${site.origin}/worker.html`);
  } finally {
    await site.close();
  }
});

test("Vite's dev server serves the package as it is, in the page and in a worker", async () => {
  const folder = await project('vite-dev', {
    'index.html': html,
    'main.js': pageSource(imports),
    'worker.html': html.replace('main.js', 'worker.js'),
    'worker.js': pageSource(inWorker, 'createHudiWorker().HudiTable'),
  });
  // As npm would lay it out: Vite serves only what lies in the project.
  await symlink(path.join(installed, '..'), path.join(folder, 'node_modules'));
  const server = await createServer({ root: folder, configFile: false, logLevel: 'silent', server: { host: '127.0.0.1', port: 0, fs: { allow: [path.join(installed, '../..')] } } });
  try {
    await server.listen();
    const [address = ''] = server.resolvedUrls?.local ?? [];
    await checkPage(`${address}index.html`);
    await checkPage(`${address}worker.html`);
  } finally {
    await server.close();
  }
});

test('an import map under a policy without eval is enough', async () => {
  const strict = await readFile(path.join(root, 'tests/wasm/support/strict.html'), 'utf8');
  assert.match(strict, /script-src 'self' 'nonce-map' 'wasm-unsafe-eval'/);
  const source = strict.replace('</script>', '</script>\n<script type="module" src="main.js"></script>').replaceAll('/tests/out/packed/node_modules/hudi-wasm', '/node_modules/hudi-wasm');
  const folder = await project('import-map', { 'index.html': source, 'main.js': pageSource(imports) });
  await symlink(path.join(installed, '..'), path.join(folder, 'node_modules'));
  const site = await serve(folder);
  try {
    await checkPage(`${site.origin}/index.html`);
  } finally {
    await site.close();
  }
});
