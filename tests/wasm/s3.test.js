// Tables in buckets: s3s-fs serves the folders of tests/data and checks every signature; a proxy before it adds CORS and counts.
import assert from 'node:assert/strict';
import { cp, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { credentials, region, s3Server } from '../../scripts/lib/s3_server.mjs';
import { root } from '../../scripts/lib/run.mjs';
import { faultsOf } from './support/ask.js';
import { faultProxy } from './support/fault_proxy.js';
import { recorded, unpack } from './support/fixtures.js';
import { importBeside } from './support/packed.js';
import { withPackage } from './support/pages.js';
import { presign } from './support/sign.js';

/** @type {typeof import('../../js/index.d.ts')} */
const hudi = /** @type {any} */ (await importBeside("export * from 'hudi-wasm';"));
const code = (/** @type {any} */ wanted) => (/** @type {unknown} */ error) => hudi.HudiError.is(error, wanted);

/** Keys of every character that a signature, a query or XML escapes in its own way. */
const oddFolder = 'a+b/a b/k=v/a&b/c%2Fd/ü';
const tables = ['v9_cow_all_types', 'v9_cow_partition_types', 'v6_cow_parts', 'v9_cow_cdc'];
const [simple = ''] = tables;
/** Three partitions and a metadata table. */
const parts = 'v9_cow_hive_parts';

/** @type {string} */
let buckets;
/** @type {Awaited<ReturnType<typeof s3Server>>} */
let server;
/** @type {Awaited<ReturnType<typeof faultProxy>>} */
let proxy;

before(async () => {
  buckets = await mkdtemp(path.join(tmpdir(), 'hudi-buckets-'));
  for (const name of [...tables, parts]) await unpack(name);
  await symlink(path.dirname(await unpack(simple)), path.join(buckets, 'lake'));
  await cp(await unpack(simple), path.join(buckets, 'odd', oddFolder, 't'), { recursive: true });
  server = await s3Server(buckets);
  proxy = await faultProxy(server.endpoint);
});
beforeEach(() => proxy.reset());
after(async () => {
  await proxy.close();
  await server.close();
  await rm(buckets, { recursive: true });
});

const s3 = () => /** @type {const} */ ({ type: 's3', region, endpoint: proxy.origin, credentials });
const place = (/** @type {string} */ bucket) => ({ endpoint: proxy.origin, bucket, region, credentials });

/** Signs each request by the test's own code, and keeps what it was asked for. */
function signer(/** @type {string} */ bucket, /** @type {number} */ expires = 300) {
  const asked = /** @type {import('../../js/index.d.ts').SignRequest[]} */ ([]);
  const sign = async (/** @type {import('../../js/index.d.ts').SignRequest} */ request) => {
    asked.push(request);
    return presign({ ...place(bucket), expires }, request);
  };
  return { asked, storage: /** @type {const} */ ({ type: 's3-presigned', sign }) };
}

test('tables in a bucket give the rows of Spark, signed in headers', async () => {
  for (const name of tables) assert.deepEqual(await faultsOf(hudi, `s3://lake/${name}`, { storage: s3() }, await recorded(name)), []);
  assert.ok(proxy.log.every(({ headers }) => headers.authorization?.startsWith('AWS4-HMAC-SHA256 ')));
});

test('tables in a bucket give the rows of Spark by addresses that somebody signs', async () => {
  for (const name of tables) {
    const { asked, storage } = signer('lake');
    assert.deepEqual(await faultsOf(hudi, `s3://lake/${name}`, { storage }, await recorded(name)), []);
    const methods = new Set(asked.map(({ method }) => method));
    assert.deepEqual([...methods].sort(), ['GET', 'LIST']);
    assert.ok(asked.every(({ key, method, headers }) => (method === 'LIST' ? key === '' : key.startsWith(`${name}/`)) && Object.keys(headers).length === 0));
    const objects = asked.filter(({ method }) => method === 'GET').map(({ key }) => key);
    assert.equal(new Set(objects).size, objects.length, 'an object was signed twice within the life of its address');
  }
  assert.ok(proxy.log.every(({ method, headers }) => method === 'GET' && headers.authorization === undefined));
});

test('the first batch of a partitioned table in a bucket takes eight requests and one for each log of the index, in five rounds; the next read none', async () => {
  const listing = await readdir(path.join(await unpack(parts), '.hoodie/metadata/files'));
  const logs = listing.filter((file) => file.startsWith('.files')).length;
  assert.ok(logs > 0);
  const first = async (/** @type {import('../../js/index.d.ts').HudiTable} */ table) => {
    for await (const batch of table.readStream()) return batch.numRows;
    return 0;
  };
  const delay = 60;
  for (const storage of [s3(), signer('lake').storage]) {
    proxy.reset();
    const arrived = /** @type {number[]} */ ([]);
    proxy.fault = () => {
      arrived.push(performance.now());
      return { delay };
    };
    const table = await hudi.HudiTable.open(`s3://lake/${parts}`, { storage });
    const { metrics, numRows } = await table.read({ limit: 1 });
    assert.deepEqual([metrics.listing.source, numRows], ['metadata-table', 1]);
    assert.ok(proxy.log.length <= 8 + logs, proxy.asked.join('\n'));
    // What comes later than the answer to another is taken to have waited for it.
    let [rounds, end] = [0, 0];
    for (const at of arrived) if (at >= end) [rounds, end] = [rounds + 1, at + delay];
    assert.ok(rounds <= 5, `${rounds} rounds: ${proxy.asked.join(', ')}`);
    console.log(`# ${storage.type}: ${proxy.log.length} requests in ${rounds} rounds, ${logs} logs of the index`);
    await table.read();
    proxy.log = [];
    assert.ok((await first(table)) > 0);
    assert.deepEqual(proxy.asked, []);
    assert.ok((await first(await table.refresh())) > 0);
    assert.ok(proxy.log.length <= 2, proxy.asked.join('\n'));
  }
});

test('keys with plus, space, equals sign, ampersand, percent and more are found and signed', async () => {
  const queries = await recorded(simple);
  assert.deepEqual(await faultsOf(hudi, `s3://odd/${oddFolder}/t`, { storage: s3() }, queries), []);
  assert.deepEqual(await faultsOf(hudi, `s3://odd/${oddFolder}/t`, { storage: signer('odd').storage }, queries), []);
});

test('a wrong secret and no signature are UNAUTHORIZED, and say nothing of the secret', async () => {
  const wrong = { ...s3(), credentials: { ...credentials, secretAccessKey: 'another/secret' } };
  await assert.rejects(hudi.HudiTable.open(`s3://lake/${simple}`, { storage: wrong }), (/** @type {any} */ error) => {
    assert.ok(code('UNAUTHORIZED')(error));
    assert.equal(error.context.code, 'SignatureDoesNotMatch');
    assert.ok(!JSON.stringify([error.message, error.context, String(error.cause)]).includes('another/secret'));
    return true;
  });
  const anonymous = /** @type {const} */ ({ type: 's3', region, endpoint: proxy.origin, anonymous: true });
  await assert.rejects(hudi.HudiTable.open(`s3://lake/${simple}`, { storage: anonymous }), code('UNAUTHORIZED'));
});

test('an address that ends is signed anew, and one that is refused is signed once more', async () => {
  const short = signer('lake', 4);
  const table = await hudi.HudiTable.open(`s3://lake/${simple}`, { storage: short.storage });
  await table.read();
  const before = short.asked.length;
  await new Promise((resolve) => setTimeout(resolve, 2200));
  await (await table.refresh()).read();
  assert.ok(short.asked.length > before);
  assert.ok(proxy.log.every(({ status }) => status < 400), 'an address was used after its end');
  proxy.reset();
  const revoked = signer('lake');
  const again = await hudi.HudiTable.open(`s3://lake/${simple}`, { storage: revoked.storage });
  proxy.fault = ({ path, nth }) => (path.endsWith('hoodie.properties') && nth === 2 ? { status: 403, body: '<Error><Code>AccessDenied</Code></Error>' } : undefined);
  assert.ok((await (await again.refresh()).read()).numRows > 0);
  assert.equal(revoked.asked.filter(({ key }) => key.endsWith('hoodie.properties')).length, 2);
  proxy.fault = () => ({ status: 403, body: '<Error><Code>AccessDenied</Code></Error>' });
  await assert.rejects(again.refresh(), code('UNAUTHORIZED'));
});

test('a signer that fails is UNAUTHORIZED without its words, and one that gives no URL is INVALID_ARGUMENT', async () => {
  const open = (/** @type {any} */ sign) => hudi.HudiTable.open('s3://lake/t', { storage: { type: 's3-presigned', sign } });
  await assert.rejects(open(() => Promise.reject(new Error('key of the house'))), (/** @type {any} */ error) => {
    return code('UNAUTHORIZED')(error) && !`${error.message}${error.cause}`.includes('house');
  });
  await assert.rejects(open(() => 'ftp://h/x'), code('INVALID_ARGUMENT'));
  await assert.rejects(open(undefined), code('INVALID_ARGUMENT'));
});

test('a page signs in the address: no preflight, no HEAD, and the rows of Spark', async () => {
  await withPackage(root, async (page) => {
    for (const [kind, name] of tables.map((name) => /** @type {const} */ (['s3', name]))) {
      assert.deepEqual(await page.faults(`s3://lake/${name}`, { storage: { ...s3(), type: kind } }, await recorded(name)), []);
    }
    assert.deepEqual(await page.faults(`s3://odd/${oddFolder}/t`, { storage: s3() }, await recorded(simple)), []);
  });
  assert.deepEqual([...new Set(proxy.log.map(({ method }) => method))], ['GET']);
  assert.ok(proxy.log.every(({ headers, status }) => headers.authorization === undefined && status < 300));
});

test('a page reads by addresses that its server signs', async () => {
  await withPackage(root, async (page) => {
    await page.page.exposeFunction('signOutside', (/** @type {any} */ request) => presign(place('lake'), request));
    assert.deepEqual(await page.faults(`s3://lake/${simple}`, { storage: { type: 's3-presigned', sign: 'signOutside' } }, await recorded(simple)), []);
  });
  assert.deepEqual([...new Set(proxy.log.map(({ method }) => method))], ['GET']);
});

test('a page that the bucket does not allow is told the very rule', async () => {
  proxy.cors = { allowed: false };
  await withPackage(root, async (page, origin) => {
    const error = await page.openError(`s3://lake/${simple}`, { storage: s3() });
    assert.deepEqual([error.code, error.retryable], ['NETWORK', true]);
    const rule = JSON.parse(/\[\{.*\}\]/.exec(error.hint)?.[0] ?? '');
    assert.deepEqual(rule, [{ AllowedOrigins: [origin], AllowedMethods: ['GET'], AllowedHeaders: ['range'], ExposeHeaders: ['Content-Range', 'ETag'] }]);
    assert.ok(!JSON.stringify(error).includes('Signature'));
  });
});
