// The views, each with its count. Below 1100 px icons alone, below 640 px a bar at the bottom.

import { requests } from '../engine/client.js';
import { show } from '../model/actions.js';
import * as state from '../model/state.js';
import { count } from '../model/units.js';
import { Icon } from './icons.jsx';

/** @typedef {import('../types.js').ViewName} ViewName */

/** @type {readonly { head?: string, items: readonly (readonly [ViewName, string])[] }[]} */
const groups = [
  {
    items: [
      ['data', 'Data'],
      ['files', 'Files'],
      ['timeline', 'Timeline'],
      ['schema', 'Schema'],
    ],
  },
  { head: 'Engine', items: [['requests', 'Requests']] },
];

export const Rail = () => (
  <nav class="rail" aria-label="Views">
    {groups.map(({ head, items }) => (
      <div key={head ?? 'views'} class="rail-group">
        {head && <h2>{head}</h2>}
        {items.map(([name, word]) => (
          <Item key={name} name={name} word={word} />
        ))}
      </div>
    ))}
    <button
      type="button"
      class="rail-item rail-keys"
      title="Keys ( ? )"
      aria-label="Keys"
      onClick={() => {
        state.dialog.value = 'keys';
      }}
    >
      <kbd>?</kbd>
      <span class="rail-word">Keys</span>
    </button>
  </nav>
);

/** @param {{ name: ViewName, word: string }} props */
function Item({ name, word }) {
  const current = state.view.value === name;
  const n = countOf(name);
  return (
    <button
      type="button"
      class="rail-item"
      aria-current={current ? 'page' : undefined}
      title={`${word} (g ${name[0]})`}
      onClick={() => show(name)}
    >
      <Icon name={name} />
      <span class="rail-word">{word}</span>
      {n !== undefined && <span class="rail-count">{n}</span>}
    </button>
  );
}

/** @param {ViewName} name */
function countOf(name) {
  const table = state.table.value;
  if (name === 'requests') return count(requests.value.length);
  if (!table) return undefined;
  if (name === 'timeline') return count(table.instants.length);
  if (name === 'schema') return count(table.columns.length);
  if (name === 'files') return state.slices.shown && count(state.slices.shown.length);
  const rows = state.slices.shown?.reduce((sum, { numRecords }) => sum + numRecords, 0);
  return rows ? compact.format(rows) : undefined;
}

const compact = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });
