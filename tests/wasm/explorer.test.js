// A walk through the built page in Chromium: what a person sees and presses, held against the rows that Spark reads.
// Screenshots are left in tests/out/.
import assert from 'node:assert/strict';
import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { must, root } from '../../scripts/lib/run.mjs';
import { serve } from '../../scripts/lib/serve.mjs';
import { unzip } from '../../scripts/lib/unzip.mjs';
import { buildPage, page as folder } from '../../scripts/page.mjs';
import { launch } from './support/chromium.js';

const out = path.join(root, 'tests/out');
const tables = path.join(out, 'tables');
const sample = 'v9_cow_overwrite';
/** @type {{ instants: { instant: string }[], queries: { query: Record<string, any>, rows: Record<string, any>[] }[] }} */
const spark = JSON.parse(await readFile(path.join(root, `tests/data/${sample}.expected.json`), 'utf8'));

/** @type {Awaited<ReturnType<typeof launch>>} */
let browser;
/** @type {Awaited<ReturnType<typeof serve>>} */
let site;
/** @type {Awaited<ReturnType<typeof serve>>} */
let elsewhere;

before(async () => {
  await buildPage();
  await mkdir(out, { recursive: true });
  site = await serve(folder);
  // Tables of another origin, as a user's host would be.
  await rm(tables, { recursive: true, force: true });
  for (const name of ['v9_cow_hive_parts', 'v9_cow_empty', 'v9_mor_clustered']) await hostTable(name);
  elsewhere = await serve(tables);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await site?.close();
  await elsewhere?.close();
});

/** Unpacks a table of the fixtures and writes its manifest as a user would. @param {string} name */
async function hostTable(name) {
  for (const { path: file, data } of unzip(await readFile(path.join(root, `tests/data/${name}.zip`)))) {
    await mkdir(path.dirname(path.join(tables, file)), { recursive: true });
    await writeFile(path.join(tables, file), data);
  }
  await must(process.execPath, ['scripts/manifest.mjs', path.join(tables, name)]);
}

/**
 * Opens the page, walks, and fails on whatever the page threw or logged as an error.
 *
 * @param {{ hash?: string, colorScheme?: 'light' | 'dark', width?: number, expectErrors?: boolean }} how
 * @param {(page: import('playwright-core').Page) => Promise<void>} steps
 */
async function walk({ hash = '', colorScheme = 'light', width = 1440, expectErrors = false }, steps) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme, reducedMotion: 'reduce', permissions: ['clipboard-read', 'clipboard-write'] });
  /** @type {string[]} */
  const faults = [];
  try {
    const page = await context.newPage();
    page.on('pageerror', (error) => faults.push(String(error)));
    // The browser itself logs a refused request; the page's own errors are never of that kind.
    page.on('console', (message) => message.type() === 'error' && !(expectErrors && message.text().startsWith('Failed to load')) && faults.push(message.text()));
    page.setDefaultTimeout(20_000);
    await page.goto(`${site.origin}/${hash}`);
    await steps(page);
    assert.deepEqual(faults, []);
  } finally {
    await context.close();
  }
}

/** The rows of the grid as text, sorted; waits until there are `count`. @param {import('playwright-core').Page} page @param {number} count */
async function gridRows(page, count) {
  await page.waitForFunction((wanted) => {
    const grid = document.querySelector('[role=grid]');
    return grid?.getAttribute('aria-busy') === 'false' && grid.querySelectorAll('.grid-row').length === wanted;
  }, count);
  const rows = await page.locator('.grid-row').evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent).join(' | ')));
  return rows.sort();
}

/** Spark's rows of a snapshot, as the grid shows them. @param {string} [asOf] @param {(row: Record<string, any>) => boolean} [keep] */
function sparkRows(asOf, keep = () => true) {
  const found = spark.queries.find(({ query }) => query.queryType === 'snapshot' && query.asOf === asOf && !query.filters);
  assert.ok(found, `Spark's rows as of ${asOf}`);
  return found.rows.filter(keep).map(({ id, name, price, ts, city }) => [id, name, price, ts, city].join(' | ')).sort();
}

