// Hudi's storage-based lock over an S3 server: Spark's own provider and a holder of ours keep each other out. The race of two writers
// under it needs a writer of ours; this holds the lock itself, on both sides, to what each expects of the other.
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { credentials, region, s3Server } from '../../scripts/lib/s3_server.mjs';
import { faultProxy } from '../wasm/support/fault_proxy.js';
import { StorageLock } from './lib/storage_lock.js';

const [bucket, table] = ['lake', 'locked'];

/** Hudi's options for a Spark writer under the lock, which gives up soon. @param {string} endpoint */
const options = (endpoint) => ({
  'hoodie.write.concurrency.mode': 'optimistic_concurrency_control',
  'hoodie.clean.failed.writes.policy': 'LAZY',
  'hoodie.write.lock.provider': 'parity.lock.BucketLockProvider',
  'hoodie.write.lock.num_retries': '1',
  'hoodie.write.lock.wait_time_ms': '2000',
  'hoodie.write.lock.client.num_retries': '1',
  'hoodie.write.lock.client.wait_time_ms_between_retry': '100',
  'hoodie.test.lock.endpoint': endpoint,
  'hoodie.test.lock.base': `s3a://${bucket}/${table}`,
  'hoodie.test.lock.region': region,
  'hoodie.test.lock.access': credentials.accessKeyId,
  'hoodie.test.lock.secret': credentials.secretAccessKey,
});

/** @param {import('./scenarios.js').Sides} sides @returns {Promise<import('./scenarios.js').Outcome>} */
export async function storageLock({ spark, ours }) {
  const buckets = await mkdtemp(path.join(tmpdir(), 'hudi-buckets-'));
  await mkdir(path.join(buckets, bucket));
  const server = await s3Server(buckets);
  const proxy = await faultProxy(server.endpoint);
  proxy.inTurn = true;
  const place = { endpoint: proxy.origin, bucket, region, credentials };
  /** @type {string[]} */
  const problems = [];
  let checks = 0;
  const check = (/** @type {boolean} */ good, /** @type {string} */ what) => {
    checks += 1;
    if (!good) problems.push(what);
  };
  const write = (/** @type {number} */ id) =>
    spark.ask('write', { name: table, rows: [[id, `n${id}`, id + 0.5, id]], options: options(proxy.origin) });
  try {
    const [mine, theirs] = [new StorageLock(place, table), new StorageLock(place, table)];
    const { path: folder } = await write(1);
    const left = await mine.read();
    check(left?.data.expired === true, `Spark leaves the lock held: ${left?.text}`);
    const form = /^\{"expired":true,"validUntil":\d{13},"owner":"[0-9a-f-]{36}"\}$/;
    check(form.test(left?.text ?? ''), `Spark writes the lock as ${left?.text}`);
    check(await mine.acquire(), 'a lock that Spark gave up was not had');
    check(!(await theirs.acquire()), 'a second holder had a lock that is held');
    const refused = await write(2).then(() => 'it wrote', (/** @type {Error} */ error) => error.message);
    check(/lock/i.test(refused), `Spark is not kept out by our lock: ${refused}`);
    check((await mine.read())?.data.owner === mine.owner, 'Spark replaced a lock that we hold');
    check(await mine.renew(), 'our lock was lost');
    check(await mine.release(), 'our lock could not be given up');
    await write(3);
    const racers = Array.from({ length: 8 }, () => new StorageLock(place, table));
    const won = await Promise.all(racers.map((racer) => racer.acquire()));
    check(won.filter(Boolean).length === 1, `${won.filter(Boolean).length} of 8 that raced had the lock`);
    check((await racers[won.indexOf(true)]?.release()) === true, 'the winner lost the lock');
    // Whoever dies with the lock loses it when its time, and the drift of clocks, are over.
    check(await theirs.acquire(2000), 'a lock that was given up was not had');
    check(!(await mine.acquire()), 'a lock was had before its time was over');
    await new Promise((resolve) => setTimeout(resolve, 2600));
    await write(4);
    const answer = await ours.read(folder, { queryType: 'snapshot' });
    const ids = 'rows' in answer ? answer.rows.map(({ id }) => id).sort() : answer.message;
    check(JSON.stringify(ids) === '[1,3,4]', `the table holds ${JSON.stringify(ids)}, not what was written under the lock`);
    return { queries: checks, problems };
  } finally {
    await proxy.close();
    await server.close();
    await rm(buckets, { recursive: true });
  }
}
