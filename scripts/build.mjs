// Builds the release wasm and its glue into dist/: `npm run build`. `--dev` builds faster code-to-page for trying things.
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundle } from './lib/bundle.mjs';
import { finishGlue } from './lib/glue.mjs';
import { must, root, since, target, toolFolders } from './lib/run.mjs';
import { setup } from './setup.mjs';

const triple = 'wasm32-unknown-unknown';

/** @param {{ dev?: boolean }} [options] */
export async function build({ dev = false } = {}) {
  const start = performance.now();
  // `--crate-type cdylib`, since cargo skips link-time optimisation for a crate that is also an rlib.
  const profile = dev ? [] : ['--release'];
  // Of small functions only the smallest are copied to where they are called: 24 kB less in brotli, and nothing slower.
  const small = dev ? [] : ['--', '-C', 'llvm-args=-inline-threshold=20'];
  const crate = ['--target', triple, '--crate-type', 'cdylib', ...small];
  await must('cargo', ['rustc', '--locked', '--lib', ...profile, ...crate], { show: true });
  const built = path.join(target, triple, dev ? 'debug' : 'release', 'hudi_wasm.wasm');
  const dist = path.join(root, 'dist');
  await rm(dist, { recursive: true, force: true });
  await mkdir(dist, { recursive: true });
  const bindgen = path.join((await toolFolders())['wasm-bindgen-cli'], 'bin', 'wasm-bindgen');
  // The names of functions would be a megabyte.
  const options = ['--target', 'web', '--remove-name-section', '--omit-default-module-path', '--no-typescript', '--out-name', 'core', '--out-dir', dist];
  await must(bindgen, [...options, built]);
  const glue = path.join(dist, 'core.js');
  await writeFile(glue, finishGlue(await readFile(glue, 'utf8')));
  await bundle();
  const { size } = await stat(path.join(dist, 'core_bg.wasm'));
  console.log(`build: dist/core_bg.wasm, ${size} bytes (${since(start)})`);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    await setup({ tests: false });
    await build({ dev: process.argv.includes('--dev') });
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
