// Requests: what was asked of the store, call by call, as a waterfall with its causes.

import { useMemo, useState } from 'preact/hooks';
import { actions as finished, requests } from '../engine/client.js';
import { select } from '../model/actions.js';
import * as state from '../model/state.js';
import { bytes, count, duration, exactBytes, lastPart } from '../model/units.js';
import { Grid } from '../parts/grid.jsx';
import { Empty } from '../parts/problem.jsx';

/** @typedef {import('../types.js').SeenRequest} SeenRequest */

const columns = [
  { key: 'cause', head: 'Cause', width: 104 },
  { key: 'file', head: 'File', width: 240 },
  { key: 'range', head: 'Range', width: 150, end: true },
  { key: 'bytes', head: 'Bytes', width: 80, end: true },
  { key: 'from', head: 'From', width: 90 },
  { key: 'ms', head: 'Time', width: 70, end: true },
  { key: 'fall', head: 'Waterfall', width: 190 },
];

export function RequestsView() {
  const [action, setAction] = useState(/** @type {number | undefined} */ (undefined));
  const [cause, setCause] = useState(/** @type {string | undefined} */ (undefined));
  const all = requests.value;
  const calls = finished.value.filter(({ id }) => all.some((request) => request.action === id));
  const ofCall = all.filter((request) => action === undefined || request.action === action);
  const shown = ofCall.filter((request) => cause === undefined || request.cause === cause);
  const cell = useMemo(() => cellOf(shown), [all, action, cause]);
  if (all.length === 0)
    return (
      <Empty title="No request yet">
        <p>Requests appear here as the engine makes them: which file, which bytes, and why.</p>
      </Empty>
    );
  const chosen = state.selected.value;
  const picked = chosen?.kind === 'request' ? shown.indexOf(chosen.request) : -1;
  return (
    <>
      <div class="toolbar">
        <label class="inline">
          Call{' '}
          <select
            value={action ?? ''}
            onChange={(event) => setAction(event.currentTarget.value ? Number(event.currentTarget.value) : undefined)}
          >
            <option value="">all calls</option>
            {calls.map(({ id, label, ms }) => (
              <option key={id} value={id}>{`${id}. ${label}, ${duration(ms)}`}</option>
            ))}
          </select>
        </label>
        <Causes of={ofCall} chosen={cause} onChoose={setCause} />
      </div>
      <Grid
        label="Requests"
        columns={columns}
        rows={shown}
        cell={cell}
        compact
        {...(picked >= 0 && { selected: picked })}
        copy={(request, i) =>
          [request.cause, request.path, rangeOf(request), String(request.bytes), request.from, String(request.ms)][i] ?? ''
        }
        onSelect={(request) => select({ kind: 'request', request })}
      />
    </>
  );
}

/**
 * Bytes and counts by cause; a press shows that cause alone.
 * @param {{ of: readonly SeenRequest[], chosen: string | undefined, onChoose: (cause: string | undefined) => void }} props
 */
function Causes({ of, chosen, onChoose }) {
  const groups = [...Map.groupBy(of, ({ cause }) => cause)];
  return (
    <>
      {groups.map(([cause, members]) => (
        <button
          key={cause}
          type="button"
          class="chip quiet"
          aria-pressed={chosen === cause}
          title={exactBytes(sum(members))}
          onClick={() => onChoose(chosen === cause ? undefined : cause)}
        >
          {cause} <b>{count(members.length)}</b> · {bytes(sum(members))}
        </button>
      ))}
    </>
  );
}

/** @param {SeenRequest} request */
const answered = ({ status }) => status >= 200 && status < 400;

/** @param {readonly SeenRequest[]} requests */
const sum = (requests) => requests.reduce((total, request) => total + request.bytes, 0);

/** @param {SeenRequest} request */
export const rangeOf = ({ method, start, end }) =>
  method === 'LIST' ? 'names' : start === undefined ? 'whole' : `${count(start)}–${end === undefined ? '' : count(end)}`;

/** @param {readonly SeenRequest[]} shown */
function cellOf(shown) {
  // Bars share one clock per call: each call's row of bars fills the column, so a slow call does not flatten the others.
  /** @type {Map<number, { from: number, to: number }>} */
  const spans = new Map();
  for (const { action, began, ms } of shown) {
    const span = spans.get(action) ?? { from: began, to: began + ms };
    spans.set(action, { from: Math.min(span.from, began), to: Math.max(span.to, began + ms) });
  }
  return (/** @type {SeenRequest} */ request, /** @type {number} */ column) => {
    switch (column) {
      case 0:
        return request.cause;
      case 1:
        return (
          <span class="mono" title={request.path}>
            {lastPart(request.path) || '/'}
          </span>
        );
      case 2:
        return <span class="mono dim">{rangeOf(request)}</span>;
      case 3:
        return (
          <span class="mono" title={exactBytes(request.bytes)}>
            {request.from === 'manifest' ? '' : bytes(request.bytes)}
          </span>
        );
      case 4:
        return request.from === 'network' ? (
          <span class={answered(request) ? '' : 'bad'}>
            network{answered(request) ? '' : ` ${request.status || 'failed'}`}
            {request.attempt > 1 ? `, try ${request.attempt}` : ''}
          </span>
        ) : (
          <span class="dim">{request.from}</span>
        );
      case 5:
        return <span class="mono">{duration(request.ms)}</span>;
      default:
        return <Fall request={request} span={spans.get(request.action) ?? { from: 0, to: 1 }} />;
    }
  };
}

/** @param {{ request: SeenRequest, span: { from: number, to: number } }} props */
function Fall({ request, span }) {
  const whole = Math.max(1, span.to - span.from);
  const left = ((request.began - span.from) / whole) * 100;
  const width = Math.max(1.5, (request.ms / whole) * 100);
  return (
    <i
      class={`fall ${request.from === 'network' ? '' : 'cached'} ${answered(request) ? '' : 'failed'}`}
      style={{ left: `${Math.min(98.5, left)}%`, width: `${Math.min(width, 100 - left)}%` }}
    />
  );
}
