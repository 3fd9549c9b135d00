// The tools of other people that the packed package is tried with; 500 MB, so they are installed once, beside the other tools.
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { cache, root, run } from '../../../scripts/lib/run.mjs';

const wanted = path.join(root, 'tests/long/consumers');

/**
 * The folder of the tools' node_modules, or why they are not to be had here.
 *
 * @returns {Promise<{ modules: string } | { why: string }>}
 */
export async function tools() {
  const hash = createHash('sha256').update(await readFile(path.join(wanted, 'package-lock.json'))).digest('hex').slice(0, 16);
  const folder = path.join(cache, `consumers-${hash}`);
  if (!existsSync(folder)) {
    // Installed beside and moved in whole: what was stopped leaves nothing that looks finished.
    const beside = `${folder}.${process.pid}`;
    await mkdir(beside, { recursive: true });
    await cp(wanted, beside, { recursive: true });
    const { code, output } = await run('npm', ['ci', '--no-audit', '--no-fund'], { cwd: beside });
    if (code !== 0) {
      await rm(beside, { recursive: true });
      return { why: `npm ci ended with code ${code}: ${output.trim().split('\n').at(-1)}` };
    }
    await rename(beside, folder);
  }
  return { modules: path.join(folder, 'node_modules') };
}

/** Firefox: FIREFOX when set, what PATH holds, or from apt when root. @returns {Promise<string | undefined>} */
export async function firefox() {
  const named = process.env.FIREFOX;
  if (named) return named;
  const find = async () => {
    for (const name of ['firefox-esr', 'firefox']) {
      const { code, output } = await run('which', [name]);
      if (code === 0) return output.trim();
    }
    return undefined;
  };
  const found = await find();
  if (found !== undefined || !existsSync('/usr/bin/apt-get') || process.getuid?.() !== 0) return found;
  const env = { DEBIAN_FRONTEND: 'noninteractive' };
  const installed = await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'firefox-esr'], { env });
  return installed.code === 0 ? find() : undefined;
}

