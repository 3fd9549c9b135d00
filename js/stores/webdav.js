// A folder of a WebDAV server, by PROPFIND.
import { unescaped } from './autoindex.js';
import { isName, noListing, refusedFolder } from './lister.js';

const wanted = '<?xml version="1.0" encoding="utf-8"?><propfind xmlns="DAV:"><prop><resourcetype/><getcontentlength/><getetag/></prop></propfind>';

/** @type {import('./lister.js').ReadPage} */
export async function webdavFolder(url, ask) {
  const headers = { depth: '1', 'content-type': 'application/xml' };
  const response = await ask({ method: 'PROPFIND', headers, body: wanted });
  if (response.status === 404) return undefined;
  if (response.status === 401 || response.status === 403 || response.status === 429 || response.status >= 500) throw refusedFolder(response.status);
  if (response.status !== 207) throw noListing(new URL(url).pathname, `it answered ${response.status} to PROPFIND`);
  return parseAnswer(await response.text(), url);
}

/**
 * What a multi-status answer says of a folder. Prefixes of namespaces are the server's choice, so they are passed over.
 *
 * @param {string} xml
 * @param {string} url of the folder
 * @returns {import('./lister.js').Page}
 */
export function parseAnswer(xml, url) {
  const broken = (/** @type {string} */ what) => Object.assign(new Error(`the server's answer to PROPFIND ${what}`), { code: 'NETWORK' });
  const all = inside(xml, 'multistatus')[0];
  if (all === undefined) throw broken('is no whole multistatus');
  const here = folderPath(decodeURIComponent(new URL(url).pathname));
  /** @type {import('./lister.js').Page} */
  const page = { files: [], folders: [] };
  for (const response of inside(all, 'response')) {
    const href = inside(response, 'href')[0];
    if (href === undefined) throw broken('has a response without href');
    const path = decodeURIComponent(new URL(unescaped(href).trim(), url).pathname);
    if (folderPath(path) === here) continue;
    const name = path.startsWith(here) ? path.slice(here.length).replace(/\/$/, '') : '';
    if (!isName(name)) throw broken('names something outside of its folder');
    // A property that the server does not know stands in a propstat of status 404.
    const properties = inside(response, 'propstat').filter((part) => /^\S+\s+200\b/.test(inside(part, 'status')[0]?.trim() ?? ''));
    const text = (/** @type {string} */ tag) => properties.flatMap((part) => inside(part, tag))[0];
    if (properties.some((part) => inside(part, 'resourcetype').some((type) => /<(?:[\w.-]+:)?collection\b/.test(type)))) {
      page.folders.push(name);
      continue;
    }
    const [length, etag] = [text('getcontentlength')?.trim(), text('getetag')];
    if (!/^\d+$/.test(length ?? '')) throw noListing(here, 'it gives no getcontentlength');
    page.files.push({ name, size: Number(length), ...(etag && { etag: unescaped(etag).trim() }) });
  }
  return page;
}

const folderPath = (/** @type {string} */ path) => path.replace(/\/*$/, '/');

/** What stands in each element of a local name, these not nested in one another. @param {string} xml @param {string} name */
function inside(xml, name) {
  const element = new RegExp(`<((?:[\\w.-]+:)?)${name}(?:\\s[^>]*)?>([\\s\\S]*?)</\\1${name}\\s*>`, 'g');
  return [...xml.matchAll(element)].map(([, , content = '']) => content);
}
