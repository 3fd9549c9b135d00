// The explorer's sample tables: unpacked from the test fixtures, each with a manifest, so that a plain web server can serve them.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { root } from './lib/run.mjs';
import { unzip } from './lib/unzip.mjs';
import { manifestOf } from './manifest.mjs';

/** In the order the page offers them; the first is opened when the address names no table. */
const samples = [
  { name: 'v9_cow_overwrite', note: 'Partitions overwritten and deleted: rows come and go with the handle' },
  { name: 'v9_cow_hive_parts', note: 'Insert, update, delete, and a row that moves from one partition to another' },
  { name: 'v9_cow_all_types', note: 'Every column type, with nulls and extremes' },
  { name: 'v9_cow_inflight', note: 'A commit that never completed' },
  { name: 'v9_cow_archived', note: '42 commits, cleaned and archived: the earliest instants have expired' },
  { name: 'v9_cow_clustering_pending', note: 'A clustering that is planned and has not run' },
  { name: 'v9_cow_skipping', note: '120,000 rows in 60 files' },
];

/** @param {string} tables folder to make them in */
export async function makeSamples(tables) {
  await mkdir(tables, { recursive: true });
  for (const { name } of samples) {
    for (const { path: file, data } of unzip(await readFile(path.join(root, 'tests/data', `${name}.zip`)))) {
      const to = path.join(tables, file);
      if (!to.startsWith(path.join(tables, name) + path.sep)) throw new Error(`${name}.zip holds ${file}`);
      await mkdir(path.dirname(to), { recursive: true });
      await writeFile(to, data);
    }
    await writeFile(path.join(tables, `${name}.manifest.json`), JSON.stringify(await manifestOf(path.join(tables, name))));
  }
  const index = samples.map(({ name, note }) => ({ name, note, folder: `tables/${name}`, manifest: `tables/${name}.manifest.json` }));
  await writeFile(path.join(tables, 'index.json'), JSON.stringify(index));
}