/** @param {import('playwright-core').Page} page @param {string} name */
const shot = (page, name) => page.screenshot({ path: path.join(out, `explorer-${name}.png`) });

/** @param {import('playwright-core').Page} page @param {string} view */
async function view(page, view) {
  await page.locator('.rail-item', { hasText: view }).click();
  await page.waitForSelector(`main[aria-label="${view.toLowerCase()}"]`);
}

test('the sample opens and its header says what it is', () =>
  walk({}, async (page) => {
    assert.deepEqual(await gridRows(page, sparkRows().length), sparkRows());
    await page.waitForSelector('.badge:has-text("slices")');
    const facts = await page.locator('.badges').innerText();
    assert.match(facts, /Copy-on-Write/);
    assert.match(facts, /version 9/);
    assert.match(facts, /4 rows/);
    assert.match(facts, /[\d.]+ [kM]B in \d+ slices/);
    assert.match(await page.locator('.location').innerText(), new RegExp(sample));
    assert.match(await page.locator('.footer').innerText(), /4 rows as of 20:50:42\.266/);
    assert.match(await page.locator('.footer').innerText(), /\d+ requests?/);
    await shot(page, 'data-light');
  }));

test('moving the handle shows the rows of each instant, by keys and by pointer', () =>
  walk({}, async (page) => {
    await gridRows(page, sparkRows().length);
    const times = spark.instants.map(({ instant }) => instant);
    for (const instant of times.slice(0, -1).reverse()) {
      await page.keyboard.press('[');
      const expected = sparkRows(instant);
      await page.waitForFunction((text) => document.querySelector('.footer')?.textContent?.includes(text), `as of ${clockOf(instant)}`);
      assert.deepEqual(await gridRows(page, expected.length), expected, instant);
    }
    const slider = page.getByRole('slider', { name: 'Instant shown' });
    assert.match((await slider.getAttribute('aria-valuetext')) ?? '', /as of 2026-11-29 20:50:34\.816/);
    await slider.focus();
    await page.keyboard.press('End');
    assert.deepEqual(await gridRows(page, sparkRows().length), sparkRows());
    assert.equal(new URL(page.url()).hash.includes('as_of'), false, 'the newest needs no instant in the link');
    await page.locator(`.bar[data-instant^="${times[3]}"]`).click();
    assert.deepEqual(await gridRows(page, sparkRows(times[3]).length), sparkRows(times[3]));
    assert.match(page.url(), new RegExp(`as_of=${times[3]}`));
    const box = await page.locator('.axis').boundingBox();
    const first = await page.locator(`.bar[data-instant^="${times[0]}"]`).boundingBox();
    assert.ok(box && first);
    await page.mouse.move(box.x + box.width / 2, box.y + 85);
    await page.mouse.down();
    await page.mouse.move(first.x, box.y + 85, { steps: 4 });
    await page.mouse.up();
    assert.deepEqual(await gridRows(page, sparkRows(times[0]).length), sparkRows(times[0]));
  }));

/** `20261129205034816` as the footer says it: `20:50:34.816`. @param {string} instant */
const clockOf = (instant) => `${instant.slice(8, 10)}:${instant.slice(10, 12)}:${instant.slice(12, 14)}.${instant.slice(14)}`;

test('a menu takes the focus as it opens, not a frame later', () =>
  walk({ hash: `#sample=${sample}` }, async (page) => {
    await gridRows(page, sparkRows().length);
    const focused = await page.evaluate(async () => {
      /** @type {HTMLElement} */ (document.querySelector('#add-filter')).click();
      for (let turn = 0; turn < 10; turn++) await null;
      return document.activeElement?.getAttribute('name');
    });
    assert.equal(focused, 'field');
  }));

