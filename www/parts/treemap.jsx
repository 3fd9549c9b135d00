// The table as an area: a column is a partition, a block in it a file slice, both by bytes. The rows below are its twin for the
// keyboard and for screen readers.

import { useMemo } from 'preact/hooks';
import { bytes, counted } from '../model/units.js';
import { squarify } from './squarify.js';

/**
 * @typedef {import('../types.js').HudiFileSlice} HudiFileSlice
 * @typedef {{ partition: string, size: number, members: HudiFileSlice[] }} Group
 */

const smallFile = 0.25;
const mostColumns = 40;
const mostBlocks = 1500;
/** What the blocks' shape is reckoned for; the real area may be wider, which stretches them a little. */
const area = { width: 900, height: 160 };

/** @param {{ slices: readonly HudiFileSlice[], selected: HudiFileSlice | undefined, onSelect: (slice: HudiFileSlice) => void }} props */
export function Treemap({ slices, selected, onSelect }) {
  const groups = useMemo(() => byPartition(slices), [slices]);
  const whole = groups.reduce((sum, { size }) => sum + size, 0) || 1;
  const mean = whole / slices.length;
  return (
    <div class="treemap" aria-hidden="true">
      {groups.map(({ partition, size, members }) => (
        <div
          key={partition}
          class="treemap-column"
          style={{ flexGrow: size }}
          title={`${partition}: ${bytes(size)} in ${counted(members.length, 'slice')}`}
        >
          <div class="treemap-blocks">
            {squarify(areasOf(members, groups.length), (size / whole) * area.width, area.height).map((box, i) => {
              const slice = members[i];
              if (slice === undefined || i === leastOf(groups.length))
                return (
                  <span
                    key="rest"
                    class="block rest"
                    style={styleOf(box, (size / whole) * area.width)}
                    title={`${members.length - i} smaller slices`}
                  />
                );
              const tone = slice.hasLogFiles ? 'logged' : slice.totalSizeBytes < mean * smallFile ? 'small' : '';
              return (
                <button
                  key={`${slice.partitionPath} ${slice.fileId}`}
                  type="button"
                  tabIndex={-1}
                  class={`block ${tone} ${selected === slice ? 'selected' : ''}`}
                  style={styleOf(box, (size / whole) * area.width)}
                  title={`${slice.fileId}: ${bytes(slice.totalSizeBytes)}`}
                  onClick={() => onSelect(slice)}
                />
              );
            })}
          </div>
          <span class="treemap-name">{partition}</span>
        </div>
      ))}
    </div>
  );
}

/** How many slices of a partition have a block of their own. @param {number} groups */
const leastOf = (groups) => Math.max(20, Math.floor(mostBlocks / groups));

/** Sizes of the blocks: beyond some the smallest slices share one. @param {readonly HudiFileSlice[]} members @param {number} groups */
function areasOf(members, groups) {
  const own = leastOf(groups);
  const sizes = members.map(sizeOf);
  return sizes.length <= own ? sizes : [...sizes.slice(0, own), sizes.slice(own).reduce((sum, size) => sum + size, 0)];
}

/** An empty file still is a file. @param {HudiFileSlice} slice */
const sizeOf = ({ totalSizeBytes }) => Math.max(1, totalSizeBytes);

/** @param {import('./squarify.js').Box} box @param {number} width */
const styleOf = ({ left, top, width: wide, height }, width) => ({
  left: `${(left / width) * 100}%`,
  top: `${(top / area.height) * 100}%`,
  width: `${(wide / width) * 100}%`,
  height: `${(height / area.height) * 100}%`,
});

/** Partitions by bytes, largest first, their slices too; the smallest together where there are many. @param {readonly HudiFileSlice[]} slices @returns {Group[]} */
function byPartition(slices) {
  const groups = [...Map.groupBy(slices, ({ partitionPath }) => partitionPath)].map(([partition, members]) =>
    groupOf(partition || 'no partition', members),
  );
  groups.sort((a, b) => b.size - a.size);
  if (groups.length <= mostColumns) return groups;
  const rest = groups.slice(mostColumns - 1);
  return [
    ...groups.slice(0, mostColumns - 1),
    groupOf(
      `${rest.length} more`,
      rest.flatMap(({ members }) => members),
    ),
  ];
}

/** @param {string} partition @param {readonly HudiFileSlice[]} members @returns {Group} */
const groupOf = (partition, members) => ({
  partition,
  size: members.reduce((sum, slice) => sum + sizeOf(slice), 0),
  members: [...members].sort((a, b) => b.totalSizeBytes - a.totalSizeBytes),
});
