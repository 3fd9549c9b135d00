// Failures as plain data. The engine's own errors have a code; anything else is a fault of the page.

/** @typedef {import('../types.js').Failure} Failure */

/** @param {unknown} error @returns {Failure} */
export function failureOf(error) {
  const seen = /** @type {Partial<Failure> & Error} */ (error instanceof Error ? error : new Error(String(error)));
  const { path, status, hint } = seen;
  return {
    code: typeof seen.code === 'string' ? seen.code : seen.name === 'AbortError' ? 'ABORTED' : 'INTERNAL',
    message: seen.message,
    retryable: seen.retryable === true,
    context: { ...seen.context },
    ...(path !== undefined && { path }),
    ...(status !== undefined && { status }),
    ...(hint !== undefined && { hint }),
  };
}
