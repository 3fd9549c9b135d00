// Data: the first rows as of the instant, with what is asked above them.

import { useCallback, useMemo } from 'preact/hooks';
import * as actions from '../model/actions.js';
import * as state from '../model/state.js';
import { count } from '../model/units.js';
import { ColumnMenu, FilterChips } from '../parts/filters.jsx';
import { Grid, Skeleton } from '../parts/grid.jsx';
import { Cancelled, Empty, Problem } from '../parts/problem.jsx';

/**
 * @typedef {import('../types.js').Cell} Cell
 * @typedef {import('../types.js').Column} Column
 */

export const DataView = () => (
  <>
    <div class="toolbar" role="toolbar" aria-label="What is asked">
      <ReadMode />
      <FilterChips />
      <span class="spring" />
      <ColumnMenu />
    </div>
    <Rows />
  </>
);

/** A copy-on-write table has one way to be read, so there is nothing to choose. */
function ReadMode() {
  if (state.table.value?.type !== 'MERGE_ON_READ') return null;
  const chosen = state.readOptimized.value;
  return (
    <div class="segments" role="group" aria-label="Query type">
      <button
        type="button"
        aria-pressed={!chosen}
        title="Base files merged with their logs"
        onClick={() => {
          state.readOptimized.value = false;
        }}
      >
        Snapshot
      </button>
      <button
        type="button"
        aria-pressed={chosen}
        title="Base files alone: as of each file group's last compaction"
        onClick={() => {
          state.readOptimized.value = true;
        }}
      >
        Read-optimized
      </button>
    </div>
  );
}

function Rows() {
  const task = state.rows.state.value;
  const answer = state.rows.shown;
  if (task.status === 'failed') return <Problem failure={task.failure} again={state.rows.again} />;
  if (task.status === 'cancelled') return <Cancelled again={state.rows.again} />;
  if (!answer) return <Skeleton label="Reading rows" columns={Math.min(8, state.gridColumns.value.length || 6)} />;
  if (answer.rows.length === 0 && task.status === 'ready') return <NoRows />;
  return <RowGrid answer={answer} stale={task.status === 'loading'} />;
}

function NoRows() {
  const filtered = state.filters.value.length > 0;
  if (!filtered)
    return (
      <Empty title="The table is empty as of this instant">
        <p>
          {state.table.value?.newest === undefined
            ? 'No commit has completed yet.'
            : 'Its commits leave no rows. Another instant may have some: move the handle on the timeline.'}
        </p>
      </Empty>
    );
  return (
    <Empty title="No row matches">
      <p>
        The table was read and no row passes all{' '}
        {state.filters.value.length === 1 ? 'of the filter' : `${state.filters.value.length} filters`}. Null matches nothing but IS NULL.
      </p>
      <p class="buttons">
        <button type="button" class="button primary" onClick={actions.clearFilters}>
          Remove the filters
        </button>
      </p>
    </Empty>
  );
}

/** @param {{ answer: import('../types.js').RowsAnswer, stale: boolean }} props */
function RowGrid({ answer, stale }) {
  const names = state.gridColumns.value;
  const at = useMemo(() => {
    const wanted = names.map((name) => answer.columns.findIndex((column) => column.name === name));
    return wanted.filter((index) => index >= 0);
  }, [answer, names]);
  const columns = useMemo(() => at.map((index) => headOf(answer, index)), [answer, at]);
  const cell = useCallback(
    (/** @type {readonly Cell[]} */ row, /** @type {number} */ i) => (
      <Value value={row[at[i] ?? -1] ?? null} kind={answer.columns[at[i] ?? -1]?.kind ?? 'text'} />
    ),
    [answer, at],
  );
  const chosen = state.selected.value;
  const more = answer.rows.length >= state.limit.value;
  return (
    <>
      <Grid
        label="Rows"
        columns={columns}
        rows={answer.rows}
        stale={stale}
        cell={cell}
        copy={(row, i) => row[at[i] ?? -1] ?? ''}
        {...(chosen?.kind === 'row' && { selected: chosen.index })}
        onSelect={(cells, index) => actions.select({ kind: 'row', columns: answer.columns, cells, index })}
      />
      {more && (
        <div class="more">
          <button
            type="button"
            class="button"
            disabled={stale}
            onClick={() => {
              state.limit.value += state.pageSize;
            }}
          >
            Read {count(state.pageSize)} more rows
          </button>
        </div>
      )}
    </>
  );
}

/** @param {{ value: Cell, kind: Column['kind'] }} props */
export function Value({ value, kind }) {
  if (value === null) return <span class="null">null</span>;
  if (kind === 'text' || kind === 'boolean')
    return <span title={value.length > 30 ? value : undefined}>{value === '' ? <span class="null">empty</span> : value}</span>;
  return (
    <span class={`mono ${kind === 'nested' || kind === 'binary' ? 'dim' : ''}`} title={value.length > 30 ? value : undefined}>
      {value}
    </span>
  );
}

const measured = 60;
const letter = 7.4;

/** A column's head, as wide as its first values need. @param {import('../types.js').RowsAnswer} answer @param {number} index */
function headOf({ columns, rows }, index) {
  const column = /** @type {Column} */ (columns[index]);
  const roles = rolesOf(column.name);
  const type = [column.type.length > 26 ? `${column.type.slice(0, 25)}…` : column.type, ...roles].join(' · ');
  const longest = rows.slice(0, measured).reduce((most, row) => Math.max(most, row[index]?.length ?? 4), 0);
  const width = Math.max(72, Math.min(300, Math.max(column.name.length * 7.6, type.length * 6.4, longest * letter) + 28));
  const head = (
    <>
      <span class="column-name" title={column.name}>
        {column.name}
      </span>
      <span class="column-type" title={column.type}>
        {type}
      </span>
    </>
  );
  return { key: column.name, head, width, end: column.kind === 'number' };
}

/** What a column is to the table, in Hudi's words. @param {string} name */
export function rolesOf(name) {
  const table = state.table.value;
  return [
    ...(table?.partitionFields.includes(name) ? ['partition'] : []),
    ...(table?.keyFields.includes(name) ? ['key'] : []),
    ...(table?.orderingFields.includes(name) ? ['ordering'] : []),
  ];
}
