// Signatures by a function of the caller: each address is made once, and used until shortly before it expires.
import { invalid } from '../errors.js';

/**
 * @typedef {import('../index.d.ts').Signer} Signer
 * @typedef {import('../index.d.ts').SignRequest} SignRequest
 * @typedef {{ url: string, headers?: Record<string, string>, expires: number | undefined }} Signed `expires` in milliseconds
 */

/** An address is not used within so many milliseconds of its end, or the last half of a shorter life. */
const early = 10_000;
/** Addresses kept at most. */
const most = 2000;

/**
 * A signer that shares: parallel calls for one object wait for one signature, later ones use it while it is good. The
 * engine asks with `again` when an answer refused an address that was made earlier.
 *
 * @param {Signer} sign
 * @param {() => number} [now]
 */
export function sharedSigner(sign, now = Date.now) {
  if (typeof sign !== 'function') throw invalid('storage.sign is a function');
  /** @type {Map<string, { made: Promise<Signed>, usable: (at: number) => boolean }>} */
  const kept = new Map();

  return async (/** @type {SignRequest & { again?: boolean }} */ { again = false, ...request }) => {
    const name = JSON.stringify([request.method, request.key, request.query, request.headers]);
    const known = kept.get(name);
    if (known !== undefined && !again && known.usable(now())) {
      const { url, headers } = await known.made;
      return { url, headers, reused: true };
    }
    const began = now();
    // Until it is there nothing is known of its end, and whoever asks meanwhile waits for it.
    const entry = { made: Promise.resolve().then(() => sign(request)).then(read), usable: (/** @type {number} */ _) => true };
    kept.delete(name);
    kept.set(name, entry);
    if (kept.size > most) kept.delete(/** @type {string} */ (kept.keys().next().value));
    const forget = () => {
      if (kept.get(name) === entry) kept.delete(name);
    };
    try {
      const { url, headers, expires } = await entry.made;
      if (expires === undefined) forget();
      const last = expires === undefined ? 0 : expires - Math.min(early, (expires - began) / 2);
      entry.usable = (at) => at < last;
      return { url, headers, reused: false };
    } catch (error) {
      forget();
      throw error;
    }
  };
}

/** @param {Awaited<ReturnType<Signer>>} given @returns {Signed} */
function read(given) {
  const signed = typeof given === 'string' || given instanceof URL ? { url: String(given) } : given;
  if (typeof signed?.url !== 'string' && !(/** @type {unknown} */ (signed?.url) instanceof URL)) throw invalid('the signer gave no URL');
  const url = String(signed.url);
  return { url, headers: signed.headers, expires: signed.expiresAt?.getTime() ?? expiryOf(url) };
}

/** When an address ends by its own words: those of S3 and of Google's XML API, or Expires in epoch seconds. */
function expiryOf(/** @type {string} */ url) {
  const query = new Map([...new URL(url).searchParams].map(([name, value]) => [name.toLowerCase(), value]));
  for (const by of ['x-amz-', 'x-goog-']) {
    const [date, life] = [query.get(`${by}date`), Number(query.get(`${by}expires`))];
    const parts = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(date ?? '');
    if (parts !== null && life > 0) {
      const [year = 0, month = 0, day, hour, minute, second] = parts.slice(1).map(Number);
      return Date.UTC(year, month - 1, day, hour, minute, second) + life * 1000;
    }
  }
  const seconds = Number(query.get('expires'));
  return seconds > 0 ? seconds * 1000 : undefined;
}
