// The same folder over S3: Spark works on the files, and we read them through s3s-fs, which checks every signature.
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { credentials, region, s3Server } from '../../scripts/lib/s3_server.mjs';

/** The bucket that stands for the folder of a table. */
const bucket = 'lake';

/**
 * Runs a scenario whose reads of ours go over S3.
 *
 * @param {(sides: import('./scenarios.js').Sides) => Promise<import('./scenarios.js').Outcome>} run
 * @returns {(sides: import('./scenarios.js').Sides) => Promise<import('./scenarios.js').Outcome>}
 */
export function overS3(run) {
  return async ({ spark, ours }) => {
    const buckets = await mkdtemp(path.join(tmpdir(), 'hudi-buckets-'));
    const server = await s3Server(buckets);
    const storage = /** @type {const} */ ({ type: 's3', region, endpoint: server.endpoint, forcePathStyle: true, credentials });
    try {
      return await run({ spark, ours: ours.elsewhere((table) => served(buckets, table), { storage }) });
    } finally {
      await server.close();
      await rm(buckets, { recursive: true });
    }
  };
}

/** The URI of a table whose folder's folder is the bucket. @param {string} buckets @param {string} table */
async function served(buckets, table) {
  const link = path.join(buckets, bucket);
  await rm(link, { force: true });
  await symlink(path.dirname(table), link);
  return `s3://${bucket}/${path.basename(table)}`;
}
