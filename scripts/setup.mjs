// Brings a machine with rustup's cargo and Node to where everything builds and tests: `node scripts/setup.mjs`.
// Needs no package, is quick when all is there, and says in one line what it does.
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { browser, cache, must, root, since, toolFolders } from './lib/run.mjs';

/**
 * One thing that must be on the machine.
 *
 * @typedef {{ name: string, minutes: number, ready: () => Promise<boolean>, make: () => Promise<void> }} Part
 *   `minutes` is what making it takes on two cores, for people who wait
 */

/** @returns {Part} */
function rustParts(/** @type {boolean} */ tests) {
  const triple = 'wasm32-unknown-unknown';
  /** @type {[file: string, rustup: string[]][]} */
  const wanted = [
    [`lib/rustlib/${triple}/lib`, ['target', 'add', triple]],
    ...(tests ? /** @type {[string, string[]][]} */ ([['bin/cargo-clippy', ['component', 'add', 'clippy']], ['bin/rustfmt', ['component', 'add', 'rustfmt']]]) : []),
  ];
  // A look into the toolchain's folder; asking rustup costs more than the two seconds that a ready machine may wait.
  const missing = async () => {
    const sysroot = (await must('rustc', ['--print', 'sysroot'])).trim();
    return wanted.filter(([file]) => !existsSync(path.join(sysroot, file)));
  };
  return {
    name: `Rust's ${triple}${tests ? ', clippy and rustfmt' : ''}`,
    minutes: 0.2,
    ready: async () => (await missing()).length === 0,
    async make() {
      // One after the other: two rustups would wait for each other's lock, or fail on it.
      for (const [, args] of await missing()) await must('rustup', args);
    },
  };
}

/** These tools run for seconds: half the compile time is worth more than the last of their speed. */
const quickBuild = {
  CARGO_PROFILE_RELEASE_LTO: 'off',
  CARGO_PROFILE_RELEASE_OPT_LEVEL: '1',
  CARGO_PROFILE_RELEASE_CODEGEN_UNITS: '16',
  CARGO_PROFILE_RELEASE_DEBUG: '0',
};

/** @returns {Part} */
function cargoTool(/** @type {string} */ crate, /** @type {string} */ folder, /** @type {string} */ binary, /** @type {string[]} */ features = []) {
  const version = path.basename(folder).slice(crate.length + 1);
  return {
    name: `${crate} ${version}`,
    minutes: 2.5,
    ready: async () => existsSync(path.join(folder, 'bin', binary)),
    async make() {
      // Installed beside and moved in whole: a stopped build leaves nothing that looks finished. Not --locked, since
      // wasm-bindgen-cli's own lock file names a yanked crate.
      const beside = `${folder}.${process.pid}`;
      await rm(beside, { recursive: true, force: true });
      const where = ['--root', beside, '--target-dir', `${beside}-build`];
      await must('cargo', ['install', crate, '--version', version, ...(features.length > 0 ? ['--features', features.join(',')] : []), ...where], { cwd: cache, env: quickBuild });
      await rm(`${beside}-build`, { recursive: true, force: true });
      await rm(folder, { recursive: true, force: true });
      await rename(beside, folder);
    },
  };
}

/** @returns {Part} */
function npmPackages() {
  const stamp = path.join(root, 'node_modules', '.hudi-wasm-setup');
  const wanted = async () =>
    createHash('sha256')
      .update(await readFile(path.join(root, 'package-lock.json')))
      .update(process.version)
      .digest('hex');
  return {
    name: 'npm packages',
    minutes: 0.3,
    ready: async () => (await readFile(stamp, 'utf8').catch(() => '')) === (await wanted()),
    async make() {
      await must(process.platform === 'win32' ? 'npm.cmd' : 'npm', ['ci', '--no-audit', '--no-fund']);
      await writeFile(stamp, await wanted());
    },
  };
}

/** @returns {Part} */
function chromium() {
  return {
    name: 'Chromium and its driver',
    minutes: 1,
    async ready() {
      const found = await browser();
      return found.chromium !== undefined && found.chromedriver !== undefined;
    },
    async make() {
      const install = 'apt-get install --no-install-recommends chromium chromium-driver';
      const apt = existsSync('/usr/bin/apt-get');
      if (!apt || process.getuid?.() !== 0) {
        throw new Error(
          'The browser tests need Chromium and chromedriver of the same version. ' +
            (apt ? `Run: sudo ${install}` : 'Install both and put them on PATH, or name them in CHROMIUM and CHROMEDRIVER.'),
        );
      }
      const env = { DEBIAN_FRONTEND: 'noninteractive' };
      await must('apt-get', ['update', '-qq'], { env });
      await must('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'chromium', 'chromium-driver'], { env });
    },
  };
}

/**
 * Makes what is missing. `tests: false` leaves out what only tests need, `s3` asks for the S3 server all the same.
 *
 * @param {{ tests?: boolean, s3?: boolean }} [options]
 */
export async function setup({ tests = true, s3 = tests } = {}) {
  const start = performance.now();
  await mkdir(cache, { recursive: true });
  const folders = await toolFolders();
  /** @type {Part[]} */
  const parts = [
    rustParts(tests),
    npmPackages(),
    cargoTool('wasm-bindgen-cli', folders['wasm-bindgen-cli'], 'wasm-bindgen'),
    ...(tests ? [cargoTool('wasm-pack', folders['wasm-pack'], 'wasm-pack'), chromium()] : []),
    ...(s3 ? [cargoTool('s3s-fs', folders['s3s-fs'], 's3s-fs', ['binary'])] : []),
  ];
  const ready = await Promise.all(parts.map((part) => part.ready()));
  const missing = parts.filter((_, i) => !ready[i]);
  if (missing.length === 0) {
    console.log(`setup: all there (${since(start)})`);
    return;
  }
  const minutes = Math.ceil(missing.reduce((sum, part) => sum + part.minutes, 0));
  console.log(`setup: getting ${missing.map((part) => part.name).join('; ')} (about ${minutes} min on two cores)`);
  await makeAll(missing);
  console.log(`setup: done (${since(start)})`);
}

/** Downloads overlap with compilation; the compilations do too, each being narrow for much of its time. */
async function makeAll(/** @type {Part[]} */ missing) {
  const results = await Promise.allSettled(
    missing.map(async (part) => {
      const start = performance.now();
      await part.make();
      console.log(`setup: ${part.name} (${since(start)})`);
    }),
  );
  const failed = results.filter((result) => result.status === 'rejected').map((result) => String(result.reason.message));
  if (failed.length > 0) throw new Error(`setup could not finish:\n${failed.join('\n')}`);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await setup({ tests: !process.argv.includes('--build-only') }).catch((error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
}
