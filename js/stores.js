// From a storage option to what the engine takes: a custom ObjectStore, or the init of a kind that wasm itself speaks.
import { HudiError, invalid } from './errors.js';
import { memoryStore } from './memory_store.js';
import { checkKeys } from './options.js';
import { directoryStore } from './stores/directory.js';
import { folderLister } from './stores/lister.js';
import { sharedSigner } from './stores/presigned.js';
import { r2Store } from './stores/r2.js';

/**
 * @typedef {import('./index.d.ts').ObjectStore} ObjectStore
 * @typedef {import('./index.d.ts').StorageInit} StorageInit
 */

/** Keys of each kind of StorageInit. @type {Record<string, readonly string[]>} */
const kinds = {
  http: ['type', 'headers', 'fetch', 'listing'],
  s3: ['type', 'region', 'endpoint', 'forcePathStyle', 'anonymous', 'fetch', 'credentials', 'requestPayer', 'conditionalWrites'],
  's3-presigned': ['type', 'sign', 'fetch', 'conditionalWrites'],
  r2: ['type', 'bucket', 'prefix'],
  directory: ['type', 'handle'],
  file: ['type'],
  memory: ['type', 'files'],
};

/** The kind of storage that a URI's scheme means by itself. @type {Record<string, StorageInit['type']>} */
const schemes = { 'http:': 'http', 'https:': 'http', 's3:': 's3', 's3a:': 's3', 'file:': 'file' };

/**
 * Only where there is a file system; the Node entry sets it. `url` makes a path a URL.
 *
 * @type {{ open: (uri: string) => ObjectStore, url: (uri: string) => string } | undefined}
 */
let files;

/**
 * Says how this build of the package reaches local files.
 *
 * @param {NonNullable<typeof files>} given
 */
export function setFileStore(given) {
  files = given;
}

/**
 * What the engine opens: the table's URI, and the store or its init.
 *
 * @param {string | URL} given
 * @param {StorageInit | ObjectStore} [storage]
 * @returns {{ uri: string, storage: StorageInit | ObjectStore }}
 */
export function engineStore(given, storage) {
  const uri = baseUri(given);
  if (storage !== undefined && isStore(storage)) return { uri, storage };
  const init = /** @type {StorageInit} */ (storage ?? { type: usualKind(uri) });
  if (!Object.hasOwn(kinds, init?.type)) {
    throw invalid(`unknown kind of storage ${JSON.stringify(init?.type)}`, {
      hint: `Known are: ${Object.keys(kinds).join(', ')}, and any object with get() and list().`,
    });
  }
  checkKeys(init, kinds[init.type] ?? [], `${init.type} storage option`);
  const named = init.type === 'file' && files !== undefined ? files.url(uri) : uri;
  return { uri: named, storage: forEngine(uri, init) };
}

/**
 * Stores of this package become objects; of the others, what the engine leaves to JavaScript becomes functions.
 *
 * @param {string} uri
 * @param {StorageInit} init
 */
function forEngine(uri, init) {
  switch (init.type) {
    case 'memory':
    case 'file':
    case 'r2':
    case 'directory':
      return createObjectStore(uri, init);
    case 's3-presigned':
      return { ...init, sign: sharedSigner(init.sign) };
    case 'http': {
      const { listing } = init;
      if (listing !== 'autoindex' && listing !== 'webdav') return init;
      return { ...init, listing: /** @type {any} */ (folderLister(listing, uri, init)) };
    }
    default:
      return init;
  }
}

/** @type {typeof import('./index.d.ts').createObjectStore} */
export function createObjectStore(given, init) {
  const uri = baseUri(given);
  switch (init?.type) {
    case 'memory':
      return memoryStore(init.files);
    case 'r2':
      return r2Store(init.bucket, init.prefix ?? pathOf(uri));
    case 'directory':
      return directoryStore(init.handle);
    case 'file':
      if (files !== undefined) return files.open(uri);
      throw new HudiError('UNSUPPORTED', 'there are no local files here', { hint: 'Serve the table over http, or use storage of type memory.' });
    default:
      throw new HudiError('UNSUPPORTED', `a store of kind ${JSON.stringify(init?.type)} cannot be had by itself`, {
        hint: 'Give its options as `storage` to open().',
      });
  }
}

/** What a URI names behind its host: a table's place in a bucket. */
const pathOf = (/** @type {string} */ uri) => /^[a-z][a-z0-9+.-]*:\/\/[^/]*\/(.*)$/i.exec(uri)?.[1] ?? '';

/** The URI as text without slashes at its end. */
function baseUri(/** @type {unknown} */ given) {
  const text = given instanceof URL ? given.href : given;
  if (typeof text !== 'string' || text === '') throw invalid('the URI of a table is text or a URL');
  return text.replace(/(?<=[^:/])\/+$/, '');
}

/** @returns {StorageInit['type']} */
function usualKind(/** @type {string} */ uri) {
  // One letter before the colon is a Windows drive.
  const scheme = /^([a-z][a-z0-9+.-]+:)/i.exec(uri)?.[1]?.toLowerCase() ?? 'file:';
  const kind = schemes[scheme];
  if (kind === undefined) throw invalid(`no storage is known for ${scheme}`, { hint: 'Give the option `storage`.' });
  return kind;
}

function isStore(/** @type {StorageInit | ObjectStore} */ storage) {
  return typeof storage === 'object' && storage !== null && 'get' in storage && typeof storage.get === 'function';
}
