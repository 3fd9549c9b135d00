// Files: the file slices of the instant, as areas by bytes and as rows.

import { useCallback, useMemo } from 'preact/hooks';
import * as actions from '../model/actions.js';
import { full } from '../model/instant.js';
import * as state from '../model/state.js';
import { bytes, count, counted, exactBytes, middleCut } from '../model/units.js';
import { Grid, Skeleton } from '../parts/grid.jsx';
import { Cancelled, Empty, Problem } from '../parts/problem.jsx';
import { Treemap } from '../parts/treemap.jsx';

/** @typedef {import('../types.js').HudiFileSlice} HudiFileSlice */

export function FilesView() {
  const task = state.slices.state.value;
  if (task.status === 'failed') return <Problem failure={task.failure} again={state.slices.again} />;
  if (task.status === 'cancelled') return <Cancelled again={state.slices.again} />;
  const slices = state.slices.shown;
  if (!slices) return <Skeleton label="Listing file slices" />;
  if (slices.length === 0)
    return (
      <Empty title="No file slice as of this instant">
        <p>Nothing was written yet, or all partitions were replaced or deleted.</p>
      </Empty>
    );
  return <Slices slices={slices} stale={task.status === 'loading'} />;
}

/** @param {{ slices: readonly HudiFileSlice[], stale: boolean }} props */
function Slices({ slices, stale }) {
  const sorted = useMemo(() => [...slices].sort((a, b) => b.totalSizeBytes - a.totalSizeBytes), [slices]);
  const most = sorted[0]?.totalSizeBytes || 1;
  const show = useCallback((/** @type {HudiFileSlice} */ slice, /** @type {number} */ column) => cell(slice, column, most), [most]);
  const partitions = new Set(slices.map(({ partitionPath }) => partitionPath)).size;
  const chosen = state.selected.value;
  const picked = chosen?.kind === 'slice' ? sorted.findIndex((slice) => same(slice, chosen.slice)) : -1;
  return (
    <>
      <div class="toolbar">
        <span>
          <b>{counted(slices.length, 'file slice')}</b> in{' '}
          {partitions === 1 && sorted[0]?.partitionPath === '' ? 'a table without partitions' : counted(partitions, 'partition')}
        </span>
        <span class="spring" />
        <span class="dim hint">A column is a partition, an area is a file slice by bytes</span>
      </div>
      <div class="files">
        <Treemap
          slices={slices}
          selected={picked < 0 ? undefined : sorted[picked]}
          onSelect={(slice) => actions.select({ kind: 'slice', slice })}
        />
        <Grid
          label="File slices"
          columns={columns}
          rows={sorted}
          stale={stale}
          cell={show}
          copy={copy}
          {...(picked >= 0 && { selected: picked })}
          onSelect={(slice) => actions.select({ kind: 'slice', slice })}
        />
      </div>
    </>
  );
}

/** @param {HudiFileSlice} a @param {HudiFileSlice} b */
const same = (a, b) => a.fileId === b.fileId && a.partitionPath === b.partitionPath;

const columns = [
  { key: 'partition', head: 'Partition', width: 130 },
  { key: 'file', head: 'File id', width: 190 },
  { key: 'instant', head: 'Base instant', width: 190 },
  { key: 'rows', head: 'Rows', width: 80, end: true },
  { key: 'logs', head: 'Logs', width: 60, end: true },
  { key: 'base', head: 'Base size', width: 90, end: true },
  { key: 'size', head: 'Slice size ↓', width: 190, end: true },
];

/** @param {HudiFileSlice} slice @param {number} column @param {number} most */
function cell(slice, column, most) {
  switch (column) {
    case 0:
      return slice.partitionPath || <span class="null">none</span>;
    case 1:
      return (
        <span class="mono" title={slice.fileId}>
          {middleCut(slice.fileId)}
        </span>
      );
    case 2:
      return <span class="mono">{full(slice.creationInstantTime)}</span>;
    case 3:
      return <span class="mono">{count(slice.numRecords)}</span>;
    case 4:
      return <span class="mono">{count(slice.logFileNames.length)}</span>;
    case 5:
      return (
        <span class="mono" title={exactBytes(slice.baseFileSize)}>
          {bytes(slice.baseFileSize)}
        </span>
      );
    default:
      return (
        <>
          <i class="size-bar" style={{ width: `${(slice.totalSizeBytes / most) * 64}px` }} />
          <span class="mono" title={exactBytes(slice.totalSizeBytes)}>
            {bytes(slice.totalSizeBytes)}
          </span>
        </>
      );
  }
}

/** @param {HudiFileSlice} slice @param {number} column */
const copy = (slice, column) =>
  String(
    [
      slice.partitionPath,
      slice.fileId,
      slice.creationInstantTime,
      slice.numRecords,
      slice.logFileNames.length,
      slice.baseFileSize,
      slice.totalSizeBytes,
    ][column] ?? '',
  );
