// The manifest writer on tables that Spark wrote, of both timeline layouts; the unpacking that brings them here.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { root } from './lib/run.mjs';
import { unzip } from './lib/unzip.mjs';
import { manifestOf } from './manifest.mjs';

/** @param {string} name @param {(folder: string, files: { path: string, data: Buffer }[]) => Promise<void>} use */
async function withTable(name, use) {
  const folder = await mkdtemp(path.join(tmpdir(), 'hudi-manifest-'));
  try {
    const files = unzip(await readFile(path.join(root, `tests/data/${name}.zip`)));
    for (const { path: file, data } of files) {
      await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
      await writeFile(path.join(folder, file), data);
    }
    await use(path.join(folder, name), files);
  } finally {
    await rm(folder, { recursive: true });
  }
}

for (const name of ['v6_cow_parts', 'v9_cow_inflight']) {
  test(`the manifest of ${name} names every file with its size, and Spark's newest completed instant`, () =>
    withTable(name, async (folder, files) => {
      const expected = JSON.parse(await readFile(path.join(root, `tests/data/${name}.expected.json`), 'utf8'));
      // A manifest of an earlier run, and checksums that Hadoop leaves, are no part of the table.
      await writeFile(path.join(folder, 'hudi-manifest.json'), '{}');
      await writeFile(path.join(folder, '.hoodie/.hoodie.properties.crc'), 'crc');
      const manifest = await manifestOf(folder);
      assert.equal(manifest.newestInstant, expected.instants.map((/** @type {any} */ { instant }) => instant).sort().at(-1));
      const wanted = files.map(({ path: file, data }) => ({ path: file.slice(name.length + 1), size: data.length }));
      assert.deepEqual(manifest.files, wanted.sort((a, b) => (a.path < b.path ? -1 : 1)));
      assert.equal(new Date(manifest.madeAt).toISOString(), manifest.madeAt);
    }));
}

test('a folder without a table has no manifest', () =>
  withTable('v9_cow_empty', async (folder) => {
    await assert.rejects(manifestOf(path.dirname(folder)), /holds no \.hoodie\/hoodie\.properties/);
  }));

test('an archive that is cut short is refused', async () => {
  const zip = await readFile(path.join(root, 'tests/data/v9_cow_empty.zip'));
  assert.throws(() => unzip(zip.subarray(0, zip.length - 30)), /not a zip archive/);
  const bent = Buffer.from(zip);
  bent.writeUInt32LE(0, zip.readUInt32LE(zip.length - 6));
  assert.throws(() => unzip(bent), /directory is damaged/);
});
