// The table as an area: a column is a partition, a block in it a file slice, both by bytes. The rows below are its twin for the
// keyboard and for screen readers.

import { bytes, counted } from '../model/units.js';

/** @typedef {import('../types.js').HudiFileSlice} HudiFileSlice */

const smallFile = 0.25;

/** @param {{ slices: readonly HudiFileSlice[], selected: HudiFileSlice | undefined, onSelect: (slice: HudiFileSlice) => void }} props */
export function Treemap({ slices, selected, onSelect }) {
  const columns = byPartition(slices);
  const mean = slices.reduce((sum, { totalSizeBytes }) => sum + totalSizeBytes, 0) / slices.length;
  return (
    <div class="treemap" aria-hidden="true">
      {columns.map(({ partition, size, members }) => (
        <div key={partition} class="treemap-column" style={{ flexGrow: size }} title={`${partition || 'no partition'}: ${bytes(size)} in ${counted(members.length, 'slice')}`}>
          <div class="treemap-blocks">
            {members.map((slice) => (
              <button
                key={slice.fileId} type="button" tabIndex={-1} style={{ flexGrow: Math.max(1, slice.totalSizeBytes) }}
                class={`block ${slice.hasLogFiles ? 'logged' : ''} ${slice.totalSizeBytes < mean * smallFile ? 'small' : ''} ${selected === slice ? 'selected' : ''}`}
                title={`${slice.fileId}: ${bytes(slice.totalSizeBytes)}`} onClick={() => onSelect(slice)}
              />
            ))}
          </div>
          <span class="treemap-name">{partition || 'no partition'}</span>
        </div>
      ))}
    </div>
  );
}

/** Partitions by bytes, largest first, their slices too. @param {readonly HudiFileSlice[]} slices */
function byPartition(slices) {
  const groups = Map.groupBy(slices, ({ partitionPath }) => partitionPath);
  const columns = [...groups].map(([partition, members]) => ({
    partition,
    size: members.reduce((sum, { totalSizeBytes }) => sum + totalSizeBytes, 0),
    members: [...members].sort((a, b) => b.totalSizeBytes - a.totalSizeBytes),
  }));
  return columns.sort((a, b) => b.size - a.size);
}
