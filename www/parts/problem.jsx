// A failure, a cancelled call and an empty answer, drawn on purpose.

import { useState } from 'preact/hooks';
import * as actions from '../model/actions.js';
import { withoutSecrets } from '../model/link.js';
import { details, problemOf } from '../model/problem.js';
import * as state from '../model/state.js';

/**
 * @typedef {import('../types.js').Failure} Failure
 * @typedef {import('../model/problem.js').Remedy} Remedy
 */

/** @param {{ failure: Failure, again: () => void, place?: 'view' | 'dialog' }} props */
export function Problem({ failure, again, place = 'view' }) {
  const uri = (place === 'dialog' ? state.attempted.value : state.place.value)?.uri ?? state.attempted.value?.uri ?? '';
  const { title, text, remedies, hint } = problemOf(failure, {
    asOf: state.asOf.value,
    uri: withoutSecrets(uri),
    filtered: state.filters.value.length > 0,
  });
  const shown = remedies.filter((remedy) => usable(remedy, place));
  return (
    <div class={`problem ${place}`} role="alert">
      <h2>{title}</h2>
      <p>{text}</p>
      {hint && <p class="dim">{hint}</p>}
      <p class="buttons">
        {shown.map((remedy, index) => (
          <RemedyButton key={remedy} remedy={remedy} failure={failure} again={again} main={index === 0} />
        ))}
      </p>
      <p class="mono dim small">
        {failure.code}
        {failure.path ? ` · ${failure.path}` : ''}
      </p>
    </div>
  );
}

/** In the open dialog the form itself is the way to change the address, and there may be no table to go back to. @param {Remedy} remedy @param {string} place */
function usable(remedy, place) {
  if (remedy === 'open') return place !== 'dialog';
  if (remedy === 'newest') return state.asOf.value !== undefined;
  if (remedy === 'clear-filters') return state.filters.value.length > 0;
  if (remedy === 'read-optimized') return state.table.value?.type === 'MERGE_ON_READ' && !state.readOptimized.value;
  return remedy !== 'refresh' || state.table.value !== undefined;
}

/** @param {{ remedy: Remedy, failure: Failure, again: () => void, main: boolean }} props */
function RemedyButton({ remedy, failure, again, main }) {
  const [copied, setCopied] = useState(false);
  const go = {
    retry: again,
    open: () => {
      state.dialog.value = 'open';
    },
    newest: () => actions.goTo(undefined),
    'read-optimized': () => {
      state.readOptimized.value = true;
    },
    cors: () => {
      state.dialog.value = 'cors';
    },
    'clear-filters': actions.clearFilters,
    refresh: actions.reopen,
    copy: () => void navigator.clipboard.writeText(details(failure)).then(() => setCopied(true)),
  }[remedy];
  const word = {
    retry: 'Try again',
    open: 'Open another address',
    newest: 'Show the newest',
    'read-optimized': 'Read base files alone',
    cors: 'Show the CORS rule',
    'clear-filters': 'Remove the filters',
    refresh: 'Look for newer instants',
    copy: copied ? 'Copied' : 'Copy details',
  }[remedy];
  return (
    <button type="button" class={main ? 'button primary' : 'button'} onClick={go}>
      {word}
    </button>
  );
}

/** @param {{ again: () => void }} props */
export const Cancelled = ({ again }) => (
  <div class="problem view" role="status">
    <h2>Cancelled</h2>
    <p>The requests under way were ended. Nothing was changed.</p>
    <p class="buttons">
      <button type="button" class="button primary" onClick={again}>
        Run it again
      </button>
    </p>
  </div>
);

/** @param {{ title: string, children: import('preact').ComponentChildren }} props */
export const Empty = ({ title, children }) => (
  <div class="problem view" role="status">
    <h2>{title}</h2>
    {children}
  </div>
);
