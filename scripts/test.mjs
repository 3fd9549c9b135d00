// Sets up and runs every suite: `npm test`. Ends with one line, `N passed, N failed`.
//   --all            also the suites that take too long for every run (`npm run test:all`)
//   --minutes N      start no suite of --all, and let none run on, after N minutes in all
//   --only a,b       just these suites (names as printed); what they stand on must have been made before
//   --list           print the names
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { root, run, since, toolPath } from './lib/run.mjs';
import { verdict } from './lib/verdict.mjs';
import { suites } from './suites.mjs';

const { values: options } = parseArgs({
  options: {
    all: { type: 'boolean', default: false },
    minutes: { type: 'string' },
    only: { type: 'string' },
    list: { type: 'boolean', default: false },
  },
});
const out = path.join(root, 'tests', 'out');
const started = performance.now();
/** A suite that hangs ends here, in milliseconds: well above what any takes cold on two cores. */
const longest = 30 * 60_000;
const deadline = options.minutes === undefined ? Infinity : started + Number(options.minutes) * 60_000;

/**
 * Runs one suite and prints how it went.
 *
 * @param {import('./suites.mjs').Suite} suite
 * @param {Record<string, string>} env
 * @param {number | undefined} timeout milliseconds
 */
async function runSuite(suite, env, timeout) {
  const start = performance.now();
  const log = path.join(out, `${suite.name.replaceAll(/[^\w.-]+/g, '-')}.log`);
  const [command = '', ...args] = suite.command;
  if (process.stdout.isTTY) process.stdout.write(`… ${suite.name}\r`);
  const output = suite.live ? { show: true } : { log };
  const result = await run(command, args, { ...output, env: { ...env, ...suite.env }, timeout });
  const { passed, failed, problems } = verdict(suite, result);
  if (failed > 0) console.log(result.output.trimEnd());
  for (const line of suite.say?.(result.output) ?? []) console.log(`  ${line}`);
  for (const problem of problems) console.log(`  ${suite.name}: ${problem}`);
  console.log(`${failed > 0 ? 'FAILED' : 'ok'} ${suite.name}: ${passed} passed, ${failed} failed (${since(start)})`);
  return { passed, failed };
}

/** The suites asked for, in order. */
async function chosen() {
  const known = await suites();
  if (options.only === undefined) return known.filter((suite) => options.all || !suite.long);
  const names = options.only.split(',');
  const strange = names.filter((name) => !known.some((suite) => suite.name === name));
  if (strange.length > 0) throw new Error(`no suite is named ${strange.join(', ')}; --list prints the names`);
  return known.filter((suite) => names.includes(suite.name));
}

/** @param {import('./suites.mjs').Suite[]} list */
async function runAll(list) {
  if (options.only === undefined) await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  const env = { PATH: await toolPath(), CARGO_TERM_COLOR: 'never', NO_COLOR: '1' };
  let [passed, failed] = [0, 0];
  /** @type {Set<string>} */
  const broken = new Set();
  for (const suite of list) {
    const left = deadline - performance.now();
    const missing = suite.needs?.find((name) => broken.has(name));
    if (suite.long && left < 60_000) {
      console.log(`left out ${suite.name}: no time left`);
    } else if (missing !== undefined) {
      broken.add(suite.name);
      failed += 1;
      console.log(`FAILED ${suite.name}: did not run, since ${missing} failed`);
    } else {
      const counts = await runSuite(suite, env, suite.long ? Math.min(left, longest) : longest);
      if (counts.failed > 0) broken.add(suite.name);
      passed += counts.passed;
      failed += counts.failed;
    }
  }
  console.log(`tests took ${since(started)}`);
  console.log(`${passed} passed, ${failed} failed`);
  return failed;
}

const list = await chosen();
if (options.list) for (const { name } of list) console.log(name);
else {
  const left = options.only === undefined ? (await suites()).filter((suite) => !list.some(({ name }) => name === suite.name)) : [];
  if (left.length > 0) console.log(`left out, since only --all runs them: ${left.map(({ name }) => name).join(', ')}`);
  process.exitCode = (await runAll(list)) > 0 ? 1 : 0;
}
