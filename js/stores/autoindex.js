// The pages that nginx, Apache and Python's http.server make of a folder.
import { isName, noListing, refusedFolder } from './lister.js';

/** What the three begin with; any other page is somebody's own, and its links are not the folder's files. */
const title = /<title>\s*(?:Index of|Directory listing for) /i;

/** @type {import('./lister.js').ReadPage} */
export async function autoindexPage(url, ask) {
  const response = await ask({ method: 'GET', cache: 'no-cache' });
  if (response.status === 404) return undefined;
  if (!response.ok) throw refusedFolder(response.status);
  return parsePage(await response.text(), response.url || url);
}

/**
 * Files and folders that a page shows. Sizes are left out, since they are rounded or missing, and so are names that begin
 * with a dot, since some servers hide them: both would differ by server.
 *
 * @param {string} html
 * @param {string} url of the page
 * @returns {import('./lister.js').Page}
 */
export function parsePage(html, url) {
  const path = new URL(url).pathname;
  if (!title.test(html)) throw noListing(path, 'its page is not a listing of nginx, Apache or Python');
  if (!/<\/html>\s*$/i.test(html)) throw Object.assign(new Error('the page of a folder ended early'), { code: 'NETWORK' });
  const here = path.endsWith('/') ? path : `${path}/`;
  const [files, folders] = [new Set(), new Set()];
  for (const [, quoted, single] of html.matchAll(/<a\s[^>]*?href\s*=\s*(?:"([^"]*)"|'([^']*)')/gi)) {
    const target = targetOf(unescaped(quoted ?? single ?? ''), url);
    if (target === undefined || target.search !== '' || !target.pathname.startsWith(here)) continue;
    const rest = target.pathname.slice(here.length);
    const name = decoded(rest.replace(/\/$/, ''));
    if (name === undefined || !isName(name)) {
      if (rest !== '') throw noListing(path, 'a link on its page is not a name');
      continue;
    }
    if (!name.startsWith('.')) (rest.endsWith('/') ? folders : files).add(name);
  }
  return { files: [...files].map((name) => ({ name, size: 0 })), folders: [...folders] };
}

/** A link of another origin, or none, is no entry. */
function targetOf(/** @type {string} */ href, /** @type {string} */ url) {
  try {
    const target = new URL(href, url);
    return target.origin === new URL(url).origin ? target : undefined;
  } catch {
    return undefined;
  }
}

function decoded(/** @type {string} */ text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** @type {Record<string, string>} */
const named = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** Text of HTML or XML, its references resolved. */
export const unescaped = (/** @type {string} */ text) =>
  text.replace(/&(?:#x([0-9a-f]+)|#(\d+)|(amp|lt|gt|quot|apos));/gi, (_, hex, decimal, name) =>
    name === undefined ? String.fromCodePoint(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)) : (named[name.toLowerCase()] ?? ''),
  );
