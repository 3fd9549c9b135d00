/**
 * @typedef {import('./index.d.ts').HudiErrorCode} Code
 * @typedef {import('./index.d.ts').HudiError} ErrorShape
 */

/** The codes of `HudiErrorCode`, and whether trying again may help. @type {Readonly<Record<Code, boolean>>} */
const codes = Object.freeze({
  INVALID_ARGUMENT: false,
  SCHEMA: false,
  UNSUPPORTED: false,
  ABORTED: false,
  DISPOSED: false,
  LIMIT_EXCEEDED: false,
  TABLE_NOT_FOUND: false,
  TABLE_EXISTS: false,
  NOT_FOUND: false,
  INSTANT_PENDING: true,
  INSTANT_EXPIRED: false,
  UNAUTHORIZED: false,
  NETWORK: true,
  THROTTLED: true,
  UNAVAILABLE: true,
  RANGE_NOT_SUPPORTED: false,
  LIST_NOT_SUPPORTED: false,
  READ_ONLY_STORAGE: false,
  PRECONDITION_FAILED: true,
  WRITE_CONFLICT: true,
  LOCK_TIMEOUT: true,
  COMMIT_STATE_UNKNOWN: false,
  CORRUPT: false,
  OUT_OF_MEMORY: false,
  WASM_INIT: true,
  INTERNAL: false,
});

/** Registered, so that an error of another realm, or of a second copy of this package, is known as ours. */
const brand = Symbol.for('hudi-wasm.HudiError');

/**
 * What every call of this package fails with.
 *
 * @implements {ErrorShape}
 */
export class HudiError extends Error {
  /**
   * @param {Code} code
   * @param {string} message
   * @param {{ context?: Readonly<Record<string, string>>, hint?: string, cause?: unknown }} [details]
   */
  constructor(code, message, { context = {}, hint, cause } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    /** @type {'HudiError' | 'AbortError'} */
    this.name = code === 'ABORTED' ? 'AbortError' : 'HudiError';
    this.code = code;
    this.retryable = codes[code];
    this.context = Object.freeze({ ...context });
    /** @type {string | undefined} */
    this.path = context.path;
    /** @type {number | undefined} */
    this.status = context.status === undefined ? undefined : Number(context.status);
    /** @type {string | undefined} */
    this.hint = hint ?? context.hint;
  }

  get [brand]() {
    return true;
  }

  /**
   * Whether this is an error of ours, of that code when one is given.
   *
   * @param {unknown} error
   * @param {Code} [code]
   * @returns {error is HudiError}
   */
  static is(error, code) {
    if (typeof error !== 'object' || error === null || !(brand in error) || !('code' in error)) return false;
    return code === undefined || error.code === code;
  }
}

/**
 * The error of a caller's signal.
 *
 * @param {unknown} reason what the signal was aborted with
 */
export function aborted(reason) {
  return new HudiError('ABORTED', 'the call was aborted by its signal', { cause: reason });
}

/**
 * The error of an option or argument that no table would take.
 *
 * @param {string} message
 * @param {{ context?: Record<string, string>, hint?: string }} [details]
 */
export function invalid(message, details) {
  return new HudiError('INVALID_ARGUMENT', message, details);
}

/**
 * What the engine rejected with, as a `HudiError`; the engine hands errors over as JSON text.
 *
 * @param {unknown} thrown
 * @returns {HudiError}
 */
export function fromEngine(thrown) {
  if (thrown instanceof HudiError) return thrown;
  const plain = typeof thrown === 'string' ? parse(thrown) : undefined;
  if (plain === undefined) {
    return new HudiError('INTERNAL', 'the engine failed with something that is no error of its own', { cause: thrown });
  }
  const cause = plain.cause === undefined ? undefined : new Error(plain.cause);
  return new HudiError(plain.code, plain.message, { context: plain.context, cause });
}

/**
 * @param {string} text
 * @returns {{ code: Code, message: string, context: Record<string, string>, cause?: string } | undefined}
 */
function parse(text) {
  try {
    const plain = JSON.parse(text);
    return Object.hasOwn(codes, plain?.code) ? plain : undefined;
  } catch {
    return undefined;
  }
}
