// What a fault in wasm does to calls and handles; runs wherever the package does. The expected lines are beside.

/** @typedef {{ engine: () => Promise<any> }} Internals */

/**
 * Provokes each fault while another call is pending, and says in one line what came of it.
 *
 * @param {Internals} internals
 * @param {readonly string[]} faults
 * @returns {Promise<string[]>}
 */
export async function provoke({ engine }, faults) {
  const lines = [];
  for (const fault of faults) {
    const host = await engine();
    const pending = probe(host, 'wait');
    const said = await probe(host, fault);
    const other = host.dead ? await pending : 'goes on';
    lines.push(`${fault}: ${said}; the pending call ${other}; the handle ${handle(host)}; next ${await probe(await engine(), 'none')}`);
  }
  return lines;
}

export const faults = ['none', 'panic', 'panic later', 'stack', 'memory', 'memory later'];

/** The code, and the text of a panic where there is one. */
const panicked = 'INTERNAL (the probe was asked to panic)';
const after = 'the handle DISPOSED; next INVALID_ARGUMENT';

/** What must come of `faults`, in their order. */
export const expected = [
  'none: INVALID_ARGUMENT; the pending call goes on; the handle lives; next INVALID_ARGUMENT',
  `panic: ${panicked}; the pending call ${panicked}; ${after}`,
  `panic later: ${panicked}; the pending call ${panicked}; ${after}`,
  `stack: INTERNAL; the pending call INTERNAL; ${after}`,
  `memory: OUT_OF_MEMORY; the pending call OUT_OF_MEMORY; ${after}`,
  `memory later: OUT_OF_MEMORY; the pending call OUT_OF_MEMORY; ${after}`,
];

async function probe(/** @type {any} */ host, /** @type {string} */ name) {
  try {
    await host.run(undefined, (/** @type {any} */ glue, /** @type {any} */ cancel) => glue._probe(name, cancel));
    return 'no error';
  } catch (error) {
    const { code, message } = /** @type {any} */ (error);
    const [text] = /the probe was asked to panic/.exec(message) ?? [];
    return text === undefined ? code : `${code} (${text})`;
  }
}

function handle(/** @type {any} */ host) {
  try {
    host.call((/** @type {any} */ glue) => glue._version());
    return 'lives';
  } catch (error) {
    return /** @type {any} */ (error).code;
  }
}
