// A web server that shows folders as nginx, Apache and Python do, or by PROPFIND; js/stores/listings.test.js has their own pages.
import { readFile, readdir, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';

/** 'none' answers 404 for a folder, 'page' the same page for each, 'forbidden' 403. @typedef {'nginx' | 'apache' | 'python' | 'none' | 'page' | 'forbidden'} Style */

const escaped = (/** @type {string} */ text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
/** Apache leaves these as they are, the others escape all. */
const links = {
  nginx: (/** @type {string} */ name) => encodeURIComponent(name).replaceAll("'", '%27'),
  python: (/** @type {string} */ name) => encodeURIComponent(name).replaceAll("'", '%27'),
  apache: (/** @type {string} */ name) => `${/^[^/]*:/.test(name) ? './' : ''}${escaped(encodeURIComponent(name).replace(/%(3A|3B|26|2B|3D|40|24|2C)/g, (c) => decodeURIComponent(c)))}`,
};

/**
 * @param {string} top
 * @returns {Promise<{ origin: string, style: Style, asked: number, close: () => Promise<void> }>} `asked` counts requests
 */
export async function folderServer(top) {
  const state = { origin: '', style: /** @type {Style} */ ('nginx'), asked: 0, close: () => closed() };
  const server = createServer((request, response) => {
    state.asked += 1;
    answer(top, state.style, request, response).catch((error) => response.writeHead(error.code === 'ENOENT' || error.code === 'ENOTDIR' ? 404 : 500).end());
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  state.origin = `http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}`;
  const closed = () =>
    new Promise((resolve) => {
      server.close(() => resolve(undefined));
      server.closeAllConnections();
    }).then(() => {});
  return state;
}

/** @param {string} top @param {Style} style @param {import('node:http').IncomingMessage} request @param {import('node:http').ServerResponse} response */
async function answer(top, style, request, response) {
  const { pathname } = new URL(request.url ?? '/', 'http://h');
  const name = path.join(top, decodeURIComponent(pathname));
  const dav = request.method === 'PROPFIND';
  if (dav && (style === 'none' || style === 'page')) return void response.writeHead(style === 'none' ? 405 : 200).end();
  const info = await stat(name);
  if (!info.isDirectory()) return sendFile(name, request, response);
  if (dav) return void response.writeHead(207, { 'content-type': 'application/xml' }).end(await propfind(name, pathname));
  if (style === 'none' || style === 'forbidden') return void response.writeHead(style === 'none' ? 404 : 403).end();
  if (style === 'page') return void response.writeHead(200).end('<!doctype html><html><title>Tables</title><a href="a/">a</a></html>');
  response.writeHead(200, { 'content-type': 'text/html' }).end(await page(name, pathname, style));
}

/** @param {string} name @param {import('node:http').IncomingMessage} request @param {import('node:http').ServerResponse} response */
async function sendFile(name, request, response) {
  const data = await readFile(name);
  const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
  if (start === undefined) return void response.writeHead(200, { 'content-length': data.length }).end(data);
  const part = data.subarray(Number(start), Number(end) + 1);
  if (part.length === 0) return void response.writeHead(416, { 'content-range': `bytes */${data.length}` }).end();
  response.writeHead(206, { 'content-range': `bytes ${start}-${Number(start) + part.length - 1}/${data.length}`, 'content-length': part.length }).end(part);
}

/** @param {string} folder @param {string} pathname @param {'nginx' | 'apache' | 'python'} style */
async function page(folder, pathname, style) {
  const entries = (await readdir(folder, { withFileTypes: true })).filter(({ name }) => style === 'python' || !name.startsWith('.'));
  const shown = decodeURIComponent(pathname);
  const items = entries.map((entry) => {
    const slash = entry.isDirectory() ? '/' : '';
    const [link, text] = [`${links[style](entry.name)}${slash}`, escaped(`${entry.name}${slash}`)];
    if (style === 'python') return `<li><a href="${link}">${text}</a></li>`;
    return style === 'nginx' ? `<a href="${link}">${text}</a>   30-Nov-2026 02:10   2` : `<tr><td><a href="${link}">${text}</a></td><td align="right">1.2K</td></tr>`;
  });
  const title = style === 'python' ? `Directory listing for ${escaped(shown)}` : `Index of ${escaped(shown)}`;
  const up = style === 'nginx' ? '<a href="../">../</a>' : style === 'apache' ? `<a href="?C=N;O=D">Name</a> <a href="${escaped(path.posix.join(pathname, '../'))}">Parent Directory</a>` : '';
  return `<!DOCTYPE HTML>\n<html>\n<head><title>${title}</title></head>\n<body>\n<h1>${title}</h1>\n${up}\n${items.join('\n')}\n</body></html>\n`;
}

/** @param {string} folder @param {string} pathname */
async function propfind(folder, pathname) {
  const here = pathname.endsWith('/') ? pathname : `${pathname}/`;
  const response = (/** @type {string} */ href, /** @type {string} */ inner) =>
    `<D:response><D:href>${escaped(href)}</D:href><D:propstat><D:prop>${inner}</D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>`;
  const folderType = '<D:resourcetype><D:collection/></D:resourcetype>';
  const entries = await readdir(folder, { withFileTypes: true });
  const items = entries.map(async (entry) => {
    const href = `${here}${encodeURIComponent(entry.name)}`;
    if (entry.isDirectory()) return response(`${href}/`, folderType);
    const { size, mtimeMs } = await stat(path.join(folder, entry.name));
    return response(href, `<D:resourcetype/><D:getcontentlength>${size}</D:getcontentlength><D:getetag>"${size}-${mtimeMs}"</D:getetag>`);
  });
  return `<?xml version="1.0" encoding="utf-8"?>\n<D:multistatus xmlns:D="DAV:">${response(here, folderType)}${(await Promise.all(items)).join('\n')}</D:multistatus>\n`;
}
