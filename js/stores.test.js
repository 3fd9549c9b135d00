import assert from 'node:assert/strict';
import fs from 'node:fs';
import { mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { clearImmediate, setImmediate } from 'node:timers';
import { pathToFileURL } from 'node:url';
import { HudiError } from './errors.js';
import { fileStore } from './file_store.js';
import { memoryStore } from './memory_store.js';
import { engineStore } from './stores.js';

/** @typedef {import('./index.d.ts').ObjectStore} ObjectStore */

const bytes = (/** @type {string} */ text) => new TextEncoder().encode(text);
const code = (/** @type {string} */ wanted) => (/** @type {unknown} */ error) => HudiError.is(error, /** @type {any} */ (wanted));

/** One suite for every store: what is promised to the engine does not depend on where the bytes lie. */
const kinds = {
  memory: async (/** @type {(store: ObjectStore, folder?: string) => Promise<void>} */ use) => use(memoryStore()),
  file: async (/** @type {(store: ObjectStore, folder?: string) => Promise<void>} */ use) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'hudi-wasm-store '));
    try {
      await use(fileStore(pathToFileURL(folder).href), folder);
    } finally {
      await rm(folder, { recursive: true });
    }
  },
};

/** @param {ObjectStore} store */
async function fill(store) {
  for (const name of ['.hoodie/b', '.hoodie/a', '.hoodie/timeline/2', '.hoodie/timeline/1', 'dt=1/x', 'é/ü']) await store.put?.(name, bytes(name), {});
}

const get = async (/** @type {ObjectStore} */ store, /** @type {string} */ name, /** @type {any} */ range = undefined) => {
  const { data, size } = await store.get(name, { range });
  return [new TextDecoder().decode(/** @type {Uint8Array} */ (data)), size];
};

async function names(/** @type {ObjectStore} */ store, /** @type {string} */ prefix, /** @type {any} */ options = {}) {
  const found = [];
  for await (const one of store.list(prefix, options)) found.push('prefix' in one ? one.prefix : one.path);
  return found;
}

test('file: what is read for the engine lies in memory that is lent again, once it is given back', (context) =>
  kinds.file(async (store) => {
    const [a, b] = [1, 2].map((seed) => Uint8Array.from({ length: 3 << 20 }, (_, at) => (at * seed) ^ (at >> 8)));
    await store.put?.('a', a, {});
    await store.put?.('b', b.subarray(0, 2 << 20), {});
    const lent = /** @type {any} */ (store.get)[Symbol.for('hudi-wasm.lent')];
    for (const speed of ['quick', 'slow']) {
      let time = 0;
      if (speed === 'slow') context.mock.method(performance, 'now', () => (time += 30));
      const first = await lent('a');
      assert.deepEqual([first.data, first.size], [a, a.length]);
      const own = await lent('b', { range: { start: 5, end: 1 << 20 } });
      assert.deepEqual([own.data, own.size], [b.slice(5, 1 << 20), 2 << 20]);
      assert.deepEqual(first.data, a);
      first.release();
      const again = await lent('b');
      assert.deepEqual(again.data, b.slice(0, 2 << 20));
      assert.equal(again.data.buffer, first.data.buffer);
      own.release();
      again.release();
    }
    // What is read for others is theirs, to the end of its memory.
    const { data } = await store.get('b', { range: { start: 0, end: 1 << 20 } });
    const own = /** @type {Uint8Array} */ (data);
    assert.equal(own.buffer.byteLength, 1 << 20);
    assert.deepEqual((await lent('a')).data, a);
    assert.deepEqual(own, b.slice(0, 1 << 20));
  }));

test('file: many reads leave others their turn', (context) =>
  kinds.file(async (store) => {
    await store.put?.('a', bytes('0123456789'), {});
    const lent = /** @type {any} */ (store.get)[Symbol.for('hudi-wasm.lent')];
    let time = performance.now();
    context.mock.method(performance, 'now', () => (time += 0.1));
    let turns = 0;
    const count = () => {
      turns += 1;
      timer = setImmediate(count);
    };
    let timer = setImmediate(count);
    for (let read = 0; read < 1000; read += 1) await lent('a');
    clearImmediate(timer);
    assert.ok(turns > 5, `${turns} turns`);
  }));

