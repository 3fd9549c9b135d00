// The JavaScript for Node in few files, dist/entry/: to find and to link thirty modules takes Node longer than to run them. What
// the entries share is in one file of its own, so that there is one engine and one HudiError whichever of them are imported.
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { root } from './run.mjs';

/** Makes them of js/ and the glue as they are now. */
export async function bundle() {
  const glue = path.join(root, 'dist/core.js');
  if (!existsSync(glue)) throw new Error('dist/core.js is missing: npm run build');
  const { build } = await import('esbuild');
  // As deep as the entries themselves, which name the wasm from where they lie.
  const outdir = path.join(root, 'dist/entry');
  await rm(outdir, { recursive: true, force: true });
  const from = (/** @type {string} */ name) => path.join(root, 'js', name);
  await build({
    entryPoints: { node: from('entry/node.js'), slim: from('entry/slim.js'), worker: from('worker/index.js') },
    outdir,
    splitting: true,
    chunkNames: 'shared-[hash]',
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    // The types were checked in js/, and their comments are gone.
    banner: { js: '// @ts-nocheck' },
    logLevel: 'warning',
  });
}
