// Keys that work anywhere on the page. Views handle their own arrows; nothing here fires while a field is being typed in.

import * as actions from './actions.js';
import * as state from './state.js';

/** @type {Readonly<Record<string, import('../types.js').ViewName>>} */
const views = { d: 'data', f: 'files', t: 'timeline', s: 'schema', r: 'requests' };

/** What `?` lists. */
export const keyList = /** @type {const} */ ([
  ['/', 'add a filter'],
  ['g d · f · t · s · r', 'go to Data, Files, Timeline, Schema, Requests'],
  ['[  ]', 'previous and next instant'],
  ['← ↑ → ↓ Home End PgUp PgDn', 'move in the grid and on the timeline'],
  ['+  −  on the timeline, or the wheel', 'zoom'],
  ['Enter', 'inspect what is focused'],
  ['Ctrl C', 'copy the focused cell'],
  ['i', 'open or close the inspector'],
  ['Esc', 'close, or cancel what runs'],
  ['?', 'this list'],
]);

let afterG = false;

/** @param {KeyboardEvent} event @returns {boolean} whether the key was for the page */
function press(event) {
  const { key } = event;
  if (key === 'Escape') return escape();
  if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return false;
  const to = afterG ? views[key] : undefined;
  afterG = key === 'g';
  if (to) actions.show(to);
  else if (key === '/') focusFilter();
  else if (key === '[') actions.stepInstant(-1);
  else if (key === ']') actions.stepInstant(1);
  else if (key === 'i') state.inspectorOpen.value = !state.inspectorOpen.value;
  else if (key === '?') state.dialog.value = 'keys';
  else return afterG;
  return true;
}

function escape() {
  if (state.dialog.value) state.dialog.value = undefined;
  else if (!actions.cancel()) {
    if (!state.selected.value) return false;
    state.selected.value = undefined;
  }
  return true;
}

/** The filter form belongs to Data; it is there once the view is drawn. */
function focusFilter() {
  actions.show('data');
  requestAnimationFrame(() => document.getElementById('add-filter')?.click());
}

/** @param {EventTarget | null} target */
const typing = (target) =>
  target instanceof HTMLElement && (target.isContentEditable || ['INPUT', 'SELECT', 'TEXTAREA'].includes(target.tagName));

export function listen() {
  addEventListener('keydown', (event) => {
    if (!event.defaultPrevented && press(event)) event.preventDefault();
  });
}
