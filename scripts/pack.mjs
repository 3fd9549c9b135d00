// Packs the npm package as it would be published and installs it, for tests, into tests/out/packed.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { must, root } from './lib/run.mjs';

/** The folder whose node_modules holds the packed package. */
export const packed = path.join(root, 'tests', 'out', 'packed');

export async function pack() {
  await rm(packed, { recursive: true, force: true });
  await mkdir(packed, { recursive: true });
  const listing = JSON.parse(await must('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', packed]));
  // npm gives a list in one release and an object by package name in another.
  const [entry] = Object.values(listing);
  await writeFile(path.join(packed, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  await must('npm', ['install', '--offline', '--no-audit', '--no-fund', `./${entry.filename}`], { cwd: packed });
  for (const file of entry.files) console.log(`${String(file.size).padStart(9)} ${file.path}`);
  console.log(`pack: ${entry.filename}, ${entry.size} bytes packed, ${entry.unpackedSize} unpacked`);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) await pack();
