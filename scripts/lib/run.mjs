// Child processes and paths that every script shares. Node's own modules only: setup.mjs runs before `npm ci`.
import { spawn } from 'node:child_process';
import { access, constants, open, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The clone's top folder. */
export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');

/** Tools live outside the clone, so that a second clone finds them. */
export const cache = path.join(process.env.XDG_CACHE_HOME || path.join(homedir(), '.cache'), 'hudi-wasm');

/** Where cargo puts what it builds. */
export const target = path.resolve(root, process.env.CARGO_TARGET_DIR || 'target');

/** Process groups under way: they do not hear the terminal's Ctrl-C, so this process tells them. */
const groups = /** @type {Set<number>} */ (new Set());

function endGroup(/** @type {number} */ pid) {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) {
  process.once(signal, () => {
    for (const pid of groups) endGroup(pid);
    process.exit(130);
  });
}

/**
 * Runs a command to its end. Never rejects: a command that cannot start gives code 127 and the reason in `output`.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd?: string, env?: Record<string, string>, log?: string, show?: boolean, timeout?: number }} [options]
 *   `log` is a file that receives the output, both streams in the order written; `show` passes the output on instead
 *   of keeping it; `timeout` is in milliseconds.
 * @returns {Promise<{ code: number, output: string, timedOut: boolean }>}
 */
export async function run(command, args, { cwd = root, env = {}, log, show = false, timeout } = {}) {
  const file = log === undefined ? undefined : await open(log, 'w');
  const sink = file?.fd ?? (show ? 'inherit' : 'pipe');
  /** @type {Buffer[]} */
  const chunks = [];
  let timedOut = false;
  const code = await new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', sink, sink],
      // A group of its own, so that a timeout also ends what the command started.
      detached: timeout !== undefined,
    });
    child.stdout?.on('data', (chunk) => chunks.push(chunk));
    child.stderr?.on('data', (chunk) => chunks.push(chunk));
    const { pid } = child;
    const stop = () => {
      timedOut = true;
      if (pid !== undefined) endGroup(pid);
    };
    const timer = timeout === undefined ? undefined : setTimeout(stop, timeout);
    if (timer !== undefined && pid !== undefined) groups.add(pid);
    const done = (/** @type {number} */ code) => {
      clearTimeout(timer);
      if (pid !== undefined) groups.delete(pid);
      resolve(code);
    };
    child.on('error', (error) => {
      chunks.push(Buffer.from(`${command}: ${error.message}\n`));
      done(127);
    });
    child.on('close', (code, signal) => {
      if (signal !== null && !timedOut) console.log(`${command} was ended by ${signal}, from outside`);
      done(code ?? 1);
    });
  });
  await file?.close();
  const kept = log === undefined ? '' : await readFile(log, 'utf8');
  return { code, output: kept + Buffer.concat(chunks).toString('utf8'), timedOut };
}

/** As `run`, and throws with the last lines of the output when the command fails. */
export async function must(
  /** @type {string} */ command,
  /** @type {string[]} */ args,
  /** @type {Parameters<typeof run>[2]} */ options = {},
) {
  const { code, output } = await run(command, args, options);
  if (code !== 0) {
    const tail = options.show ? '' : `\n${output.trimEnd().split('\n').slice(-30).join('\n')}`;
    throw new Error(`${command} ${args.join(' ')} ended with code ${code}${tail}`);
  }
  return output;
}

/** The version of a package that Cargo.lock holds. */
export async function lockedVersion(/** @type {string} */ name) {
  const lock = await readFile(path.join(root, 'Cargo.lock'), 'utf8');
  const version = new RegExp(`^name = "${name}"\\nversion = "([^"]+)"`, 'm').exec(lock)?.[1];
  if (version === undefined) throw new Error(`Cargo.lock names no ${name}`);
  return version;
}

/** The wasm-pack that this project is tested with. */
export const wasmPackVersion = '0.15.1';

/** The S3 server that tests speak to: the newest release that Rust 1.95 builds. */
const s3Version = '0.14.1';

/** Folders of the cached command-line tools, for the front of PATH. */
export async function toolFolders() {
  return {
    's3s-fs': path.join(cache, `s3s-fs-${s3Version}`),
    'wasm-bindgen-cli': path.join(cache, `wasm-bindgen-cli-${await lockedVersion('wasm-bindgen')}`),
    'wasm-pack': path.join(cache, `wasm-pack-${wasmPackVersion}`),
  };
}

/** PATH with the cached tools first. */
export async function toolPath() {
  const folders = Object.values(await toolFolders()).map((folder) => path.join(folder, 'bin'));
  return [...folders, process.env.PATH].join(path.delimiter);
}

/** Seconds since a `performance.now()`, for people. */
export const since = (/** @type {number} */ start) => `${((performance.now() - start) / 1000).toFixed(1)} s`;

/**
 * Where Chromium and its driver are: CHROMIUM and CHROMEDRIVER when set, else the first that PATH or the usual places hold.
 *
 * @returns {Promise<{ chromium?: string, chromedriver?: string }>}
 */
export async function browser() {
  return {
    chromium: await first(process.env.CHROMIUM, ['chromium', 'chromium-browser', 'google-chrome', 'chrome']),
    chromedriver: await first(process.env.CHROMEDRIVER, ['chromedriver', 'chromium.chromedriver']),
  };
}

async function first(/** @type {string | undefined} */ given, /** @type {string[]} */ names) {
  if (given) return given;
  const folders = (process.env.PATH ?? '').split(path.delimiter).concat('/usr/bin', '/usr/lib/chromium', '/snap/bin');
  for (const name of names) {
    for (const folder of folders) {
      const file = path.join(folder, name);
      if (await access(file, constants.X_OK).then(() => true, () => false)) return file;
    }
  }
  return undefined;
}