test('file: a disk that becomes slow is asked by other threads soon, and on the spot once it is quick again', (context) =>
  kinds.file(async (store) => {
    await store.put?.('a', bytes('0123456789'), {});
    let [time, slow, onTheSpot] = [0, 0, 0];
    const { readSync } = fs;
    context.mock.method(performance, 'now', () => time);
    context.mock.method(fs, 'readSync', (/** @type {Parameters<typeof readSync>} */ ...given) => {
      onTheSpot += 1;
      time += slow;
      return readSync(...given);
    });
    syncBuiltinESMExports();
    const reads = async (/** @type {number} */ count) => {
      onTheSpot = 0;
      for (let read = 0; read < count; read += 1) assert.deepEqual(await get(store, 'a'), ['0123456789', 10]);
      return onTheSpot;
    };
    try {
      assert.equal(await reads(3000), 3000);
      slow = 50;
      // 20 ms, and 0.2 for each of 200 questions at most.
      assert.ok((await reads(200)) < 10);
      slow = 0;
      await reads(2000);
      assert.equal(await reads(100), 100);
    } finally {
      context.mock.restoreAll();
      syncBuiltinESMExports();
    }
  }));

for (const [kind, open] of Object.entries(kinds)) {
  test(`${kind}: ranges are exact, and cut at the end`, () =>
    open(async (store) => {
      await store.put?.('a', bytes('0123456789'), {});
      assert.deepEqual(await get(store, 'a'), ['0123456789', 10]);
      assert.deepEqual(await get(store, 'a', { start: 2, end: 5 }), ['234', 10]);
      assert.deepEqual(await get(store, 'a', { start: 8, end: 99 }), ['89', 10]);
      assert.deepEqual(await get(store, 'a', { suffix: 3 }), ['789', 10]);
      assert.deepEqual(await get(store, 'a', { suffix: 30 }), ['0123456789', 10]);
      await assert.rejects(store.get('a', { range: { start: 10, end: 12 } }), code('PRECONDITION_FAILED'));
      await store.put?.('empty', bytes(''), {});
      assert.deepEqual(await get(store, 'empty', { start: 0, end: 64 }), ['', 0]);
    }));

  test(`${kind}: a listing is sorted by bytes, one level or all, after a name`, () =>
    open(async (store) => {
      await fill(store);
      assert.deepEqual(await names(store, ''), ['.hoodie/a', '.hoodie/b', '.hoodie/timeline/1', '.hoodie/timeline/2', 'dt=1/x', 'é/ü']);
      assert.deepEqual(await names(store, '', { delimiter: '/' }), ['.hoodie/', 'dt=1/', 'é/']);
      assert.deepEqual(await names(store, '.hoodie', { delimiter: '/' }), ['.hoodie/a', '.hoodie/b', '.hoodie/timeline/']);
      assert.deepEqual(await names(store, '.hoodie/', { startAfter: '.hoodie/b' }), ['.hoodie/timeline/1', '.hoodie/timeline/2']);
      assert.deepEqual(await names(store, 'dt=1'), ['dt=1/x']);
      assert.deepEqual(await names(store, 'dt='), []);
      assert.deepEqual(await names(store, 'gone/'), []);
    }));

  test(`${kind}: of eight puts if absent one wins, and nothing half-written shows`, () =>
    open(async (store) => {
      const puts = Array.from({ length: 8 }, (_, i) => store.put?.('lock', bytes(`writer ${i}`), { ifNoneMatch: '*' }));
      const ended = await Promise.allSettled(puts);
      assert.equal(ended.filter(({ status }) => status === 'fulfilled').length, 1);
      for (const one of ended) if (one.status === 'rejected') assert.ok(HudiError.is(one.reason, 'PRECONDITION_FAILED'));
      assert.match(String((await get(store, 'lock'))[0]), /^writer \d$/);
      assert.deepEqual(await names(store, ''), ['lock']);
    }));

  test(`${kind}: an upload shows once it is complete, and one given up leaves nothing`, () =>
    open(async (store, folder) => {
      const left = async () => (folder === undefined ? [] : (await readdir(folder)).sort());
      const begin = async () => {
        const upload = await store.upload?.('d/long');
        assert.ok(upload !== undefined);
        for (const part of ['first, ', '', 'second']) await upload.write(bytes(part));
        assert.deepEqual(await names(store, ''), []);
        return upload;
      };
      await (await begin()).abort();
      await (await begin()).complete();
      assert.deepEqual(await get(store, 'd/long'), ['first, second', 13]);
      assert.deepEqual(await names(store, ''), ['d/long']);
      const again = await store.upload?.('d/long');
      await again?.write(bytes('third'));
      await again?.complete();
      assert.deepEqual(await get(store, 'd/long'), ['third', 5]);
      assert.deepEqual(await left(), folder === undefined ? [] : ['d']);
    }));

  test(`${kind}: the ETag follows the content`, () =>
    open(async (store) => {
      await store.put?.('a', bytes('1'), {});
      const first = await store.get('a', {});
      assert.equal((await store.get('a', {})).etag, first.etag);
      await store.put?.('a', bytes('22'), {});
      assert.notEqual((await store.get('a', {})).etag, first.etag);
    }));

  test(`${kind}: what is not there is NOT_FOUND with its path, and deleting it is no error`, () =>
    open(async (store) => {
      await assert.rejects(store.get('no/where', {}), (error) => HudiError.is(error, 'NOT_FOUND') && error.path === 'no/where');
      await store.delete?.(['no/where']);
      await fill(store);
      await store.delete?.(['dt=1/x']);
      assert.deepEqual(await names(store, 'dt=1/'), []);
    }));

  test(`${kind}: a path that leaves the table is refused`, () =>
    open(async (store) => {
      for (const bad of ['../a', '/a', 'a//b', 'a/./b', '']) await assert.rejects(async () => store.put?.(bad, bytes(''), {}), code('INVALID_ARGUMENT'));
    }));

  test(`${kind}: an aborted signal ends a call before it begins`, () =>
    open(async (store) => {
      const signal = AbortSignal.abort(new Error('enough'));
      await assert.rejects(async () => store.get('a', { signal }), /enough/);
      await assert.rejects(names(store, '', { signal }), /enough/);
    }));
}

