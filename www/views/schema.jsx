// Schema: the fields with their types and parts in the table, and the Avro schema they come from.

import { useState } from 'preact/hooks';
import * as actions from '../model/actions.js';
import * as state from '../model/state.js';
import { counted } from '../model/units.js';
import { Grid, Skeleton } from '../parts/grid.jsx';
import { Cancelled, Problem } from '../parts/problem.jsx';
import { rolesOf } from './data.jsx';

const columns = [
  { key: 'n', head: '#', width: 40, end: true },
  { key: 'name', head: 'Field', width: 200 },
  { key: 'type', head: 'Type', width: 240 },
  { key: 'null', head: 'Null', width: 80 },
  { key: 'role', head: 'In the table', width: 140 },
];

export function SchemaView() {
  const [avro, setAvro] = useState(false);
  const fields = state.allColumns.value;
  const meta = new Set(state.table.value?.metaColumns);
  const chosen = state.selected.value;
  const picked = chosen?.kind === 'field' ? fields.indexOf(chosen.column) : -1;
  return (
    <>
      <div class="toolbar">
        <div class="segments" role="group" aria-label="Schema as">
          <button type="button" aria-pressed={!avro} onClick={() => setAvro(false)}>
            Fields
          </button>
          <button type="button" aria-pressed={avro} onClick={() => setAvro(true)}>
            Avro
          </button>
        </div>
        <span class="spring" />
        <span class="dim hint">
          {counted(fields.length - meta.size, 'field')}, {counted(meta.size, 'meta field')}
        </span>
      </div>
      {avro ? (
        <Avro />
      ) : (
        <Grid
          label="Fields"
          columns={columns}
          rows={fields}
          {...(picked >= 0 && { selected: picked })}
          onSelect={(column) => actions.select({ kind: 'field', column })}
          copy={(column, i) => ['', column.name, column.type, '', ''][i] ?? ''}
          cell={(column, i) => {
            switch (i) {
              case 0:
                return <span class="mono dim">{fields.indexOf(column) + 1}</span>;
              case 1:
                return <span class={meta.has(column) ? 'dim' : ''}>{column.name}</span>;
              case 2:
                return (
                  <span class="mono" title={column.type}>
                    {column.type}
                  </span>
                );
              case 3:
                return <span class="dim">{column.nullable ? 'nullable' : 'required'}</span>;
              default:
                return [...(meta.has(column) ? ['meta field'] : []), ...rolesOf(column.name)].join(' · ');
            }
          }}
        />
      )}
    </>
  );
}

function Avro() {
  const task = state.avro.state.value;
  if (task.status === 'failed') return <Problem failure={task.failure} again={state.avro.again} />;
  if (task.status === 'cancelled') return <Cancelled again={state.avro.again} />;
  if (task.status !== 'ready') return <Skeleton label="Reading the schema" columns={1} />;
  return (
    <pre class="text mono" tabIndex={0} aria-label="Avro schema">
      {pretty(task.value)}
    </pre>
  );
}

/** @param {string} text */
export function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
