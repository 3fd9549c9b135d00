import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HudiError } from '../errors.js';
import { sharedSigner } from './presigned.js';

const get = /** @type {const} */ ({ method: 'GET', key: 'a/b', query: {}, headers: {} });

/** A signer on a clock of ours; each call gives the next address, with what `more` adds for it. */
function shared(/** @type {(nth: number) => any} */ answer) {
  const state = { now: Date.UTC(2026, 0, 1), calls: /** @type {any[]} */ ([]) };
  const sign = sharedSigner(
    async (request) => {
      state.calls.push(request);
      return answer(state.calls.length);
    },
    () => state.now,
  );
  return { state, sign, later: (/** @type {number} */ seconds) => (state.now += seconds * 1000) };
}

test('parallel calls for one object are signed once, those for others apart', async () => {
  const { state, sign } = shared((nth) => `https://h.test/${nth}`);
  const all = await Promise.all([sign(get), sign(get), sign({ ...get, key: 'c' }), sign({ ...get, method: 'LIST' }), sign(get)]);
  assert.deepEqual(all.map(({ url }) => url), ['https://h.test/1', 'https://h.test/1', 'https://h.test/2', 'https://h.test/3', 'https://h.test/1']);
  assert.deepEqual(state.calls[0], get);
});

/** An address is used again for `kept` seconds, and made anew after one more. */
async function check(/** @type {(nth: number) => any} */ answer, /** @type {number} */ kept) {
  const { state, sign, later } = shared(answer);
  const first = await sign(get);
  assert.equal(first.reused, false);
  later(kept);
  assert.deepEqual(await sign(get), { ...first, reused: true });
  later(1);
  assert.equal((await sign(get)).reused, false);
  assert.equal(state.calls.length, 2);
}

test('an address is used until ten seconds before expiresAt', () => check((nth) => ({ url: `https://h.test/${nth}`, expiresAt: new Date(Date.UTC(2026, 0, 1, 0, 1, 40) + nth) }), 90));

test('an address is used until ten seconds before the end that it names itself', async () => {
  await check((nth) => `https://h.test/${nth}?X-Amz-Date=20260101T000000Z&X-Amz-Expires=100`, 89);
  await check((nth) => new URL(`https://h.test/${nth}?X-Goog-Date=20260101T000000Z&X-Goog-Expires=100`), 89);
  await check((nth) => `https://h.test/${nth}?Expires=${Date.UTC(2026, 0, 1) / 1000 + 100}`, 89);
});

test('a short life is used for its first half', () => check((nth) => `https://h.test/${nth}?X-Amz-Date=20260101T000000Z&X-Amz-Expires=6`, 2));

test('an address of unknown life, and a failure, are not kept', async () => {
  const { state, sign } = shared((nth) => {
    if (nth === 2) throw new Error('no');
    return { url: `https://h.test/${nth}`, headers: { 'x-a': 'b' } };
  });
  assert.deepEqual(await sign(get), { url: 'https://h.test/1', headers: { 'x-a': 'b' }, reused: false });
  await assert.rejects(sign(get), /no/);
  assert.equal((await sign(get)).url, 'https://h.test/3');
  assert.equal(state.calls.length, 3);
});

test('an address that was refused is made anew', async () => {
  const { sign } = shared((nth) => `https://h.test/${nth}?X-Amz-Date=20260101T000000Z&X-Amz-Expires=600`);
  await sign(get);
  assert.equal((await sign({ ...get, again: true })).url.includes('/2?'), true);
  assert.equal((await sign(get)).url.includes('/2?'), true);
});

test('what is no URL is refused', async () => {
  for (const wrong of [undefined, 7, {}, { url: 7 }]) {
    await assert.rejects(shared(() => wrong).sign(get), (error) => HudiError.is(error, 'INVALID_ARGUMENT'));
  }
});
