// The JavaScript for Node in one file, dist/entry/node.js: to find and to link thirty modules takes Node longer than to run them.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { root } from './run.mjs';

/** Makes it of js/ and the glue as they are now. */
export async function bundle() {
  const glue = path.join(root, 'dist/core.js');
  if (!existsSync(glue)) throw new Error('dist/core.js is missing: npm run build');
  const { build } = await import('esbuild');
  await build({
    entryPoints: [path.join(root, 'js/entry/node.js')],
    // As deep as the entry itself, which names the wasm from where it lies.
    outfile: path.join(root, 'dist/entry/node.js'),
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'warning',
  });
}
