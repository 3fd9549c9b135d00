// The suites of `npm test`, in the order they run: cheap and telling ones first, those that share built artifacts together.
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { browser, root } from './lib/run.mjs';

/**
 * @typedef {object} Suite
 * @property {string} name
 * @property {string[]} command
 * @property {'cargo' | 'tap' | 'check'} counts how its output is read, see lib/verdict.mjs
 * @property {string[]} [needs] suites without which it cannot run
 * @property {Record<string, string>} [env]
 * @property {boolean} [long] only with --all
 * @property {boolean} [mayBeEmpty]
 * @property {boolean} [live] shown as it runs, and so not kept; only for a check
 * @property {(output: string) => string[]} [say] lines worth printing although all is well
 */

/** Test files of Node's runner that must be there: a suite that is gone has not passed. */
const expected = ['node', 'workerd', 'browser', 'package', 'size', 'page', 'explorer'].map((name) => `tests/wasm/${name}.test.js`);

const wasm = ['--target', 'wasm32-unknown-unknown'];
const rustdoc = { RUSTDOCFLAGS: '-D warnings' };

/** @returns {Promise<Suite[]>} */
export async function suites() {
  const { chromedriver = 'chromedriver' } = await browser();
  const wasmPack = ['wasm-pack', 'test', '--mode', 'no-install'];
  const clippy = ['cargo', 'clippy', '--locked', '--workspace', '--all-targets'];
  const doc = ['cargo', 'doc', '--locked', '--workspace', '--no-deps'];
  const node = process.execPath;
  return [
    { name: 'setup', command: [node, 'scripts/setup.mjs'], counts: 'check', live: true },
    { name: 'fmt', command: ['cargo', 'fmt', '--all', '--check'], counts: 'check' },
    { name: 'eslint', command: [node, 'node_modules/eslint/bin/eslint.js', '.'], counts: 'check', needs: ['setup'] },
    { name: 'tsc', command: [node, 'node_modules/typescript/bin/tsc', '-p', '.'], counts: 'check', needs: ['setup'] },
    { name: 'clippy', command: [...clippy, '--', '-D', 'warnings'], counts: 'check' },
    { name: 'rustdoc', command: doc, env: rustdoc, counts: 'check' },
    { name: 'cargo test', command: ['cargo', 'test', '--locked', '--workspace', '--no-fail-fast'], counts: 'cargo' },
    { name: 'clippy wasm32', command: [...clippy, ...wasm, '--', '-D', 'warnings'], counts: 'check', needs: ['setup'] },
    { name: 'rustdoc wasm32', command: [...doc, ...wasm], env: rustdoc, counts: 'check', needs: ['setup'] },
    // wasm-pack builds every test target; `--test wasm` then starts only the one that has tests for this machine.
    { name: 'wasm-pack node', command: [...wasmPack, '--node', '--', '--locked', '--test', 'wasm'], counts: 'cargo', needs: ['setup'] },
    {
      name: 'wasm-pack chrome',
      command: [...wasmPack, '--headless', '--chrome', '--chromedriver', chromedriver, '--', '--locked', '--test', 'wasm'],
      // The tests name no machine themselves, so that Node can run them too.
      env: { WASM_BINDGEN_USE_BROWSER: '1', WASM_BINDGEN_TEST_TIMEOUT: '300' },
      counts: 'cargo',
      needs: ['setup'],
    },
    { name: 'build', command: [node, 'scripts/build.mjs'], counts: 'check', needs: ['setup'], say: lines(/^build: /) },
    { name: 'pack', command: [node, 'scripts/pack.mjs'], counts: 'check', needs: ['build'], say: lines(/^pack: /) },
    ...(await nodeSuites()),
    {
      name: 'cargo test --ignored',
      command: ['cargo', 'test', '--locked', '--workspace', '--no-fail-fast', '--', '--ignored'],
      counts: 'cargo',
      long: true,
      mayBeEmpty: true,
    },
  ];
}

/** One suite a file, so that each has its own log and a file without a test is seen. */
async function nodeSuites() {
  const found = new Set(expected);
  for (const folder of ['js', 'scripts', 'tests/js', 'tests/parity', 'tests/wasm', 'tests/long']) {
    for (const file of await testFiles(folder)) found.add(file);
  }
  return [...found].map((file) => ({
    name: file,
    command: [process.execPath, '--test-reporter=tap', file],
    counts: /** @type {const} */ ('tap'),
    long: file.startsWith('tests/long/'),
    needs: /^(js|scripts|tests\/parity)\//.test(file) ? ['setup'] : ['pack'],
    say: lines(/^# (raw|gzip|brotli|stops:) /),
  }));
}

async function testFiles(/** @type {string} */ folder) {
  const entries = await readdir(path.join(root, folder), { withFileTypes: true, recursive: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile() && /\.test\.m?js$/.test(entry.name))
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)).split(path.sep).join('/'))
    .sort();
}

const lines = (/** @type {RegExp} */ pattern) => (/** @type {string} */ output) => output.split('\n').filter((line) => pattern.test(line));
