// Walks the folders of a server that shows one at a time, for the engine's listing of a web folder.
import { HudiError } from '../errors.js';
import { autoindexPage } from './autoindex.js';
import { webdavFolder } from './webdav.js';

/**
 * @typedef {import('../index.d.ts').ObjectMeta} ObjectMeta
 * @typedef {{ files: { name: string, size: number, etag?: string }[], folders: string[] }} Page names without folders
 * @typedef {(url: string, ask: (init: RequestInit) => Promise<Response>) => Promise<Page | undefined>} ReadPage
 *   undefined where the server says that there is no such folder
 * @typedef {{ headers?: HeadersInit | (() => HeadersInit | Promise<HeadersInit>), fetch?: import('../index.d.ts').Fetch }} Http
 */

/** Folders asked for at once. */
const parallel = 6;
/** Folders below one another; a server that shows a folder inside itself ends here. */
const deepest = 32;

/** How each kind reads a folder, and what the engine may count on: `names` has no sizes and no names with a dot in front. */
const kinds = /** @type {const} */ ({
  autoindex: { read: autoindexPage, lists: 'names' },
  webdav: { read: webdavFolder, lists: 'levels' },
});

/**
 * A function that lists the folder at `uri`. It throws LIST_NOT_SUPPORTED where the server shows no listing, rather than
 * to take an unseen folder for an empty one.
 *
 * @param {keyof typeof kinds} kind
 * @param {string} uri
 * @param {Http} http
 */
export function folderLister(kind, uri, { headers, fetch: own }) {
  const { read, lists } = kinds[kind];
  const base = new URL(uri);
  base.hash = '';

  const urlOf = (/** @type {string} */ folder) => {
    const url = new URL(base);
    const path = folder.split('/').map(encodeURIComponent).join('/');
    url.pathname = `${base.pathname.replace(/\/+$/, '')}/${path}`;
    return url.href;
  };

  /** @param {string} folder empty, or with a slash at its end @param {AbortSignal | undefined} signal */
  const page = async (folder, signal) => {
    const send = own ?? fetch;
    const given = new Headers(typeof headers === 'function' ? await headers() : headers);
    return read(urlOf(folder), (init) => {
      const all = new Headers(init.headers);
      given.forEach((value, name) => all.set(name, value));
      return send(urlOf(folder), { ...init, headers: Object.fromEntries(all), ...(signal && { signal }) });
    });
  };

  /** A folder that is absent is empty only if the server shows the one above it, and does not name it there. */
  const shown = async (/** @type {string} */ folder, /** @type {AbortSignal | undefined} */ signal) => {
    const found = await page(folder, signal);
    if (found !== undefined) return found;
    const above = folder.replace(/[^/]+\/$/, '');
    const name = folder.slice(above.length, -1);
    if (folder === '' || (await shown(above, signal)).folders.includes(name)) throw noListing(folder, 'the server says 404 for this folder');
    return { files: [], folders: [] };
  };

  const list = async function* (/** @type {string} */ prefix, /** @type {{ delimiter?: '/', signal?: AbortSignal }} */ { delimiter, signal }) {
    const wave = [prefix];
    for (let depth = 0; wave.length > 0; depth += 1) {
      if (depth > deepest) throw noListing(prefix, 'folders nest too deeply');
      const folders = wave.splice(0);
      for (let at = 0; at < folders.length; at += parallel) {
        const some = folders.slice(at, at + parallel);
        const pages = await Promise.all(some.map((folder) => shown(folder, signal)));
        for (const [i, { files, folders: below }] of pages.entries()) {
          for (const { name, ...rest } of files) yield { path: `${some[i]}${name}`, ...rest };
          if (delimiter !== undefined) for (const name of below) yield { prefix: `${some[i]}${name}/` };
          else wave.push(...below.map((name) => `${some[i]}${name}/`));
        }
      }
    }
  };
  return Object.assign(list, { lists });
}

/** @param {string} path @param {string} why */
export const noListing = (path, why) =>
  new HudiError('LIST_NOT_SUPPORTED', `the server lists no folder here: ${why}`, {
    context: { path },
    hint: 'Turn the listing on at the server, or give `listing: { manifest }`: npm run manifest -- <folder> writes one.',
  });

/** The error of a status that is neither a listing nor "no such folder". @param {number} status */
export function refusedFolder(status) {
  const later = status === 429 || status >= 500;
  return Object.assign(new Error(`the server answered ${status} for a folder`), { status, ...(later ? {} : { hint: 'The server may forbid listings.' }) });
}

/** A name that a folder may hold, and no path out of it. @param {string} name */
export const isName = (name) => name !== '' && name !== '.' && name !== '..' && !name.includes('/') && !name.includes('\0');
