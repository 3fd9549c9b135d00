// A Spark process over one Hudi bundle, asked by lines of JSON; spark/serve.py is the other side.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { openSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { root, run } from '../../../scripts/lib/run.mjs';

/**
 * @typedef {Awaited<ReturnType<typeof import('../../../scripts/lib/spark.mjs').sparkTools>>} Tools
 * @typedef {import('../../../scripts/lib/spark.mjs').Bundle} Bundle
 * @typedef {{ bundle: Bundle, zone: string, lock?: boolean }} Session a process holds one bundle and one zone; `lock` adds the tests' lock client
 *
 * @typedef {object} Query in the words of js/index.d.ts
 * @property {'snapshot' | 'incremental' | 'cdc'} queryType
 * @property {string} [asOf]
 * @property {boolean} [readOptimized]
 * @property {import('../../../js/index.d.ts').Filters} [filters]
 * @property {string[]} [projection]
 * @property {Record<string, string>} [hudiOptions]
 *
 * @typedef {Record<string, unknown>} Row in the canonical form of tests/README.md
 * @typedef {{ query: Query, rows?: Row[], rowsWithMetadata?: Row[], error?: string, count?: number, sums?: Record<string, string>, sample?: Row[] }} Entry
 *   a query and what Spark answered
 * @typedef {{ path: string, table: string, note: string, tableVersion: number, tableType: string, queries: Entry[] }} Made
 */

/** A first write takes 14 s alone on two cores, the longest recipe a few minutes. */
const patience = 15 * 60_000;
const tests = path.join(root, 'tests');

/** The recipes of tests/parity/tables by name. @param {Tools} tools @returns {Promise<Record<string, Session>>} */
export async function recipes(tools) {
  const { code, output } = await run(tools.python, ['-m', 'parity.spark.recipes'], { cwd: tests });
  if (code !== 0) throw new Error(`the recipes could not be listed:\n${output}`);
  return JSON.parse(output);
}

/** What Spark said; where it said so is in the text, and our own stack tells nothing. */
export class SparkError extends Error {}

export class Spark {
  #child;
  #stopped;
  #next = 1;
  /** @type {Map<number, { resolve: (value: any) => void, reject: (error: Error) => void }>} */
  #waiting = new Map();
  /** The file that has what Spark printed. */
  log;
  /** Whether the process is gone, by itself or for want of an answer. */
  ended = false;

  /** @param {import('node:child_process').ChildProcess} child @param {string} log */
  constructor(child, log) {
    this.#child = child;
    this.log = log;
    this.#stopped = new Promise((resolve) => child.once('close', resolve));
    createInterface({ input: /** @type {import('node:stream').Readable} */ (child.stdout) }).on('line', (line) => this.#hear(JSON.parse(line)));
    const endWithUs = () => this.#kill();
    process.once('exit', endWithUs);
    child.once('close', () => process.removeListener('exit', endWithUs));
    child.once('error', (error) => this.#fail(error.message));
    child.once('close', (code) => this.#fail(`ended with code ${code}`));
    child.stdin?.on('error', () => {}); // the close event says more
  }

  /**
   * Starts a process, which takes 5 s; its tables go below `work`.
   *
   * @param {Tools} tools
   * @param {Session} session
   * @param {string} work
   */
  static async start(tools, { bundle, zone, lock = false }, work) {
    const folder = path.join(work, `${bundle}-${zone.replace('/', '_')}`);
    await mkdir(folder, { recursive: true });
    const log = path.join(work, `spark-${path.basename(folder)}.log`);
    const jar = lock ? `${tools.jar(bundle)},${await tools.lockJar(bundle)}` : tools.jar(bundle);
    const settings = JSON.stringify({ bundle, zone, jar, work: folder, memory: '2g' });
    const child = spawn(tools.python, ['-m', 'parity.spark.serve', settings], {
      cwd: tests,
      env: { ...process.env, JAVA_HOME: tools.javaHome, PYTHONDONTWRITEBYTECODE: '1', SPARK_LOCAL_IP: '127.0.0.1' },
      stdio: ['pipe', 'pipe', openSync(log, 'a')],
      // A group of its own, so that stopping ends the JVM too.
      detached: true,
    });
    const spark = new Spark(child, log);
    await spark.#answer(0, 5 * 60_000, 'start');
    return spark;
  }

  /**
   * Runs one of serve.py's verbs.
   *
   * @param {string} verb
   * @param {Record<string, unknown>} [values]
   * @returns {Promise<any>}
   */
  ask(verb, values = {}) {
    const id = this.#next++;
    const answer = this.#answer(id, patience, verb);
    this.#child.stdin?.write(`${JSON.stringify({ id, do: verb, ...values })}\n`);
    return answer;
  }

  async stop() {
    this.#child.stdin?.end();
    const timer = setTimeout(() => this.#kill(), 20_000);
    await this.#stopped;
    clearTimeout(timer);
    this.#kill();
  }

  #kill() {
    try {
      if (this.#child.pid !== undefined) process.kill(-this.#child.pid, 'SIGKILL');
    } catch {
      // All of the group has ended.
    }
  }

  /** @param {number} id @param {number} milliseconds @param {string} what */
  #answer(id, milliseconds, what) {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#kill();
        reject(new Error(`Spark gave no answer to ${what} within ${milliseconds / 60_000} min; see ${this.log}`));
      }, milliseconds);
      const settle = (/** @type {(value: any) => void} */ then) => (/** @type {any} */ value) => {
        clearTimeout(timer);
        this.#waiting.delete(id);
        then(value);
      };
      this.#waiting.set(id, { resolve: settle(resolve), reject: settle(reject) });
    });
  }

  /** @param {{ id: number, ok?: unknown, error?: string }} answer */
  #hear({ id, ok, error }) {
    const waiting = this.#waiting.get(id);
    if (error === undefined) waiting?.resolve(ok);
    else waiting?.reject(new SparkError(error));
  }

  #fail(/** @type {string} */ reason) {
    this.ended = true;
    for (const { reject } of [...this.#waiting.values()]) reject(new SparkError(`Spark ${reason}; see ${this.log}`));
  }
}
