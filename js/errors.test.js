import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import vm from 'node:vm';
import { HudiError, aborted, fromEngine } from './errors.js';
import { version } from './version.js';

test("the engine's text becomes an error with its code, context and cause", () => {
  const context = { path: 'a/b', status: '503', hint: 'wait', offset: '7' };
  const error = fromEngine(JSON.stringify({ code: 'THROTTLED', message: 'slow down', context, cause: 'the server said so' }));
  const { name, code, retryable, path, status, hint, message } = error;
  assert.deepEqual({ name, code, retryable, path, status, hint, message }, { name: 'HudiError', code: 'THROTTLED', retryable: true, path: 'a/b', status: 503, hint: 'wait', message: 'slow down' });
  assert.equal(error.context.offset, '7');
  assert.ok(error.cause instanceof Error);
});

test('what is no error of the engine is INTERNAL, with itself as the cause', () => {
  for (const thrown of [new TypeError('x'), 'text', '{"code":"NEW"}', undefined]) {
    const error = fromEngine(thrown);
    assert.equal(error.code, 'INTERNAL');
    assert.equal(error.cause, thrown);
  }
});

test('an aborted call is an AbortError with the reason as its cause', () => {
  const reason = { why: 1 };
  assert.deepEqual([aborted(reason).name, aborted(reason).code, aborted(reason).cause], ['AbortError', 'ABORTED', reason]);
});

test('an error of another realm is known as ours', async () => {
  const source = (await readFile(new URL('./errors.js', import.meta.url), 'utf8')).replace(/^export /gm, '');
  const foreign = vm.runInNewContext(`${source}; new HudiError('CORRUPT', 'x')`);
  assert.ok(!(foreign instanceof HudiError));
  assert.ok(HudiError.is(foreign) && HudiError.is(foreign, 'CORRUPT') && !HudiError.is(foreign, 'SCHEMA'));
  for (const other of [new Error('x'), { code: 'CORRUPT' }, null, 'CORRUPT']) assert.ok(!HudiError.is(other));
});

test('the codes are those of the types and of the engine', async () => {
  const types = await readFile(new URL('./index.d.ts', import.meta.url), 'utf8');
  const table = [...types.matchAll(/^ \* \| ([A-Z_]+) *\| (no|later|redo) /gm)].map(([, code, retry]) => [code, retry !== 'no']);
  const union = [...(/HudiErrorCode =([^;]+);/.exec(types)?.[1] ?? '').matchAll(/'([A-Z_]+)'/g)].map(([, code]) => code);
  const rust = await readFile(new URL('../src/error.rs', import.meta.url), 'utf8');
  const kinds = [...rust.matchAll(/^ {4}\w+, "([A-Z_]+)", (true|false), \w+;/gm)].map(([, code, retry]) => [code, retry === 'true']);
  assert.ok(table.length > 20);
  const sorted = (/** @type {unknown[]} */ list) => list.map(String).sort();
  assert.deepEqual(sorted(kinds), sorted(table));
  assert.deepEqual(sorted(union), sorted(table.map(([code]) => code)));
  for (const [code, retryable] of table) assert.equal(new HudiError(/** @type {any} */ (code), 'x').retryable, retryable);
});

test('the version is that of package.json', async () => {
  const { version: packed } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'));
  assert.equal(version, packed);
});
