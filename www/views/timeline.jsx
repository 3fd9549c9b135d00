// Timeline: the strip's twin as a list, newest first, for reading, keyboard and screen readers.

import * as actions from '../model/actions.js';
import { actionName, clock, full, hueOf, laneOf } from '../model/instant.js';
import * as state from '../model/state.js';
import { counted, duration } from '../model/units.js';
import { Grid } from '../parts/grid.jsx';
import { Empty } from '../parts/problem.jsx';

/** @typedef {import('../types.js').TimelineEntry} TimelineEntry */

const columns = [
  { key: 'requested', head: 'Instant (requested)', width: 190 },
  { key: 'action', head: 'Action', width: 130 },
  { key: 'lane', head: 'Lane', width: 80 },
  { key: 'state', head: 'State', width: 100 },
  { key: 'completed', head: 'Completed', width: 190 },
  { key: 'took', head: 'Took', width: 80, end: true },
];

export function TimelineView() {
  const entries = [...state.instants.value].reverse();
  const chosen = state.selected.value;
  const picked = chosen?.kind === 'instant' ? entries.indexOf(chosen.entry) : -1;
  if (entries.length === 0)
    return (
      <Empty title="No instant yet">
        <p>The table was created and nothing has been written to it. Refresh when a write has begun.</p>
      </Empty>
    );
  return (
    <>
      <div class="toolbar">
        <span>
          <b>{counted(entries.length, 'instant')}</b> on the active timeline
        </span>
        <span class="spring" />
        <button type="button" class="button" title="Look for instants that landed since" onClick={actions.reopen}>
          Refresh
        </button>
      </div>
      <Grid
        label="Instants"
        columns={columns}
        rows={entries}
        cell={cell}
        copy={copy}
        tone={(entry) => (entry.timestamp === state.shownInstant.value ? 'current' : '')}
        {...(picked >= 0 && { selected: picked })}
        onSelect={(entry) => actions.select({ kind: 'instant', entry })}
      />
    </>
  );
}

/** @param {TimelineEntry} entry @param {number} column */
function cell(entry, column) {
  const action = actionName(entry, state.table.value ?? { type: '', clusterings: [] });
  switch (column) {
    case 0:
      return (
        <span class="mono">
          {full(entry.timestamp)}
          {entry.timestamp === state.shownInstant.value && (
            <span class="here" title="The instant that all views show">
              {' '}
              shown
            </span>
          )}
        </span>
      );
    case 1:
      return (
        <>
          <i class={`dot ${entry.state === 'COMPLETED' ? hueOf(action) : 'open'}`} />
          {action}
        </>
      );
    case 2:
      return <span class="dim">{laneOf(action)}</span>;
    case 3:
      return entry.state === 'COMPLETED' ? 'completed' : <span class="pending">{entry.state.toLowerCase()}</span>;
    case 4:
      return <span class="mono">{entry.completionTimestamp ? full(entry.completionTimestamp) : ''}</span>;
    default:
      return <span class="mono">{took(entry)}</span>;
  }
}

/** @param {TimelineEntry} entry */
function took({ timestamp, completionTimestamp }) {
  const from = clock(timestamp);
  const to = completionTimestamp === undefined ? undefined : clock(completionTimestamp);
  return from === undefined || to === undefined ? '' : duration(to - from);
}

/** Raw digits, as files and other tools name the instant. @param {TimelineEntry} entry @param {number} column */
const copy = (entry, column) =>
  [entry.timestamp, entry.action, '', entry.state, entry.completionTimestamp ?? '', took(entry)][column] ?? '';
