// The tables of the benchmarks: real Spark writes each once into the user's cache folder.
import { existsSync } from 'node:fs';
import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { cache, must, root } from '../scripts/lib/run.mjs';

export const here = path.join(root, 'bench');

/** What the benchmarks keep from run to run. */
export const kept = path.join(cache, 'bench');

const spark = 'pyspark==3.5.6';
const bundle = 'hudi-spark3.5-bundle_2.12';
const bundleVersion = '1.1.1';

/** Gets the packages of package.json, again when they changed. */
export async function installed() {
  const [wanted, got] = [path.join(here, 'package-lock.json'), path.join(here, 'node_modules/.package-lock.json')];
  const [changed, made] = await Promise.all([wanted, got].map((file) => stat(file).then(({ mtimeMs }) => mtimeMs, () => 0)));
  if (made < changed) await must('npm', ['ci', '--no-audit', '--no-fund'], { cwd: here });
}

/** The folder of a table of `make_table.py`, written when it is not there. */
export async function table(/** @type {string} */ name) {
  const folder = path.join(kept, name);
  if (existsSync(folder)) return folder;
  console.log(`bench: Spark writes the table ${name}, once (some minutes)`);
  const [python, jar, making] = [path.join(kept, 'spark/bin/python'), path.join(kept, `jars/${bundle}-${bundleVersion}.jar`), `${folder}.making`];
  await mkdir(kept, { recursive: true });
  if (!existsSync(python)) await must('python3', ['-m', 'venv', path.join(kept, 'spark')]);
  await must(python, ['-m', 'pip', 'install', '--quiet', spark]);
  const artifact = `org.apache.hudi:${bundle}:${bundleVersion}`;
  if (!existsSync(jar)) await must('mvn', ['-q', 'dependency:copy', `-Dartifact=${artifact}`, `-DoutputDirectory=${path.dirname(jar)}`], { cwd: kept });
  await rm(making, { recursive: true, force: true });
  await must(python, [path.join(here, 'make_table.py'), name, making, jar]);
  await rename(making, folder);
  return folder;
}

/** All rows of a table without meta columns, as a file of one Arrow IPC stream. */
export async function rowsOf(/** @type {string} */ folder) {
  const file = `${folder}.arrows`;
  if (existsSync(file)) return file;
  const [{ HudiTable }, { Table, tableFromIPC, tableToIPC }] = await Promise.all([import('../js/entry/node.js'), import('apache-arrow')]);
  const source = await HudiTable.open(folder);
  const projection = (await source.getSchema()).fields.map(({ name }) => name).filter((name) => !name.startsWith('_hoodie_'));
  const result = await source.read({ projection });
  const batches = [...result].flatMap((batch) => tableFromIPC(batch.ipc).batches);
  source.close();
  await writeFile(file, tableToIPC(new Table(batches), 'stream'));
  return file;
}

export const median = (/** @type {number[]} */ values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
