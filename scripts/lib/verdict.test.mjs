import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verdict } from './verdict.mjs';

const check = (
  /** @type {import('./verdict.mjs').Reading['counts']} */ counts,
  /** @type {number} */ code,
  /** @type {string} */ output,
  /** @type {[passed: number, failed: number]} */ expected,
) => {
  const { passed, failed } = verdict({ counts }, { code, output });
  assert.deepEqual([passed, failed], expected);
};

const binary = (/** @type {string} */ name, /** @type {number} */ passed, /** @type {number} */ failed) =>
  `     Running ${name} (target/debug/deps/x)\n\nrunning ${passed + failed} tests\n\n` +
  `test result: ${failed > 0 ? 'FAILED' : 'ok'}. ${passed} passed; ${failed} failed; 0 ignored; 0 measured; 0 filtered out\n`;

test('cargo results are summed over binaries', () => {
  check('cargo', 101, binary('unittests src/lib.rs', 3, 0) + binary('tests/floors.rs', 4, 1), [7, 1]);
});
test('an integration test file that holds no test fails the suite', () => {
  check('cargo', 0, binary('unittests src/lib.rs', 3, 0) + binary('tests/floors.rs', 0, 0), [3, 1]);
});
test('a crash without a result line is a failure', () => check('cargo', 101, 'error: could not compile', [0, 1]));
test('a runner that ran nothing and ended well is a failure', () => check('tap', 0, '# tests 0\n# pass 0\n# fail 0\n', [0, 1]));
test('a cancelled test of Node counts as failed', () => check('tap', 1, '# pass 2\n# fail 0\n# cancelled 1\n', [2, 1]));
test('a check is one test, judged by its exit code', () => {
  check('check', 0, '', [1, 0]);
  check('check', 1, '', [0, 1]);
});
