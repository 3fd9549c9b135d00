// AWS Signature Version 4 in the query, as a server that hands out addresses makes it: the test's own, over Node's crypto.
import { createHash, createHmac } from 'node:crypto';

const strict = (/** @type {string} */ text) => encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
const hmac = (/** @type {string | Buffer} */ key, /** @type {string} */ text) => createHmac('sha256', key).update(text).digest();

/**
 * @param {{ endpoint: string, bucket: string, region: string, credentials: { accessKeyId: string, secretAccessKey: string }, expires?: number, at?: Date }} place
 *   `expires` in seconds
 * @param {{ method: string, key: string, query?: Readonly<Record<string, string>>, headers?: Readonly<Record<string, string>> }} request
 */
export function presign({ endpoint, bucket, region, credentials, expires = 300, at = new Date() }, { method, key, query = {}, headers = {} }) {
  const time = at.toISOString().replace(/[-:]|\.\d+/g, '');
  const scope = `${time.slice(0, 8)}/${region}/s3/aws4_request`;
  const { host } = new URL(endpoint);
  const signed = Object.entries({ ...headers, host }).map(([name, value]) => [name.toLowerCase(), value]).sort();
  const names = signed.map(([name]) => name).join(';');
  const all = {
    ...query,
    'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
    'X-Amz-Credential': `${credentials.accessKeyId}/${scope}`,
    'X-Amz-Date': time,
    'X-Amz-Expires': String(expires),
    'X-Amz-SignedHeaders': names,
  };
  const pairs = Object.entries(all).map(([name, value]) => `${strict(name)}=${strict(value)}`).sort().join('&');
  const path = `/${bucket}/${key.split('/').map(strict).join('/')}`;
  const canonical = [method === 'LIST' ? 'GET' : method, path, pairs, ...signed.map(([name, value]) => `${name}:${value}`), '', names, 'UNSIGNED-PAYLOAD'].join('\n');
  const text = ['AWS4-HMAC-SHA256', time, scope, createHash('sha256').update(canonical).digest('hex')].join('\n');
  const secret = ['aws4_request', 's3', region, time.slice(0, 8)].reduceRight((made, part) => hmac(made, part), /** @type {string | Buffer} */ (`AWS4${credentials.secretAccessKey}`));
  return `${endpoint}${path}?${pairs}&X-Amz-Signature=${createHmac('sha256', secret).update(text).digest('hex')}`;
}
