// Packs the npm package as it would be published and installs it, for tests, into tests/out/packed or another folder.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundle } from './lib/bundle.mjs';
import { must, root } from './lib/run.mjs';

/** The folder whose node_modules holds the packed package. */
export const packed = path.join(root, 'tests', 'out', 'packed');

/**
 * Gives what npm tells of the package: its file name, sizes and files.
 *
 * @param {string} [folder]
 * @returns {Promise<{ filename: string, size: number, unpackedSize: number, files: { path: string, size: number }[] }>}
 */
export async function pack(folder = packed) {
  // js/ may have changed since dist/ was built.
  await bundle();
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const listing = JSON.parse(await must('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]));
  // npm gives a list in one release and an object by package name in another.
  const [entry] = Object.values(listing);
  await writeFile(path.join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  await must('npm', ['install', '--offline', '--no-audit', '--no-fund', `./${entry.filename}`], { cwd: folder });
  return entry;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { filename, size, unpackedSize, files } = await pack();
  for (const file of files) console.log(`${String(file.size).padStart(9)} ${file.path}`);
  console.log(`pack: ${filename}, ${size} bytes packed, ${unpackedSize} unpacked`);
}
