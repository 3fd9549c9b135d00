// What the inspector says of each kind of thing.

import { actions as finished } from '../engine/client.js';
import * as actions from '../model/actions.js';
import { actionName, clock, full, zoneName } from '../model/instant.js';
import * as state from '../model/state.js';
import { bytes, count, counted, duration, exactBytes, lastPart } from '../model/units.js';
import { Value } from '../views/data.jsx';
import { rangeOf } from '../views/requests.jsx';
import { JsonTree } from './json_tree.jsx';
import { Problem } from './problem.jsx';

/**
 * @typedef {import('../types.js').Cell} Cell
 * @typedef {import('../types.js').Column} Column
 * @typedef {readonly [name: string, value: import('preact').ComponentChildren]} Fact
 */

/** @param {{ of: readonly Fact[] }} props */
const List = ({ of }) => <dl class="facts">{of.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}</dl>;

/** @param {{ title: string, sub?: string }} props */
const Head = ({ title, sub }) => <header><h2 class="break">{title}</h2>{sub && <p class="mono dim break">{sub}</p>}</header>;

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
      <Head title={key === undefined ? `Row ${index + 1}` : key} sub={[key === undefined ? '' : 'record key', partition ?? ''].filter(Boolean).join(' · ')} />
      <h3>Values</h3>
      <dl class="facts values">
        {own.map(({ column, cell }) => (
          <div key={column.name}>
            <dt title={column.type}>{column.name}</dt>
            <dd><Value value={cell} kind={column.kind} /><Only column={column} cell={cell} /></dd>
          </div>
        ))}
      </dl>
      {(commit ?? file) !== undefined && <h3>Where this row came from</h3>}
      <List of={[
        ...(commit ? [/** @type {const} */ (['commit', <InstantLink key="commit" time={commit} />])] : []),
        ...(file ? [/** @type {const} */ (['base file', <span key="file" class="mono break">{file}</span>])] : []),
      ]} />
      {slice && (
        <>
          <h3>Its file slice</h3>
          <Anatomy slice={slice} />
          <button type="button" class="link" onClick={() => actions.showSlice(slice)}>Show it in Files</button>
        </>
      )}
    </>
  );
}

/** Adds a filter that keeps rows with this value. @param {{ column: Column, cell: Cell }} props */
function Only({ column, cell }) {
  if (column.kind === 'nested' || column.kind === 'binary') return null;
  const filter = () => actions.addFilter(cell === null ? [column.name, 'IS NULL'] : [column.name, '=', column.type.startsWith('timestamp') ? cell.replace(' ', 'T') : cell]);
  const word = cell === null ? `Only rows where ${column.name} is null` : `Only rows with this ${column.name}`;
  return <button type="button" class="only" title={word} aria-label={word} onClick={filter}>=</button>;
}

/** An instant that leads to its own facts, where the timeline still has it. @param {{ time: string }} props */
function InstantLink({ time }) {
  const entry = state.instants.value.find(({ timestamp }) => timestamp === time);
  if (!entry) return <span class="mono">{full(time)}</span>;
  return <button type="button" class="link mono" onClick={() => actions.select({ kind: 'instant', entry })}>{full(time)}</button>;
}

/** Base file and logs to scale. @param {{ slice: import('../types.js').HudiFileSlice }} props */
function Anatomy({ slice }) {
  const parts = [
    ...(slice.baseFileName ? [{ name: 'base', size: slice.baseFileSize, hue: 'commit' }] : []),
    ...slice.logFileSizes.map((size, i) => ({ name: `log ${i + 1}`, size, hue: 'deltacommit' })),
  ];
  const most = parts.reduce((largest, { size }) => Math.max(largest, size), 1);
  return (
    <ul class="anatomy">
      {parts.map(({ name, size, hue }) => (
        <li key={name} title={exactBytes(size)}><i class={`anatomy-bar ${hue}`} style={{ width: `${Math.max(2, (size / most) * 150)}px` }} />{name} {bytes(size)}</li>
      ))}
    </ul>
  );
}

