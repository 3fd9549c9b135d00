// Writes the listing of a table for hosts that cannot list: `npm run manifest -- <folder> [--out <file>]`. The format is described
// in src/http_store/manifest.rs; by default it becomes hudi-manifest.json in the table's folder.
import { readdir, rename, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

const usual = 'hudi-manifest.json';

/**
 * The manifest of a table in a local folder. A file that vanishes meanwhile is left out, as a cleaner may be at work.
 *
 * @param {string} folder the one that holds .hoodie
 */
export async function manifestOf(folder) {
  const names = await readdir(folder, { recursive: true });
  const files = [];
  for (const name of names.sort()) {
    const info = await stat(path.join(folder, name)).catch(() => undefined);
    const relative = name.split(path.sep).join('/');
    if (info?.isFile() && !relative.endsWith('.crc') && relative !== usual) files.push({ path: relative, size: info.size });
  }
  if (!files.some((file) => file.path === '.hoodie/hoodie.properties')) throw new Error(`${folder} holds no .hoodie/hoodie.properties`);
  const newestInstant = newest(files.map((file) => file.path));
  return { format: 'hudi-manifest', version: 1, madeAt: new Date().toISOString(), ...(newestInstant !== undefined && { newestInstant }), files };
}

/** Requested time of the newest completed instant: layout 2 names its completion, layout 1 has no state behind the action. @param {string[]} paths */
function newest(paths) {
  const completed = paths.flatMap((name) => {
    const [, two, one] = /^\.hoodie\/(?:timeline\/(\d+)_\d+\.[a-z]+|(\d{14,17})\.[a-z]+)$/.exec(name) ?? [];
    // Of layout 1 only, `<instant>.inflight` is a commit under way.
    return two ?? (one !== undefined && !name.endsWith('.inflight') ? one : []);
  });
  return completed.sort().at(-1);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    const { values, positionals } = parseArgs({ allowPositionals: true, options: { out: { type: 'string' } } });
    const [folder, more] = positionals;
    if (folder === undefined || more !== undefined) throw new Error('usage: npm run manifest -- <folder of the table> [--out <file to write>]');
    const file = values.out ?? path.join(folder, usual);
    const manifest = await manifestOf(folder);
    // A reader never meets half of it.
    const draft = `${file}.${process.pid}.tmp`;
    await writeFile(draft, `${JSON.stringify(manifest)}\n`);
    await rename(draft, file);
    console.log(`${file}: ${manifest.files.length} files, newest instant ${manifest.newestInstant ?? 'none'}`);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
