// A holder of Hudi's storage-based lock: one small JSON object beside the table, written only on condition that nobody wrote meanwhile.
import { randomUUID } from 'node:crypto';
import { presign } from '../../wasm/support/sign.js';

/** Clocks of two writers may differ by so much, in milliseconds. */
const drift = 500;

/** @typedef {{ expired: boolean, validUntil: number, owner: string }} LockData @typedef {{ data: LockData, etag: string, text: string }} LockFile */

export class StorageLock {
  owner = randomUUID();
  #place;
  #key;
  /** What this holder wrote last. @type {LockFile | undefined} */
  #held;

  /** @param {Parameters<typeof presign>[0]} place @param {string} table the table's place in the bucket */
  constructor(place, table) {
    this.#place = place;
    this.#key = `${table}/.hoodie/.locks/table_lock.json`;
  }

  /** @returns {Promise<LockFile | undefined>} */
  async read() {
    const response = await fetch(presign(this.#place, { method: 'GET', key: this.#key }));
    if (response.status === 404) return undefined;
    if (!response.ok) throw new Error(`the lock answers ${response.status}`);
    const text = await response.text();
    return { data: JSON.parse(text), etag: response.headers.get('etag') ?? '', text };
  }

  /** Takes the lock when nobody holds it; whether it was had. @param {number} [validity] milliseconds */
  async acquire(validity = 300_000) {
    const known = await this.read();
    const free = known === undefined || known.data.expired || Date.now() > known.data.validUntil + drift;
    return free && this.#put({ expired: false, validUntil: Date.now() + validity, owner: this.owner }, known?.etag);
  }

  /** Holds it for longer; false when it was lost. @param {number} [validity] milliseconds */
  async renew(validity = 300_000) {
    if (this.#held === undefined) return false;
    return this.#put({ ...this.#held.data, validUntil: Date.now() + validity }, this.#held.etag);
  }

  /** Gives it up; the file stays. False when it was lost before. */
  async release() {
    if (this.#held === undefined) return false;
    const done = await this.#put({ ...this.#held.data, expired: true }, this.#held.etag);
    this.#held = undefined;
    return done;
  }

  /** @param {LockData} data @param {string | undefined} etag of what is replaced; none: there must be nothing */
  async #put(data, etag) {
    /** @type {Record<string, string>} */
    const headers = etag === undefined ? { 'if-none-match': '*' } : { 'if-match': etag };
    const text = JSON.stringify(data);
    const response = await fetch(presign(this.#place, { method: 'PUT', key: this.#key, headers }), { method: 'PUT', headers, body: text });
    if (response.status === 412 || response.status === 409) return false;
    if (!response.ok) throw new Error(`the lock answers ${response.status} to a put`);
    this.#held = { data, text, etag: response.headers.get('etag') ?? '' };
    return true;
  }
}
