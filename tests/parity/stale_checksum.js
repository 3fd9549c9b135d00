// Hadoop's local file system keeps NAME's checksum in .NAME.crc. Whoever overwrites NAME otherwise leaves that file stale.
import { readFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import { rowDifference } from './lib/compare.js';

const snapshot = { queryType: 'snapshot' };

/**
 * Overwrites files of a table through our store and has Spark read it, by listing, since the metadata table knows the old sizes.
 * A Spark that heeds side files must refuse the table each time: otherwise nothing was stale, and the test would show nothing.
 *
 * @param {import('./scenarios.js').Sides} sides
 * @returns {Promise<import('./scenarios.js').Outcome>}
 */
export async function staleChecksum({ spark, ours }) {
  await spark.ask('checksums', { on: true });
  try {
    const { path: table, queries } = await spark.ask('make', { name: 'cow_flat', kinds: ['snapshot'] });
    const rowsOf = (/** @type {(query: any) => boolean} */ wanted) => queries.find((/** @type {any} */ entry) => wanted(entry.query)).rows;
    const [newest, oldest] = [rowsOf((query) => Object.keys(query).length === 1), rowsOf((query) => 'asOf' in query)];
    const data = await ends(table, '', '.parquet');
    const commits = await ends(table, '.hoodie/timeline', '.commit');
    const properties = await readFile(path.join(table, '.hoodie/hoodie.properties'));
    const steps = [
      { file: '.hoodie/hoodie.properties', by: Buffer.concat([Buffer.from('# written anew\n'), properties]), rows: newest },
      { file: commits.newest, by: await readFile(path.join(table, commits.oldest)), rows: newest },
      // The newest version of the table's one file group gets the rows of the oldest.
      { file: data.newest, by: await readFile(path.join(table, data.oldest)), rows: oldest },
    ];
    const problems = [];
    for (const { file, by, rows } of steps) {
      await ours.overwrite(table, file, by);
      await spark.ask('checksums', { on: true });
      const heeded = await spark.ask('read', { path: table, query: snapshot, metadata: false }).then(() => false, () => true);
      if (!heeded) problems.push(`${table}: Spark with checksums on reads ${file} all the same, so it was not stale`);
      await spark.ask('checksums', { on: false });
      const found = rowDifference(rows, await spark.ask('read', { path: table, query: snapshot, metadata: false }));
      if (found !== undefined) problems.push(`${table}, ${file} overwritten\n${found}`);
      // So that the next step's refusal is its own.
      await ours.remove(table, path.posix.join(path.posix.dirname(file), `.${path.posix.basename(file)}.crc`));
    }
    return { queries: steps.length, problems };
  } finally {
    await spark.ask('checksums', { on: false });
  }
}

/** The files of the oldest and the newest instant in a folder of the table. @param {string} table @param {string} folder @param {string} ending */
async function ends(table, folder, ending) {
  const names = (await readdir(path.join(table, folder))).filter((name) => name.endsWith(ending) && !name.startsWith('.'));
  // A data file's name has the instant last, a timeline file's the requested time first.
  const instant = (/** @type {string} */ name) => /(?:^|_)(\d{17})/.exec(name)?.[1] ?? '';
  const sorted = names.sort((a, b) => (instant(a) < instant(b) ? -1 : 1)).map((name) => path.posix.join(folder, name));
  const [oldest, newest] = [sorted[0], sorted.at(-1)];
  if (oldest === undefined || newest === undefined || oldest === newest) throw new Error(`${table}/${folder} has too few files that end with ${ending}`);
  return { oldest, newest };
}