test('a filter narrows the rows, skips files, stands as a chip and goes with it', () =>
  walk({ hash: `#as_of=${spark.instants[0]?.instant}&sample=${sample}` }, async (page) => {
    const asOf = spark.instants[0]?.instant;
    await gridRows(page, sparkRows(asOf).length);
    await page.keyboard.press('/');
    await page.locator('select[name=field]').selectOption('city');
    await page.locator('input[name=value]').fill('bru');
    await page.keyboard.press('Enter');
    const expected = sparkRows(asOf, ({ city }) => city === 'bru');
    assert.deepEqual(await gridRows(page, expected.length), expected);
    assert.match(await page.locator('.footer').innerText(), /2 of 3 slices skipped/);
    await page.getByRole('button', { name: 'Add filter' }).click();
    await page.locator('select[name=field]').selectOption('id');
    await page.locator('select[name=operator]').selectOption('>');
    await page.locator('input[name=value]').fill('1000');
    await page.keyboard.press('Enter');
    await page.waitForSelector('text=No row matches');
    await page.getByRole('button', { name: /Remove the filter id/ }).click();
    await gridRows(page, expected.length);
    await page.getByRole('button', { name: /Remove the filter city/ }).click();
    assert.deepEqual(await gridRows(page, sparkRows(asOf).length), sparkRows(asOf));
    await page.getByRole('button', { name: 'Add filter' }).click();
    await page.locator('select[name=field]').selectOption('price');
    await page.locator('input[name=value]').fill('many');
    await page.keyboard.press('Enter');
    await page.waitForSelector('text=A column or value does not fit this table');
    await page.getByRole('button', { name: 'Remove the filters' }).click();
    await gridRows(page, sparkRows(asOf).length);
  }));

test('each view of the rail shows the table, and the inspector what is chosen', () =>
  walk({}, async (page) => {
    await gridRows(page, sparkRows().length);
    await page.locator('[role=gridcell]').first().click();
    assert.match(await page.locator('.inspector').innerText(), /record key[\s\S]*Where this row came from[\s\S]*\.parquet/);
    await page.locator('.only').nth(4).click();
    const same = sparkRows(undefined, ({ city }) => city === 'bru');
    assert.deepEqual(await gridRows(page, same.length), same);
    await page.getByRole('button', { name: /Remove the filter city/ }).click();
    await gridRows(page, sparkRows().length);
    await page.locator('[role=gridcell]').first().click();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('End');
    assert.match((await page.locator('.grid .active').getAttribute('id')) ?? '', /-1-4$/, 'second row, last column');
    await page.getByRole('button', { name: /of 10 columns/ }).click();
    await page.locator('.column-menu label', { hasText: '_hoodie_commit_time' }).click();
    await page.waitForSelector('[role=columnheader]:has-text("_hoodie_commit_time")');
    await page.keyboard.press('Escape');

    await view(page, 'Files');
    await page.locator('.block').first().click();
    assert.match(await page.locator('.inspector').innerText(), /What a snapshot read opens[\s\S]*\.parquet/);
    await shot(page, 'files-light');

    await view(page, 'Timeline');
    await gridRows(page, spark.instants.length);
    await page.locator('.grid-row', { hasText: 'replacecommit' }).first().click();
    await page.waitForSelector('.inspector .tree');
    assert.match(await page.locator('.inspector').innerText(), /operationType/);
    await shot(page, 'timeline-light');

    await view(page, 'Schema');
    assert.match(await page.locator('.grid').innerText(), /city\s+string\s+nullable\s+partition/);
    await page.getByRole('button', { name: 'Avro' }).click();
    await page.waitForSelector('pre:has-text("\\"fields\\"")');

    await view(page, 'Requests');
    const causes = await page.locator('.chip.quiet').allInnerTexts();
    for (const cause of ['properties', 'timeline', 'metadata-table', 'footer']) assert.ok(causes.some((chip) => chip.startsWith(cause)), `${cause} in ${causes}`);
    await page.locator('.chip.quiet', { hasText: 'properties' }).click();
    assert.deepEqual((await page.locator('.grid-row').allInnerTexts()).map((row) => row.split('\n')[0]), ['properties']);
    await page.locator('.chip.quiet', { hasText: 'properties' }).click();
    await page.locator('.grid-row').last().click();
    await shot(page, 'requests-light');
  }));

