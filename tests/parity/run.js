// Spark and our engine over the same tables: `npm run parity`, `npm run parity -- NAME…`. Ends with `N passed, N failed, N skipped`.
//   NAME             a scenario, or a run of its name's parts: B, cow_parts, 1.1.1, random/7
//   --brief          the part of the matrix that CI runs
//   --from N, --seeds N   random tables of the seeds from N on (default: 20 from 1)
//   --minutes N      start no scenario after N minutes in all; one that is left then has failed
//   --built          dist/ is up to date: do not build
//   --list           print the names
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { build } from '../../scripts/build.mjs';
import { since } from '../../scripts/lib/run.mjs';
import { bundles, sparkTools } from '../../scripts/lib/spark.mjs';
import { setup } from '../../scripts/setup.mjs';
import { Ours } from './lib/ours.js';
import { Spark, SparkError, recipes } from './lib/spark.js';
import { named, scenarios } from './scenarios.js';

/**
 * @typedef {import('./scenarios.js').Scenario} Scenario
 * @typedef {import('./scenarios.js').Pending} Pending
 */

const { values: options, positionals: names } = parseArgs({
  allowPositionals: true,
  options: {
    brief: { type: 'boolean', default: false },
    from: { type: 'string', default: '1' },
    seeds: { type: 'string', default: '20' },
    minutes: { type: 'string' },
    built: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
  },
});
const started = performance.now();
const deadline = options.minutes === undefined ? Infinity : started + Number(options.minutes) * 60_000;

/** Scenarios asked for, those of one Spark process together, and what is pending among them. */
async function chosen() {
  const tools = await sparkTools(/** @type {(keyof typeof bundles)[]} */ (Object.keys(bundles)));
  const known = scenarios(await recipes(tools), seeds());
  const wanted = names.length === 0 ? known : known.filter((scenario) => names.some((name) => named([scenario], name).length > 0));
  const strange = names.filter((name) => named(known, name).length === 0);
  if (strange.length > 0) throw new Error(`no scenario is named ${strange.join(', ')}; --list prints the names`);
  const all = /** @type {Scenario[]} */ (wanted.filter((scenario) => 'run' in scenario && (scenario.brief === true || !options.brief)));
  const order = (/** @type {Scenario} */ { session }) => `${session.bundle} ${session.zone}`;
  const run = all.sort((a, b) => (order(a) < order(b) ? -1 : order(a) > order(b) ? 1 : 0));
  return { tools, run, pending: /** @type {Pending[]} */ (wanted.filter((scenario) => 'pending' in scenario)) };
}

/** The seeds of the options, and those that names give. */
function seeds() {
  const range = Array.from({ length: Number(options.seeds) }, (_, i) => Number(options.from) + i);
  const given = names.flatMap((name) => /(?:^|\/)random\/(\d+)$/.exec(name)?.[1] ?? []).map(Number);
  return [...new Set([...range, ...given])];
}

/** Runs scenarios one after the other, with one Spark process at a time. */
class Runner {
  passed = 0;
  failed = 0;
  /** @type {Spark | undefined} */
  #spark;
  #session = '';
  #tools;
  #ours;
  #work;

  /** @param {import('./lib/spark.js').Tools} tools @param {Ours} ours @param {string} work */
  constructor(tools, ours, work) {
    this.#tools = tools;
    this.#ours = ours;
    this.#work = work;
  }

  /** @param {Scenario} scenario */
  async run(scenario) {
    const start = performance.now();
    const { queries, problems } = await this.#outcome(scenario);
    for (const problem of problems) console.log(`  ${problem.replaceAll('\n', '\n    ')}`);
    const said = `${scenario.name}: ${queries} queries (${since(start)})`;
    console.log(problems.length === 0 ? `ok ${said}` : `FAILED ${said}`);
    if (problems.length === 0) this.passed += 1;
    else this.failed += 1;
  }

  /** @param {Scenario} scenario @returns {Promise<import('./scenarios.js').Outcome>} */
  async #outcome({ session, run }) {
    if (performance.now() > deadline) return { queries: 0, problems: ['did not run: no time left'] };
    try {
      return await run({ spark: await this.#process(session), ours: this.#ours });
    } catch (error) {
      const text = error instanceof SparkError ? `Spark: ${error.message}` : error instanceof Error ? error.stack : undefined;
      return { queries: 0, problems: [text ?? String(error)] };
    }
  }

  /** @param {import('./lib/spark.js').Session} session */
  async #process(session) {
    const key = JSON.stringify(session);
    if (this.#spark === undefined || this.#spark.ended || this.#session !== key) {
      await this.stop();
      const start = performance.now();
      this.#spark = await Spark.start(this.#tools, session, this.#work);
      this.#session = key;
      console.log(`Spark with Hudi ${session.bundle}, ${session.zone} (${since(start)})`);
    }
    return this.#spark;
  }

  async stop() {
    await this.#spark?.stop();
    this.#spark = undefined;
  }
}

async function main() {
  const { tools, run, pending } = await chosen();
  if (options.list) {
    for (const { name } of run) console.log(name);
  } else if (run.length > 0) {
    await runAll(tools, run);
  }
  for (const { name, pending: issue } of pending) console.log(`pending: ${name} (${issue})`);
  console.log(`${pending.length} pending`);
  if (!options.list && run.length === 0) throw new Error('nothing ran: all that was asked for is pending');
}

const totals = { passed: 0, failed: 0 };

/** @param {import('./lib/spark.js').Tools} tools @param {Scenario[]} run */
async function runAll(tools, run) {
  await setup({ tests: false, s3: true });
  if (!options.built) await build();
  const work = await mkdtemp(path.join(tmpdir(), 'hudi-parity-'));
  const runner = new Runner(tools, await Ours.install(path.join(work, 'package')), work);
  try {
    for (const scenario of run) await runner.run(scenario);
  } finally {
    await runner.stop();
    Object.assign(totals, { passed: runner.passed, failed: runner.failed });
  }
  // What failed can be looked at.
  if (runner.failed === 0) await rm(work, { recursive: true });
  else console.log(`tables and Spark's logs: ${work}`);
  console.log(`parity took ${since(started)}`);
}

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  totals.failed += 1;
}
if (!options.list || totals.failed > 0) console.log(`${totals.passed} passed, ${totals.failed} failed, 0 skipped`);
process.exitCode = totals.failed > 0 ? 1 : 0;
