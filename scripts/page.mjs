// Bundles the explorer page, www/, into www/dist/, beside the wasm of dist/.
import { build as bundle } from 'esbuild';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { root } from './lib/run.mjs';
import { makeSamples } from './samples.mjs';

const www = path.join(root, 'www');

/** The folder that holds the finished page. */
export const page = path.join(www, 'dist');

export async function buildPage() {
  await rm(page, { recursive: true, force: true });
  await mkdir(page, { recursive: true });
  await bundle({
    entryPoints: ['main.js', 'worker.js'].map((name) => path.join(www, name)).filter((name) => existsSync(name)),
    outdir: page,
    bundle: true,
    splitting: true,
    format: 'esm',
    target: 'es2022',
    minify: true,
    sourcemap: true,
    conditions: ['browser'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    logLevel: 'warning',
  });
  for (const name of ['index.html', 'style.css']) {
    if (existsSync(path.join(www, name))) await copyFile(path.join(www, name), path.join(page, name));
  }
  await makeSamples(path.join(page, 'tables'));
  await copyFile(path.join(root, 'dist', 'core_bg.wasm'), path.join(page, 'core_bg.wasm'));
}