test('file: a put leaves nothing beside its target, and what arrives is not listed', () =>
  kinds.file(async (store, folder = '') => {
    await store.put?.('a', bytes('1'), {});
    await assert.rejects(async () => store.put?.('a', bytes('2'), { ifNoneMatch: '*' }));
    assert.deepEqual(await readdir(folder), ['a']);
    await writeFile(path.join(folder, '.hudi-wasm-1'), '');
    assert.deepEqual(await names(store, ''), ['a']);
  }));

test('file: a link counts as what it leads to, and one that leads nowhere is not there', () =>
  kinds.file(async (store, folder = '') => {
    await store.put?.('real/a', bytes('1'), {});
    await symlink(path.join(folder, 'real'), path.join(folder, 'linked'));
    await symlink(path.join(folder, 'gone'), path.join(folder, 'broken'));
    assert.deepEqual(await names(store, ''), ['linked/a', 'real/a']);
  }));

for (const speed of ['quick', 'slow', 'slow at the third answer']) {
  test(`file: a ${speed} file system lists the same, in steps and at once`, (context) =>
    kinds.file(async (store, folder = '') => {
      await fill(store);
      await symlink(path.join(folder, 'dt=1'), path.join(folder, 'linked'));
      let [asked, time] = [0, 0];
      // A question takes from one telling of the time to the next.
      if (speed !== 'quick') context.mock.method(performance, 'now', () => (time += speed === 'slow' || (asked += 1) > 8 ? 30 : 0));
      const everything = ['.hoodie/a', '.hoodie/b', '.hoodie/timeline/1', '.hoodie/timeline/2', 'dt=1/x', 'linked/x', 'é/ü'];
      /** @type {[prefix: string, options: any, expected: string[]][]} */
      const cases = [
        ['', {}, everything],
        ['', { delimiter: '/' }, ['.hoodie/', 'dt=1/', 'linked/', 'é/']],
        ['', { startAfter: '.hoodie/timeline/1' }, everything.slice(3)],
        ['', { startAfter: 'dt=1/', delimiter: '/' }, ['linked/', 'é/']],
        ['gone/', {}, []],
      ];
      const atOnce = /** @type {any} */ (store.list)[Symbol.for('hudi-wasm.listed')];
      for (const [prefix, options, expected] of cases) {
        [asked, time] = [0, 0];
        assert.deepEqual(await names(store, prefix, options), expected);
        /** @type {any[]} */
        const found = await atOnce(prefix, options);
        assert.deepEqual(found.map((one) => one.path ?? one.prefix).sort(), expected.toSorted());
      }
      const signal = AbortSignal.abort(new Error('enough'));
      await assert.rejects(atOnce('', { signal }), /enough/);
    }));
}

test('memory: an object is not changed by what its giver does later', async () => {
  const given = bytes('1');
  const store = memoryStore([['a', given]]);
  given[0] = 0;
  assert.deepEqual(await get(store, 'a'), ['1', 1]);
});

test('the scheme names the storage, and slashes at the end do not count', () => {
  const { uri, storage } = engineStore('https://host/table//');
  assert.deepEqual([uri, storage], ['https://host/table', { type: 'http' }]);
  assert.throws(() => engineStore('gs://bucket/table'), code('INVALID_ARGUMENT'));
  assert.throws(() => engineStore('https://host/table', /** @type {any} */ ({ type: 'ftp' })), code('INVALID_ARGUMENT'));
  assert.throws(() => engineStore('https://host/table', /** @type {any} */ ({ type: 'http', header: {} })), code('INVALID_ARGUMENT'));
  assert.throws(() => engineStore('/a/table'), code('UNSUPPORTED'));
});
