import { HudiError, invalid } from './errors.js';
import { callOptions } from './options.js';
import { HudiTable } from './table.js';

/**
 * @typedef {import('./index.d.ts').CallOptions} CallOptions
 * @typedef {import('./index.d.ts').OpenOptions} OpenOptions
 * @typedef {import('./index.d.ts').HudiTableBuilder} BuilderShape
 */

/**
 * Python's builder of a table.
 *
 * @implements {BuilderShape}
 */
export class HudiTableBuilder {
  #uri;
  /** @type {Record<string, string>} */
  #hudiOptions = {};
  /** @type {Record<string, string>} */
  #storageOptions = {};
  /** @type {OpenOptions['storage']} */
  #storage;

  /** @param {string | URL} uri */
  constructor(uri) {
    this.#uri = uri;
  }

  /** @param {string | URL} uri */
  static fromBaseUri(uri) {
    return new HudiTableBuilder(uri);
  }

  /** @param {string} key @param {string} value */
  withHudiOption(key, value) {
    return this.withHudiOptions({ [key]: value });
  }

  /** @param {Record<string, string>} options */
  withHudiOptions(options) {
    Object.assign(this.#hudiOptions, options);
    return this;
  }

  /** @param {string} key @param {string} value */
  withStorageOption(key, value) {
    return this.withStorageOptions({ [key]: value });
  }

  /** @param {Record<string, string>} options */
  withStorageOptions(options) {
    Object.assign(this.#storageOptions, options);
    return this;
  }

  /** @param {string} key @param {string} value */
  withOption(key, value) {
    return key.startsWith('hoodie.') ? this.withHudiOption(key, value) : this.withStorageOption(key, value);
  }

  /** @param {Record<string, string>} options */
  withOptions(options) {
    for (const [key, value] of Object.entries(options)) this.withOption(key, value);
    return this;
  }

  /** @param {NonNullable<OpenOptions['storage']>} storage */
  withStorage(storage) {
    this.#storage = storage;
    return this;
  }

  /** @param {CallOptions} [options] */
  async build(options = {}) {
    const keys = Object.keys(this.#storageOptions);
    if (this.#storage !== undefined && keys.length > 0) throw invalid('either withStorage() or storage options, not both');
    const storage = this.#storage ?? (keys.length > 0 ? s3Init(this.#storageOptions) : undefined);
    return HudiTable.open(this.#uri, { ...callOptions(options), hudiOptions: this.#hudiOptions, ...(storage && { storage }) });
  }
}

/**
 * The aws_* keys of object_store as a StorageInit.
 *
 * @param {Record<string, string>} given
 * @returns {import('./index.d.ts').StorageInit}
 */
function s3Init(given) {
  const options = Object.fromEntries(Object.entries(given).map(([key, value]) => [key.toLowerCase().replace(/^aws_/, ''), value]));
  const known = ['access_key_id', 'secret_access_key', 'session_token', 'region', 'default_region', 'endpoint', 'endpoint_url', 'virtual_hosted_style_request', 'skip_signature', 'allow_http'];
  const unknown = Object.keys(options).find((key) => !known.includes(key));
  if (unknown !== undefined) {
    throw new HudiError('UNSUPPORTED', `the storage option ${unknown} is not known`, { hint: 'Use withStorage() with a StorageInit.' });
  }
  const { access_key_id: accessKeyId, secret_access_key: secretAccessKey, session_token: sessionToken } = options;
  const region = options.region ?? options.default_region ?? 'us-east-1';
  const endpoint = options.endpoint ?? options.endpoint_url;
  const keys = accessKeyId !== undefined && secretAccessKey !== undefined;
  return {
    type: 's3',
    region,
    ...(endpoint !== undefined && { endpoint, forcePathStyle: options.virtual_hosted_style_request !== 'true' }),
    ...(options.skip_signature === 'true' && { anonymous: true }),
    ...(keys && { credentials: { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) } }),
  };
}