test('a table opens by its address and its manifest from another origin', () =>
  walk({}, async (page) => {
    await gridRows(page, sparkRows().length);
    await page.getByRole('button', { name: 'Open table' }).click();
    await page.getByLabel('Table address').fill(`${elsewhere.origin}/v9_cow_hive_parts`);
    await page.getByLabel(/^Manifest/).fill(`${elsewhere.origin}/v9_cow_hive_parts/hudi-manifest.json`);
    await shot(page, 'open-light');
    await page.getByRole('button', { name: 'Open', exact: true }).click();
    await page.waitForSelector('.location:has-text("v9_cow_hive_parts")');
    await gridRows(page, 12);
    await page.getByRole('button', { name: 'Share' }).click();
    const link = await page.getByLabel('Link').inputValue();
    const again = await page.context().newPage();
    await again.goto(link);
    await gridRows(again, 12);
    assert.match(await again.locator('.location').innerText(), /v9_cow_hive_parts/);
  }));

test('a secret in the address opens the table and is shown and linked nowhere', () =>
  walk({}, async (page) => {
    await gridRows(page, sparkRows().length);
    await page.getByRole('button', { name: 'Open table' }).click();
    await page.getByLabel('Table address').fill(`${elsewhere.origin}/v9_cow_hive_parts?sig=5ecret`);
    await page.getByRole('button', { name: 'Open', exact: true }).click();
    await page.waitForSelector('.location:has-text("v9_cow_hive_parts")');
    await gridRows(page, 12);
    await view(page, 'Requests');
    await page.getByRole('button', { name: 'Share' }).click();
    const link = await page.getByLabel('Link').inputValue();
    const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, document.title]));
    for (const text of [link, page.url(), kept, await page.content()]) assert.doesNotMatch(text, /5ecret/);
  }));

test('a folder of this computer opens in place and cannot be linked to', () =>
  walk({}, async (page) => {
    await gridRows(page, sparkRows().length);
    await page.getByRole('button', { name: 'Open table' }).click();
    await page.getByRole('button', { name: 'This computer' }).click();
    await page.locator('input[name=files]').setInputFiles(path.join(folder, 'tables/v9_cow_hive_parts'));
    await page.getByRole('button', { name: 'Open', exact: true }).click();
    await page.waitForSelector('.location:has-text("v9_cow_hive_parts")');
    await gridRows(page, 12);
    assert.ok(await page.getByRole('button', { name: 'Share' }).isDisabled());
  }));

test('a large table shows its first rows, and more when asked', () =>
  walk({ hash: '#sample=v9_cow_skipping' }, async (page) => {
    const rows = (/** @type {number} */ count) => page.waitForSelector(`[role=grid][aria-rowcount="${count + 1}"][aria-busy=false]`);
    await rows(200);
    assert.match(await page.locator('.footer').innerText(), /first 200 rows shown/);
    await page.getByRole('button', { name: 'Read 200 more rows' }).click();
    await rows(400);
    await page.locator('.grid').focus();
    await page.keyboard.press('Control+End');
    // Only the rows in sight are drawn, and the last one is among them.
    await page.waitForSelector('.grid-row[aria-rowindex="401"] .active');
    const box = await page.locator('.grid .active').boundingBox();
    assert.ok(box && box.y + box.height < 880, `the active cell is in sight: ${JSON.stringify(box)}`);
    assert.ok((await page.locator('.grid-row').count()) < 200);
    await page.keyboard.press('Control+Home');
    await page.waitForSelector('.grid-row[aria-rowindex="2"] .active');
  }));

