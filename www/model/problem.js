// Each failure as a sentence a person can act on, its likely cause, and the buttons that do something about it.

import { full } from './instant.js';

/**
 * @typedef {import('../types.js').Failure} Failure
 * @typedef {'retry' | 'open' | 'newest' | 'read-optimized' | 'cors' | 'clear-filters' | 'refresh' | 'copy'} Remedy
 * @typedef {{ title: string, text: string, remedies: readonly Remedy[], hint?: string }} Problem `hint` in place of the engine's own; empty says that the text has it
 * @typedef {{ asOf: string | undefined, uri: string, filtered: boolean }} Asked what was asked when it failed
 * @typedef {(failure: Failure, asked: Asked) => Problem} Teller
 */

const file = (/** @type {Failure} */ { path }) => path ?? 'a file of the table';
const at = (/** @type {Asked} */ { asOf }) => (asOf === undefined ? 'the newest instant' : full(asOf));

/** @type {Partial<Record<import('../types.js').Failure['code'], Teller>>} */
const tellers = {
  INVALID_ARGUMENT: (failure, asked) => ({
    title: 'The question cannot be asked',
    text: `${sentence(failure.message)} Change what is asked and it runs again.`,
    remedies: asked.filtered ? ['clear-filters', 'open'] : asked.asOf !== undefined ? ['newest', 'open'] : ['open'],
  }),
  SCHEMA: (failure, asked) => ({
    title: 'A column or value does not fit this table',
    text: `${sentence(failure.message)} ${failure.context.field ? `Look at “${failure.context.field}” in Schema, then change the filter.` : 'Compare it with the types in Schema.'}`,
    remedies: asked.filtered ? ['clear-filters'] : ['copy'],
  }),
  UNSUPPORTED: (failure) => ({
    title: 'This cannot be read here yet',
    text: `${sentence(failure.message)} Nothing is wrong with the table: it uses something that this page does not read yet.`,
    remedies: ['read-optimized', 'open', 'copy'],
  }),
  DISPOSED: () => ({
    title: 'The engine let go of this table',
    text: 'It stopped after a fault or was closed. Opening the table again starts a new one; nothing is lost.',
    remedies: ['retry'],
  }),
  LIMIT_EXCEEDED: (failure) => ({
    title: 'This would pass a limit',
    text: `${sentence(failure.message)} Show fewer columns or add a filter.`,
    remedies: ['retry', 'copy'],
  }),
  TABLE_NOT_FOUND: (_, { uri }) => ({
    title: 'There is no Hudi table here',
    text: `No .hoodie/hoodie.properties lies below ${uri || 'this address'}. The address must be the table's own folder, not a partition and not the folder above it.`,
    remedies: ['open', 'retry'],
  }),
  NOT_FOUND: (failure, asked) =>
    isManifest(failure)
      ? noManifest(failure, asked)
      : {
          title: 'A file that the table counts on is gone',
          text: `${file(failure)} is named by the timeline or the manifest and is not there. If the table was just cleaned or the manifest is old, open the newest state.`,
          remedies: ['refresh', 'copy'],
        },
  INSTANT_PENDING: (_, asked) => ({
    title: 'That instant is not settled yet',
    text: `At or before ${at(asked)} a write is still under way, so the rows as of then may still change. The newest snapshot is settled and can be read.`,
    hint: '',
    remedies: ['newest', 'refresh'],
  }),
  INSTANT_EXPIRED: (_, asked) => ({
    title: 'That instant has been cleaned away',
    text: `Files that the table needs as of ${at(asked)} have been removed by the cleaner. Choose a later instant on the timeline, or the newest one.`,
    hint: '',
    remedies: ['newest'],
  }),
  UNAUTHORIZED: (failure) => ({
    title: 'The store refused to let this page in',
    text: `It answered ${failure.status ?? '401 or 403'} for ${file(failure)}. Credentials are missing, expired or may not read this path.`,
    remedies: ['open', 'retry'],
  }),
  NETWORK: (failure, { uri }) => ({
    title: 'No answer came from the store',
    text: `${hostOf(uri)} may be unreachable, or it does not allow this page (CORS), which a browser cannot tell apart. ${failure.hint ? '' : 'Check the address; for a bucket, add the CORS rule.'}`.trim(),
    remedies: ['retry', 'cors', 'open'],
  }),
  THROTTLED: () => ({
    title: 'The store asks to go slower',
    text: 'It answered “slow down” until all tries were spent. Wait a moment, then try again.',
    remedies: ['retry'],
  }),
  UNAVAILABLE: (failure) => ({
    title: 'The store has a fault of its own',
    text: `It answered ${failure.status ?? 'with a server error'} for ${file(failure)} until all tries were spent.`,
    remedies: ['retry', 'copy'],
  }),
  RANGE_NOT_SUPPORTED: (failure) => ({
    title: 'This server sends whole files only',
    text: `A part of ${file(failure)} was asked for and the server sent something else. Serve the table from a host that honours Range requests.`,
    remedies: ['open', 'retry'],
  }),
  LIST_NOT_SUPPORTED: (failure, asked) => noManifest(failure, asked),
  PRECONDITION_FAILED: (failure) => ({
    title: 'The table changed while it was read',
    text: `${file(failure)} is no longer the file that was opened. Read the newest state instead.`,
    remedies: ['refresh'],
  }),
  CORRUPT: (failure) => ({
    title: 'A file breaks its own format',
    text: `${file(failure)}${failure.context.offset ? ` at byte ${failure.context.offset}` : ''}: ${sentence(failure.message)} Other instants may not need this file.`,
    remedies: ['copy', 'retry'],
  }),
  OUT_OF_MEMORY: () => ({
    title: 'The engine ran out of memory',
    text: 'It has been replaced by a new one. Show fewer columns or add a filter, then try again.',
    remedies: ['retry'],
  }),
  WASM_INIT: () => ({
    title: 'The engine could not be loaded',
    text: 'The WebAssembly file did not arrive or did not compile. Check the connection; a strict content policy must allow wasm-unsafe-eval.',
    remedies: ['retry'],
  }),
};

