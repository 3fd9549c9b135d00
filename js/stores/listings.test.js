import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HudiError } from '../errors.js';
import { parsePage } from './autoindex.js';
import { folderLister } from './lister.js';
import { parseAnswer } from './webdav.js';

/** One folder, as three servers show it; names hold what their escapes differ in. */
const pages = {
  'nginx 1.22': `<html>
<head><title>Index of /t/</title></head>
<body>
<h1>Index of /t/</h1><hr><pre><a href="../">../</a>
<a href="%3Cx%3E/">&lt;x&gt;/</a>                                               30-Nov-2026 02:10                   -
<a href="a%20b/">a b/</a>                                               30-Nov-2026 02:10                   -
<a href="a%26b/">a&amp;b/</a>                                               30-Nov-2026 02:10                   -
<a href="a%2Bb/">a+b/</a>                                               30-Nov-2026 02:10                   -
<a href="c%3Ad%3Be/">c:d;e/</a>                                             30-Nov-2026 02:10                   -
<a href="it%27s%20%22q%22/">it's &quot;q&quot;/</a>                                          30-Nov-2026 02:10                   -
<a href="k%3Dv%252Fx/">k=v%2Fx/</a>                                           30-Nov-2026 02:10                   -
<a href="%C3%BC%23%3F/">ü#?/</a>                                              30-Nov-2026 02:10                   -
<a href="nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn.parquet">nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn..&gt;</a> 30-Nov-2026 02:10                   2
</pre><hr></body>
</html>
`,
  'Python 3': `<!DOCTYPE HTML>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Directory listing for /t/</title>
</head>
<body>
<h1>Directory listing for /t/</h1>
<hr>
<ul>
<li><a href=".hoodie/">.hoodie/</a></li>
<li><a href="%3Cx%3E/">&lt;x&gt;/</a></li>
<li><a href="a%20b/">a b/</a></li>
<li><a href="a%26b/">a&amp;b/</a></li>
<li><a href="a%2Bb/">a+b/</a></li>
<li><a href="c%3Ad%3Be/">c:d;e/</a></li>
<li><a href="it%27s%20%22q%22/">it's "q"/</a></li>
<li><a href="k%3Dv%252Fx/">k=v%2Fx/</a></li>
<li><a href="nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn.parquet">nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn.parquet</a></li>
<li><a href="%C3%BC%23%3F/">ü#?/</a></li>
</ul>
<hr>
</body>
</html>
`,
  'Apache 2.4, plain': `<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01//EN" "http://www.w3.org/TR/html4/strict.dtd">
<html>
 <head>
  <title>Index of /t</title>
 </head>
 <body>
<h1>Index of /t</h1>
<ul><li><a href="/"> Parent Directory</a></li>
<li><a href=".hoodie/"> .hoodie/</a></li>
<li><a href="%3cx%3e/"> &lt;x&gt;/</a></li>
<li><a href="a%20b/"> a b/</a></li>
<li><a href="a&amp;b/"> a&amp;b/</a></li>
<li><a href="a+b/"> a+b/</a></li>
<li><a href="./c:d;e/"> c:d;e/</a></li>
<li><a href="it's%20%22q%22/"> it's &quot;q&quot;/</a></li>
<li><a href="k=v%252Fx/"> k=v%2Fx/</a></li>
<li><a href="nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn.parquet"> nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn.parquet</a></li>
<li><a href="%c3%bc%23%3f/"> ü#?/</a></li>
</ul>
</body></html>
`,
  'Apache 2.4, fancy': `<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01//EN" "http://www.w3.org/TR/html4/strict.dtd">
<html>
 <head>
  <title>Index of /t</title>
 </head>
 <body>
<h1>Index of /t</h1>
  <table>
   <tr><th valign="top">&nbsp;</th><th><a href="?C=N;O=D">Name</a></th><th><a href="?C=M;O=A">Last modified</a></th><th><a href="?C=S;O=A">Size</a></th></tr>
   <tr><th colspan="5"><hr></th></tr>
<tr><td valign="top">&nbsp;</td><td><a href="/">Parent Directory</a></td><td>&nbsp;</td><td align="right">  - </td><td>&nbsp;</td></tr>
<tr><td valign="top">&nbsp;</td><td><a href="%c3%bc%23%3f/">ü#?/</a></td><td align="right">2026-11-30 02:10  </td><td align="right">  - </td></tr>
<tr><td valign="top">&nbsp;</td><td><a href="%3cx%3e/">&lt;x&gt;/</a></td><td align="right">2026-11-30 02:10  </td><td align="right">  - </td></tr>
<tr><td valign="top">&nbsp;</td><td><a href="a&amp;b/">a&amp;b/</a></td><td align="right">2026-11-30 02:10  </td><td align="right">  - </td></tr>
<tr><td valign="top">&nbsp;</td><td><a href="a+b/">a+b/</a></td><td align="right">2026-11-30 02:10  </td><td align="right">  - </td></tr>
<tr><td valign="top">&nbsp;</td><td><a href="a%20b/">a b/</a></td><td align="right">2026-11-30 02:10  </td><td align="right">  - </td></tr>
<tr><td valign="top">&nbsp;</td><td><a href="./c:d;e/">c:d;e/</a></td><td align="right">2026-11-30 02:10  </td><td align="right">  - </td></tr>
<tr><td valign="top">&nbsp;</td><td><a href="it's%20%22q%22/">it's &quot;q&quot;/</a></td><td align="right">2026-11-30 02:10  </td><td align="right">  - </td></tr>
<tr><td valign="top">&nbsp;</td><td><a href="k=v%252Fx/">k=v%2Fx/</a></td><td align="right">2026-11-30 02:10  </td><td align="right">  - </td></tr>
<tr><td valign="top">&nbsp;</td><td><a href="nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn.parquet">nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn.parquet</a></td><td align="right">2026-11-30 02:10  </td><td align="right">1.2K</td></tr>
   <tr><th colspan="5"><hr></th></tr>
</table>
</body></html>
`,
};
const folders = ['<x>', 'a b', 'a&b', 'a+b', 'c:d;e', `it's "q"`, 'k=v%2Fx', 'ü#?'];
const file = `${'n'.repeat(52)}.parquet`;
const url = 'https://h.test/t/';
const code = (/** @type {any} */ wanted) => (/** @type {unknown} */ error) => HudiError.is(error, wanted);