/** @param {{ slice: import('../types.js').HudiFileSlice }} props */
export const SliceFacts = ({ slice }) => (
  <>
    <Head title={slice.fileId} sub={[slice.partitionPath, `slice ${full(slice.creationInstantTime)}`].filter(Boolean).join(' · ')} />
    <h3>What a snapshot read opens</h3>
    <Anatomy slice={slice} />
    <List of={[
      ['rows', <span key="rows" class="mono">{count(slice.numRecords)}</span>],
      ['base instant', <InstantLink key="instant" time={slice.creationInstantTime} />],
      ['bytes', <span key="bytes" class="mono">{count(slice.totalSizeBytes)}</span>],
      ...(slice.baseFileRelativePath ? [/** @type {const} */ (['base file', <span key="path" class="mono break">{slice.baseFileRelativePath}</span>])] : []),
    ]} />
    {slice.logFilesRelativePaths.length > 0 && <><h3>Log files</h3><ul class="paths">{slice.logFilesRelativePaths.map((path) => <li key={path} class="mono break">{path}</li>)}</ul></>}
  </>
);

/** @param {{ entry: import('../types.js').TimelineEntry }} props */
export function InstantFacts({ entry }) {
  const table = state.table.value;
  const from = clock(entry.timestamp);
  const to = entry.completionTimestamp === undefined ? undefined : clock(entry.completionTimestamp);
  const task = state.instant.state.value;
  return (
    <>
      <Head title={actionName(entry, table ?? { type: '', clusterings: [] })} sub={`${full(entry.timestamp)} · ${zoneName(table?.timezone ?? 'UTC')}`} />
      <List of={[
        ['state', entry.state.toLowerCase()],
        ['instant', <span key="raw" class="mono">{entry.timestamp}</span>],
        ...(entry.completionTimestamp ? [/** @type {const} */ (['completed', <span key="completed" class="mono">{full(entry.completionTimestamp)}</span>])] : []),
        ...(from !== undefined && to !== undefined ? [/** @type {const} */ (['took', <span key="took" class="mono">{duration(to - from)}</span>])] : []),
      ]} />
      {entry.state === 'COMPLETED' && entry.timestamp !== state.shownInstant.value && (
        <button type="button" class="button" onClick={() => actions.goTo(entry.timestamp)}>Show the table as of this instant</button>
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
          {counted(stats.length, 'file')}, {counted(total('numWrites'), 'row')} ({count(total('numInserts'))} inserted, {count(total('numUpdateWrites'))} updated, {count(total('numDeletes'))} deleted), {bytes(total('totalWriteBytes'))}
        </p>
      )}
      <JsonTree value={value} />
    </>
  );
}

/** @param {{ column: Column }} props */
export const FieldFacts = ({ column }) => (
  <>
    <Head title={column.name} sub={column.type} />
    <List of={[
      ['null', column.nullable ? 'may be null' : 'required'],
      ['partition field', state.table.value?.partitionFields.includes(column.name) ? 'yes' : 'no'],
      ['record key', state.table.value?.keyFields.includes(column.name) ? 'yes' : 'no'],
      ['ordering field', state.table.value?.orderingFields.includes(column.name) ? 'yes' : 'no'],
    ]} />
  </>
);

/** @param {{ request: import('../types.js').SeenRequest }} props */
export const RequestFacts = ({ request }) => (
  <>
    <Head title={lastPart(request.path) || request.path} sub={request.path} />
    <List of={[
      ['cause', request.cause],
      ['call', finished.value.find(({ id }) => id === request.action)?.label ?? ''],
      ['method', request.method],
      ['range', <span key="range" class="mono">{rangeOf(request)}</span>],
      ['bytes', <span key="bytes" class="mono">{count(request.bytes)}</span>],
      ['from', request.from],
      ...(request.from === 'network' ? [/** @type {const} */ (['status', <span key="status" class="mono">{request.status}</span>])] : []),
      ['try', <span key="try" class="mono">{request.attempt}</span>],
      ['time', <span key="time" class="mono">{duration(request.ms)}</span>],
    ]} />
  </>
);

export const WarningFacts = () => (
  <>
    <Head title="What was worked around" />
    <ul class="paths">{state.warnings.value.map((text) => <li key={text}>{text}</li>)}</ul>
  </>
);