/** A plain web server does not say which files it holds. @type {Teller} */
function noManifest() {
  return {
    title: 'This address cannot list its files',
    text:
      'A plain web server does not say which files it holds, and no manifest was found. Write one with ' +
      '“npm run manifest -- <folder>”, serve it as hudi-manifest.json in the table’s folder, or give its address when opening.',
    hint: '',
    remedies: ['open', 'retry'],
  };
}

const isManifest = (/** @type {Failure} */ { path }) => path?.split('?')[0]?.endsWith('manifest.json') === true;

/** @param {Failure} failure @param {Asked} asked @returns {Problem} */
export function problemOf(failure, asked) {
  const tell = tellers[failure.code];
  if (tell) return { hint: failure.hint === undefined ? '' : sentence(failure.hint), ...tell(failure, asked) };
  return {
    title: 'Something went wrong inside the engine',
    text: `${sentence(failure.message)} This is a fault of the page or the engine: please report it with the details.`,
    remedies: ['copy', 'retry'],
  };
}

/** Codes that problemOf has words of its own for. */
export const toldCodes = Object.keys(tellers);

/** The engine's message as a sentence. @param {string} message */
function sentence(message) {
  const text = message.trim();
  const first = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(first) ? first : `${first}.`;
}

/** @param {string} uri */
function hostOf(uri) {
  try {
    return new URL(uri).host || uri;
  } catch {
    return 'The address';
  }
}

/** All that helps whoever looks into a failure; never a secret, since the engine keeps those out of its errors. @param {Failure} failure */
export const details = (failure) => JSON.stringify(failure, null, 2);

/** The CORS rule of an S3-like bucket that lets this page read. @param {string} origin */
export const corsRule = (origin) =>
  JSON.stringify(
    [
      {
        AllowedOrigins: [origin],
        AllowedMethods: ['GET'],
        AllowedHeaders: ['*'],
        ExposeHeaders: ['ETag', 'Content-Range', 'Content-Length', 'Last-Modified'],
        MaxAgeSeconds: 3600,
      },
    ],
    null,
    2,
  );
