// The S3 server of tests: s3s-fs over a folder, whose folders are its buckets. It checks signatures and knows no CORS.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { toolFolders } from './run.mjs';

/** What the server asks to be signed with; any region will do. */
export const credentials = { accessKeyId: 'AKIDTEST', secretAccessKey: 'secret/with+signs=' };
export const region = 'eu-test-1';

/**
 * Serves the folders of `root` as buckets, until closed.
 *
 * @param {string} root
 * @returns {Promise<{ endpoint: string, close: () => Promise<void> }>}
 */
export async function s3Server(root) {
  const binary = path.join((await toolFolders())['s3s-fs'], 'bin', 's3s-fs');
  const keys = ['--access-key', credentials.accessKeyId, '--secret-key', credentials.secretAccessKey];
  const child = spawn(binary, ['--host', '127.0.0.1', '--port', '0', ...keys, root], {
    env: { ...process.env, RUST_LOG: 's3s_fs=info', NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  const endWithUs = () => child.kill('SIGKILL');
  process.once('exit', endWithUs);
  const endpoint = await new Promise((resolve, reject) => {
    let said = '';
    const hear = (/** @type {Buffer} */ chunk) => {
      said = (said + chunk).slice(-20_000);
      const found = /server is running at (http:\/\/[\d.:]+)/.exec(said)?.[1];
      if (found !== undefined) resolve(found);
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    child.once('error', reject);
    child.once('close', (code) => reject(new Error(`s3s-fs ended with code ${code}: ${said}`)));
  });
  return {
    endpoint,
    async close() {
      process.removeListener('exit', endWithUs);
      child.kill('SIGKILL');
      await ended;
    },
  };
}
