// An instant: its times, what it wrote in a sentence, and its metadata as a tree.

import * as actions from '../../model/actions.js';
import { actionName, clock, full, zoneName } from '../../model/instant.js';
import * as state from '../../model/state.js';
import { bytes, count, counted, duration } from '../../model/units.js';
import { JsonTree } from '../json_tree.jsx';
import { Problem } from '../problem.jsx';
import { Head, List } from './list.jsx';

/** @param {{ entry: import('../../types.js').TimelineEntry }} props */
export function InstantFacts({ entry }) {
  const table = state.table.value;
  const from = clock(entry.timestamp);
  const to = entry.completionTimestamp === undefined ? undefined : clock(entry.completionTimestamp);
  const task = state.instant.state.value;
  return (
    <>
      <Head
        title={actionName(entry, table ?? { type: '', clusterings: [] })}
        sub={`${full(entry.timestamp)} · ${zoneName(table?.timezone ?? 'UTC')}`}
      />
      <List
        of={[
          ['state', entry.state.toLowerCase()],
          [
            'instant',
            <span key="raw" class="mono">
              {entry.timestamp}
            </span>,
          ],
          ...(entry.completionTimestamp
            ? [
                /** @type {const} */ ([
                  'completed',
                  <span key="completed" class="mono">
                    {full(entry.completionTimestamp)}
                  </span>,
                ]),
              ]
            : []),
          ...(from !== undefined && to !== undefined
            ? [
                /** @type {const} */ ([
                  'took',
                  <span key="took" class="mono">
                    {duration(to - from)}
                  </span>,
                ]),
              ]
            : []),
        ]}
      />
      {entry.state === 'COMPLETED' && entry.timestamp !== state.shownInstant.value && (
        <button type="button" class="button" onClick={() => actions.goTo(entry.timestamp)}>
          Show the table as of this instant
        </button>
      )}
      <h3>Metadata</h3>
      {task.status === 'failed' && <Problem failure={task.failure} again={state.instant.again} />}
      {task.status === 'loading' && <p class="dim">reading…</p>}
      {task.status === 'ready' && <Metadata text={task.value} />}
    </>
  );
}

/** @param {{ text: string }} props */
function Metadata({ text }) {
  /** @type {any} */
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    return <pre class="text mono">{text || 'empty'}</pre>;
  }
  const stats = Object.values(value?.partitionToWriteStats ?? {}).flat();
  const total = (/** @type {string} */ name) => stats.reduce((sum, stat) => sum + Math.max(0, Number(stat?.[name] ?? 0)), 0);
  return (
    <>
      {stats.length > 0 && (
        <p class="summary">
          {value.operationType && <>{String(value.operationType).toLowerCase().replaceAll('_', ' ')}: </>}
          {counted(stats.length, 'file')}, {counted(total('numWrites'), 'row')} ({count(total('numInserts'))} inserted,{' '}
          {count(total('numUpdateWrites'))} updated, {count(total('numDeletes'))} deleted), {bytes(total('totalWriteBytes'))}
        </p>
      )}
      <JsonTree value={value} />
    </>
  );
}