for (const [server, html] of Object.entries(pages)) {
  test(`the page of ${server} shows each name as it is stored`, () => {
    const { files, folders: found } = parsePage(html, url);
    assert.deepEqual(found.sort(), folders);
    assert.deepEqual(files, [{ name: file, size: 0 }]);
  });
}

test('a page that is cut short, or of any other kind, is no empty folder', () => {
  const [html = ''] = Object.values(pages);
  assert.throws(() => parsePage(html.slice(0, 600), url), { code: 'NETWORK' });
  assert.throws(() => parsePage('<!doctype html><title>My table</title><a href="a/">a</a></html>', url), code('LIST_NOT_SUPPORTED'));
  assert.throws(() => parsePage(html.replace('a%20b/', 'a%2Fb/'), url), code('LIST_NOT_SUPPORTED'));
});

/** As Apache's mod_dav answers. */
const answer = `<?xml version="1.0" encoding="utf-8"?>
<D:multistatus xmlns:D="DAV:" xmlns:ns0="DAV:">
<D:response xmlns:lp1="DAV:" xmlns:lp2="http://apache.org/dav/props/" xmlns:g0="DAV:">
<D:href>/dav/t/a%20b/</D:href>
<D:propstat>
<D:prop>
<lp1:resourcetype><D:collection/></lp1:resourcetype>
<lp1:getetag>"1000-66174ea42abe9"</lp1:getetag>
</D:prop>
<D:status>HTTP/1.1 200 OK</D:status>
</D:propstat>
<D:propstat>
<D:prop>
<g0:getcontentlength/>
</D:prop>
<D:status>HTTP/1.1 404 Not Found</D:status>
</D:propstat>
</D:response>
<D:response xmlns:lp1="DAV:" xmlns:lp2="http://apache.org/dav/props/">
<D:href>/dav/t/a%20b/n&amp;m=%221%22.parquet</D:href>
<D:propstat>
<D:prop>
<lp1:resourcetype/>
<lp1:getcontentlength>5000000000</lp1:getcontentlength>
<lp1:getetag>"2-66174ea42c7d1"</lp1:getetag>
</D:prop>
<D:status>HTTP/1.1 200 OK</D:status>
</D:propstat>
</D:response>
<D:response xmlns:lp1="DAV:">
<D:href>http://h.test/dav/t/a%20b/.sub/</D:href>
<D:propstat><D:prop><lp1:resourcetype><D:collection/></lp1:resourcetype></D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat>
</D:response>
</D:multistatus>
`;