test('an address without a table is told in a sentence, and the open table stays behind it', () =>
  walk({ expectErrors: true }, async (page) => {
    await gridRows(page, sparkRows().length);
    await page.getByRole('button', { name: 'Open table' }).click();
    await page.getByLabel('Table address').fill(`${elsewhere.origin}/nothing-here`);
    await page.getByRole('button', { name: 'Open', exact: true }).click();
    const alert = page.getByRole('alert');
    await alert.waitFor();
    assert.match(await alert.innerText(), /There is no Hudi table here[\s\S]*No \.hoodie\/hoodie\.properties lies below[\s\S]*nothing-here[\s\S]*TABLE_NOT_FOUND/);
    await page.keyboard.press('Escape');
    assert.deepEqual(await gridRows(page, sparkRows().length), sparkRows());
  }));

test('with no table open the sentence stands in the view, with the way out as a button', () =>
  walk({ hash: '#table=http://127.0.0.1:9/table', expectErrors: true, colorScheme: 'dark' }, async (page) => {
    await page.waitForSelector('text=No answer came from the store');
    await shot(page, 'error-dark');
    await page.getByRole('button', { name: 'Show the CORS rule' }).click();
    assert.match(await page.locator('dialog pre').innerText(), /AllowedOrigins/);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Open another address' }).click();
    await page.getByRole('button', { name: new RegExp(sample) }).click();
    await gridRows(page, sparkRows().length);
  }));

test('as of a pending instant is refused in a sentence that leads back', () =>
  walk({ hash: '#sample=v9_cow_inflight' }, async (page) => {
    const inflight = JSON.parse(await readFile(path.join(root, 'tests/data/v9_cow_inflight.expected.json'), 'utf8'));
    const newest = inflight.queries.find((/** @type {any} */ { query }) => query.queryType === 'snapshot' && query.asOf === undefined);
    await gridRows(page, newest.rows.length);
    await page.locator('.bar.open').click();
    await page.waitForSelector('text=That instant is not settled yet');
    await shot(page, 'pending-light');
    await page.getByRole('button', { name: 'Show the newest' }).click();
    await gridRows(page, newest.rows.length);
  }));

test('as of an instant whose files are cleaned the sentence leads to the newest', async () => {
  const archived = JSON.parse(await readFile(path.join(root, 'tests/data/v9_cow_archived.expected.json'), 'utf8'));
  const refused = archived.queries.find((/** @type {any} */ { query, error }) => query.asOf !== undefined && error?.startsWith('Cleaner'));
  await walk({ hash: `#sample=v9_cow_archived&as_of=${refused.query.asOf}` }, async (page) => {
    await page.waitForSelector('text=That instant has been cleaned away');
    await shot(page, 'expired-light');
    await page.getByRole('button', { name: 'Show the newest' }).click();
    await gridRows(page, archived.queries[0].count);
  });
});

test('a table without a commit is empty, not an error', () =>
  walk({ hash: `#table=${elsewhere.origin}/v9_cow_empty` }, async (page) => {
    await page.waitForSelector('text=The table is empty as of this instant');
    await page.waitForSelector('text=No commit has completed yet');
    await view(page, 'Timeline');
    await page.waitForSelector('text=No instant yet');
    await view(page, 'Files');
    await page.waitForSelector('text=No file slice as of this instant');
  }));

test('a table with logs shows the merged rows, or its base files alone', async () => {
  const mor = JSON.parse(await readFile(path.join(root, 'tests/data/v9_mor_clustered.expected.json'), 'utf8'));
  const count = (/** @type {boolean | undefined} */ readOptimized) =>
    mor.queries.find((/** @type {any} */ { query }) => query.asOf === undefined && query.readOptimized === readOptimized).count;
  assert.notEqual(count(undefined), count(true));
  await walk({ hash: `#table=${elsewhere.origin}/v9_mor_clustered` }, async (page) => {
    await gridRows(page, count(undefined));
    await page.getByRole('button', { name: 'Read-optimized' }).click();
    await gridRows(page, count(true));
    assert.match(await page.locator('.badges').innerText(), /Merge-on-Read/);
  });
});

