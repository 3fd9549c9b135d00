// Reads how many tests a suite ran from what it printed.

/**
 * @typedef {{ passed: number, failed: number }} Counts
 * @typedef {{ counts: 'cargo' | 'tap' | 'check', mayBeEmpty?: boolean }} Reading
 *   `counts` is the runner whose output it is; a 'check' is one test, judged by its exit code.
 */

/**
 * The counts of a suite, where one that failed without naming a test, or that ran none, has one failure.
 *
 * @param {Reading} suite
 * @param {{ code: number, output: string, timedOut?: boolean }} result
 * @returns {Counts & { problems: string[] }}
 */
export function verdict(suite, { code, output, timedOut = false }) {
  const counts = suite.counts === 'check' ? { passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1 } : readers[suite.counts](output);
  const problems = [];
  if (timedOut) problems.push('stopped, since its time was up');
  if (code !== 0 && counts.failed === 0) problems.push(`ended with code ${code}`);
  if (counts.passed + counts.failed === 0 && !suite.mayBeEmpty) problems.push('ran no test');
  if (suite.counts === 'cargo') problems.push(...emptyBinaries(output).map((name) => `${name} ran no test`));
  return { passed: counts.passed, failed: counts.failed + (counts.failed === 0 && problems.length > 0 ? 1 : 0), problems };
}

const readers = { cargo, tap };

/** cargo test and wasm-bindgen's runner print one result line a binary. */
function cargo(/** @type {string} */ output) {
  const counts = { passed: 0, failed: 0 };
  for (const [, passed, failed] of output.matchAll(/^test result: \w+\. (\d+) passed; (\d+) failed;/gm)) {
    counts.passed += Number(passed);
    counts.failed += Number(failed);
  }
  return counts;
}

/** Node's runner prints its totals as TAP comments; a cancelled test did not pass. */
function tap(/** @type {string} */ output) {
  const total = (/** @type {string} */ what) => Number(new RegExp(`^# ${what} (\\d+)$`, 'm').exec(output)?.[1] ?? 0);
  return { passed: total('pass'), failed: total('fail') + total('cancelled') };
}

/** Integration tests that were built and hold nothing, as by a `cfg` that switched all of a file off. */
function emptyBinaries(/** @type {string} */ output) {
  const sections = output.split(/^ +Running (?=\S)/m).slice(1);
  return sections
    .filter((section) => /^tests\//.test(section) && /^running 0 tests$/m.test(section) && !/ [1-9]\d* filtered out/.test(section))
    .map((section) => section.split(' ', 1)[0] ?? '')
    .filter((name) => name !== 'tests/wasm/main.rs');
}
