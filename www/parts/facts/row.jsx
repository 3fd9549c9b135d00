// A row: its values, each a filter at a press, and where it came from.

import * as actions from '../../model/actions.js';
import * as state from '../../model/state.js';
import { Value } from '../../views/data.jsx';
import { Anatomy, Head, InstantLink, List } from './list.jsx';

/**
 * @typedef {import('../../types.js').Cell} Cell
 * @typedef {import('../../types.js').Column} Column
 */

/** @param {{ columns: readonly Column[], cells: readonly Cell[], index: number }} props */
export function RowFacts({ columns, cells, index }) {
  const value = (/** @type {string} */ name) => cells[columns.findIndex((column) => column.name === name)] ?? undefined;
  const key = value('_hoodie_record_key');
  const commit = value('_hoodie_commit_time');
  const file = value('_hoodie_file_name');
  const group = file?.split('_')[0] ?? '';
  const slice = state.slices.shown?.find(({ fileId }) => fileId !== '' && (fileId === group || file?.startsWith(fileId)));
  const own = columns.map((column, i) => ({ column, cell: cells[i] ?? null })).filter(({ column }) => !column.name.startsWith('_hoodie_'));
  const partition = value('_hoodie_partition_path');
  return (
    <>
      <Head
        title={key === undefined ? `Row ${index + 1}` : key}
        sub={[key === undefined ? '' : 'record key', partition ?? ''].filter(Boolean).join(' · ')}
      />
      <h3>Values</h3>
      <dl class="facts values">
        {own.map(({ column, cell }) => (
          <div key={column.name}>
            <dt title={column.type}>{column.name}</dt>
            <dd>
              <Value value={cell} kind={column.kind} />
              <Only column={column} cell={cell} />
            </dd>
          </div>
        ))}
      </dl>
      {(commit ?? file) !== undefined && <h3>Where this row came from</h3>}
      <List
        of={[
          ...(commit ? [/** @type {const} */ (['commit', <InstantLink key="commit" time={commit} />])] : []),
          ...(file
            ? [
                /** @type {const} */ ([
                  'base file',
                  <span key="file" class="mono break">
                    {file}
                  </span>,
                ]),
              ]
            : []),
        ]}
      />
      {slice && (
        <>
          <h3>Its file slice</h3>
          <Anatomy slice={slice} />
          <button type="button" class="link" onClick={() => actions.showSlice(slice)}>
            Show it in Files
          </button>
        </>
      )}
    </>
  );
}

/** Adds a filter that keeps rows with this value. @param {{ column: Column, cell: Cell }} props */
function Only({ column, cell }) {
  if (column.kind === 'nested' || column.kind === 'binary') return null;
  const filter = () =>
    actions.addFilter(
      cell === null ? [column.name, 'IS NULL'] : [column.name, '=', column.type.startsWith('timestamp') ? cell.replace(' ', 'T') : cell],
    );
  const word = cell === null ? `Only rows where ${column.name} is null` : `Only rows with this ${column.name}`;
  return (
    <button type="button" class="only" title={word} aria-label={word} onClick={filter}>
      =
    </button>
  );
}