test('a read under way is cancelled by Escape and run again by its button', async () => {
  // Data files hang until they are let go; the rest is passed on.
  let held = true;
  const slow = createServer((request, response) => {
    if (held && request.method === 'GET' && request.url?.endsWith('.parquet')) return;
    fetch(`${elsewhere.origin}${request.url}`, { method: request.method ?? 'GET', headers: request.headers.range ? { range: request.headers.range } : {} })
      .then(async (answer) => {
        const headers = [...answer.headers].filter(([name]) => !['connection', 'keep-alive', 'transfer-encoding'].includes(name));
        response.writeHead(answer.status, Object.fromEntries(headers)).end(Buffer.from(await answer.arrayBuffer()));
      })
      .catch(() => response.destroy());
  });
  await new Promise((resolve) => slow.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (slow.address());
  try {
    await walk({ hash: `#table=http://127.0.0.1:${port}/v9_cow_hive_parts` }, async (page) => {
      await page.waitForSelector('.skeleton');
      await page.waitForSelector('.busy:has-text("read rows")');
      await page.waitForTimeout(500);
      await shot(page, 'loading-light');
      await page.keyboard.press('Escape');
      await page.waitForSelector('h2:has-text("Cancelled")');
      held = false;
      await page.getByRole('button', { name: 'Run it again' }).click();
      await gridRows(page, 12);
    });
  } finally {
    slow.closeAllConnections();
    await new Promise((resolve) => slow.close(() => resolve(undefined)));
  }
});

test('the page is drawn in the dark, and for a narrow window', async () => {
  await walk({ colorScheme: 'dark', hash: '#sample=v9_cow_hive_parts' }, async (page) => {
    await gridRows(page, 12);
    await page.locator('[role=gridcell]').nth(12).click();
    await shot(page, 'data-dark');
    await view(page, 'Files');
    await page.locator('[role=gridcell]').first().click();
    await shot(page, 'files-dark');
  });
  await walk({ width: 600 }, async (page) => {
    await gridRows(page, sparkRows().length);
    await page.locator('.rail-item', { hasText: 'Data' }).waitFor();
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= 600, `the page is ${wide} px wide`);
    await shot(page, 'data-narrow');
  });
});

test('axe finds nothing to object to in any view, light or dark', async () => {
  const axe = await readFile(path.join(root, 'node_modules/axe-core/axe.min.js'), 'utf8');
  for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
    await walk({ colorScheme }, async (page) => {
      await gridRows(page, sparkRows().length);
      await page.evaluate(axe);
      for (const name of ['Data', 'Files', 'Timeline', 'Schema', 'Requests']) {
        await view(page, name);
        await page.locator('[role=gridcell]').first().click();
        await page.waitForTimeout(200);
        const found = await page.evaluate(async () => {
          // @ts-ignore: axe-core puts itself there.
          const { violations } = await globalThis.axe.run(document, { resultTypes: ['violations'] });
          return violations.map((/** @type {any} */ one) => `${one.id}: ${one.nodes.map((/** @type {any} */ node) => node.target.join(' ')).slice(0, 3)}`);
        });
        assert.deepEqual(found, [], `${name}, ${colorScheme}`);
      }
    });
  }
});

test('the JavaScript of the page stays below 90 kB gzipped', async () => {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.js'));
  let total = 0;
  for (const name of names) total += gzipSync(await readFile(path.join(folder, name)), { level: 9 }).length;
  console.log(`# gzip page JavaScript ${total} bytes`);
  assert.ok(names.includes('main.js') && names.includes('worker.js'));
  assert.ok(total <= 90_000, `${total} bytes`);
});
