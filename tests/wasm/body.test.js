// Bodies of some size, however a host hands them out: a properties file padded with comments is such a body.
import assert from 'node:assert/strict';
import { cp, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { Miniflare } from 'miniflare';
import { serve } from '../../scripts/lib/serve.mjs';
import { unpack } from './support/fixtures.js';
import { importBeside } from './support/packed.js';
import { workerModules } from './support/worker.js';

const name = 'v9_cow_simple';
/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
/** @type {string} */
let url;

before(async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'hudi-body-'));
  await cp(await unpack(name), folder, { recursive: true });
  const properties = path.join(folder, '.hoodie', 'hoodie.properties');
  const padding = `#${'-'.repeat(998)}\n`.repeat(3000);
  await writeFile(properties, `${padding}${await readFile(properties, 'utf8')}\n${padding}`);
  server = await serve(folder);
  url = server.origin;
});
after(() => server.close());

/** Opens the table while `respond` stands for the server's answer with the properties; it is given their bytes. */
async function check(/** @type {((bytes: Uint8Array, attempt: number) => ReadableStream | Uint8Array) | undefined} */ respond) {
  /** @type {typeof import('../../js/index.d.ts')} */
  const { HudiTable } = /** @type {any} */ (await importBeside("export * from 'hudi-wasm';"));
  let attempt = 0;
  const answer = async (/** @type {string} */ asked, /** @type {RequestInit | undefined} */ init) => {
    const response = await fetch(asked, init);
    if (respond === undefined || !asked.endsWith('hoodie.properties')) return response;
    const bytes = new Uint8Array(await response.arrayBuffer());
    attempt += 1;
    return new Response(/** @type {any} */ (respond(bytes, attempt)), { headers: { 'content-length': String(bytes.length) } });
  };
  const table = await HudiTable.open(url, { storage: { type: 'http', listing: { manifest: `${url}/hudi-manifest.json` }, fetch: answer } });
  assert.equal(table.tableName, name);
}

/** A stream of chunks of an odd size, which ends early on the first attempt if `broken`. */
function chunks(/** @type {Uint8Array} */ bytes, /** @type {object} */ kind, broken = false) {
  let at = 0;
  return new ReadableStream({
    ...kind,
    pull(controller) {
      if (broken && at > bytes.length / 2) return controller.error(new TypeError('the connection broke'));
      const chunk = bytes.slice(at, (at += 70_001));
      if (chunk.length > 0) controller.enqueue(chunk);
      if (at >= bytes.length) controller.close();
    },
  });
}

test('a large body comes whole from the network', () => check(undefined));

test('a large body comes whole from a stream of bytes', () => check((bytes) => chunks(bytes, { type: 'bytes' })));

test('a large body comes whole from a stream of values, which has no reader of bytes', () => check((bytes) => chunks(bytes, {})));

test('a large body that broke off is asked for again', async () => {
  await check((bytes, attempt) => chunks(bytes, { type: 'bytes' }, attempt === 1));
});

test('a large body comes whole in a Worker', async () => {
  const source = `import { HudiTable } from './hudi-wasm/js/entry/workerd.js';
    export default {
      async fetch(request) {
        const url = new URL(request.url).searchParams.get('table');
        const table = await HudiTable.open(url, { storage: { type: 'http', listing: { manifest: url + '/hudi-manifest.json' } } });
        return new Response(table.tableName);
      },
    };`;
  const worker = new Miniflare({ compatibilityDate: '2026-04-01', modules: await workerModules(source) });
  try {
    const answer = await worker.dispatchFetch(`http://worker/?table=${encodeURIComponent(url)}`);
    assert.equal(await answer.text(), name);
  } finally {
    await worker.dispose();
  }
});