test('an answer to PROPFIND gives names, sizes and ETags, and not the folder itself', () => {
  const found = parseAnswer(answer, 'http://h.test/dav/t/a%20b/');
  assert.deepEqual(found, { files: [{ name: 'n&m="1".parquet', size: 5_000_000_000, etag: '"2-66174ea42c7d1"' }], folders: ['.sub'] });
});

test('an answer to PROPFIND that is cut short is an error at every length', () => {
  for (let end = 0; end < answer.trimEnd().length; end += 7) assert.throws(() => parseAnswer(answer.slice(0, end), 'http://h.test/dav/t/a%20b/'), { code: 'NETWORK' });
});

const shown = (/** @type {string} */ path, /** @type {string[]} */ names) =>
  `<html><head><title>Index of ${path}</title></head><body><a href="../">../</a>${names.map((name) => `<a href="${encodeURIComponent(name.replace(/\/$/, ''))}${name.endsWith('/') ? '/' : ''}">x</a>`).join('')}</body></html>`;

/** Lists a prefix of a server that has pages for some folders. */
async function check(/** @type {Record<string, string>} */ served, /** @type {string} */ prefix, /** @type {string[]} */ expected, one = false) {
  const asked = /** @type {string[]} */ ([]);
  const lister = folderLister('autoindex', 'https://h.test/t?key=1', {
    headers: { 'x-token': 'yes' },
    async fetch(url, init) {
      assert.equal(new Headers(init?.headers).get('x-token'), 'yes');
      assert.equal(new URL(url).search, '?key=1');
      const path = decodeURIComponent(new URL(url).pathname);
      asked.push(path);
      return served[path] === undefined ? new Response('', { status: 404 }) : new Response(served[path]);
    },
  });
  const found = [];
  for await (const entry of lister(prefix, one ? { delimiter: '/' } : {})) found.push('prefix' in entry ? entry.prefix : entry.path);
  assert.deepEqual(found.sort(), expected);
  return asked;
}

const served = { '/t/': shown('/t/', ['a/', 'b/', 'f.parquet']), '/t/a/': shown('/t/a/', ['c+d/', 'g']), '/t/a/c+d/': shown('x', ['h']), '/t/b/': shown('x', []) };

test('everything below a folder is listed folder by folder, or one level alone', async () => {
  await check(served, '', ['a/c+d/h', 'a/g', 'f.parquet']);
  assert.deepEqual(await check(served, 'a/', ['a/c+d/', 'a/g'], true), ['/t/a/']);
});

test('a folder that the server shows nowhere is empty; one that it shows and denies, or a server that shows none, is an error', async () => {
  await check(served, 'z/y/', []);
  await assert.rejects(check({ '/t/': served['/t/'] }, '', []), code('LIST_NOT_SUPPORTED'));
  await assert.rejects(check({}, '.hoodie/timeline/', []), code('LIST_NOT_SUPPORTED'));
});
