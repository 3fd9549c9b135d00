// A grid of rows: own role=grid markup, one cell active, moved by arrows, Home, End, PageUp and PageDown.

import { memo } from 'preact/compat';
import { useId, useRef, useState } from 'preact/hooks';

/**
 * @typedef {object} GridColumn
 * @property {string} key
 * @property {import('preact').ComponentChildren} head
 * @property {number} width pixels; what is left over is shared out in proportion
 * @property {boolean} [end] right-aligned
 */

/**
 * @template T
 * @typedef {object} GridProps
 * @property {string} label
 * @property {readonly GridColumn[]} columns
 * @property {readonly T[]} rows
 * @property {(row: T, column: number) => import('preact').ComponentChildren} cell
 * @property {(row: T, column: number) => string} [copy] text of a cell for the clipboard
 * @property {(row: T) => string} [tone] class of a row
 * @property {number} [selected]
 * @property {(row: T, index: number) => void} [onSelect]
 * @property {boolean} [stale] a newer answer is awaited
 * @property {boolean} [compact]
 */

const page = 15;
/** Up to so many rows are all drawn; of more only those in sight, and some around them. */
const drawnWhole = 250;
const around = 20;
const chunk = 10;
const rowHeight = { normal: 29, compact: 24 };
const skeletonRows = 12;

/** @template T @param {GridProps<T>} props */
export function Grid({ label, columns, rows, cell, copy, tone, selected, onSelect, stale, compact }) {
  const id = useId();
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  const [active, setActive] = useState({ row: 0, column: 0 });
  const height = compact ? rowHeight.compact : rowHeight.normal;
  const [scrolled, setScrolled] = useState(0);
  const { first, last } = inSight(rows.length, scrolled * chunk, (box.current?.clientHeight ?? 900) / height);
  const template = columns.map(({ width }) => `minmax(${width}px, ${width}fr)`).join(' ');
  const least = columns.reduce((sum, { width }) => sum + width, 8);
  const cellId = (/** @type {number} */ row, /** @type {number} */ column) => `${id}-${row}-${column}`;
  const move = (/** @type {number} */ row, /** @type {number} */ column) => {
    const to = { row: clamp(row, rows.length), column: clamp(column, columns.length) };
    setActive(to);
    if (box.current) bringIntoSight(box.current, to.row, height);
    requestAnimationFrame(() =>
      document.getElementById(cellId(to.row, to.column))?.scrollIntoView({ block: 'nearest', inline: 'nearest' }),
    );
  };
  const press = (/** @type {KeyboardEvent} */ event) => {
    const row = rows[active.row];
    if (row === undefined) return;
    if ((event.ctrlKey || event.metaKey) && event.key === 'c' && copy && !String(getSelection()))
      void navigator.clipboard.writeText(copy(row, active.column));
    else if (event.key === 'Enter' || event.key === ' ') onSelect?.(row, active.row);
    else if (!step(event, active, rows.length, columns.length, move)) return;
    event.preventDefault();
  };
  const click = (/** @type {MouseEvent} */ event) => {
    const at =
      event.target instanceof Element
        ? event.target
            .closest('[role=gridcell]')
            ?.id.slice(id.length + 1)
            .split('-')
            .map(Number)
        : undefined;
    const [row = -1, column = 0] = at ?? [];
    const value = rows[row];
    if (value === undefined) return;
    setActive({ row, column });
    onSelect?.(value, row);
  };
  return (
    <div
      ref={box}
      class={`grid ${stale ? 'stale' : ''} ${compact ? 'compact' : ''}`}
      style={{ '--columns': template, '--least': `${least}px` }}
      tabIndex={0}
      role="grid"
      aria-label={label}
      aria-rowcount={rows.length + 1}
      aria-colcount={columns.length}
      aria-busy={stale === true}
      aria-activedescendant={active.row >= first && active.row < last ? cellId(active.row, active.column) : undefined}
      onKeyDown={press}
      onClick={click}
      onScroll={(event) => setScrolled(Math.floor(event.currentTarget.scrollTop / height / chunk))}
    >
      <div class="grid-head" role="rowgroup">
        <div class="grid-names" role="row" aria-rowindex={1}>
          {columns.map(({ key, head, end }) => (
            <div key={key} role="columnheader" class={end ? 'end' : ''}>
              {head}
            </div>
          ))}
        </div>
      </div>
      <div role="rowgroup" style={{ paddingTop: `${first * height}px`, paddingBottom: `${(rows.length - last) * height}px` }}>
        {rows.slice(first, last).map((row, i) => (
          <Row
            key={first + i}
            row={row}
            index={first + i}
            columns={columns}
            cell={cell}
            id={id}
            tone={tone?.(row) ?? ''}
            selected={selected === first + i}
            active={active.row === first + i ? active.column : -1}
          />
        ))}
      </div>
    </div>
  );
}

/** Which rows are drawn. @param {number} count @param {number} top first row in sight @param {number} sight rows in sight */
function inSight(count, top, sight) {
  if (count <= drawnWhole) return { first: 0, last: count };
  const first = Math.max(0, Math.min(count, top) - around);
  return { first, last: Math.min(count, first + Math.ceil(sight) + 2 * around + chunk) };
}

/** Scrolls by rows' height alone, since a row out of sight may not be drawn. @param {HTMLElement} box @param {number} row @param {number} height */
function bringIntoSight(box, row, height) {
  const head = box.querySelector('.grid-head')?.clientHeight ?? 0;
  const least = head + (row + 1) * height - box.clientHeight;
  if (box.scrollTop > row * height) box.scrollTop = row * height;
  else if (box.scrollTop < least) box.scrollTop = least;
}

/** Drawn again only when it changes: moving the active cell touches two rows. */
const Row = memo(
  /**
   * @param {{ row: any, index: number, id: string, tone: string, selected: boolean, active: number,
   *   columns: readonly GridColumn[], cell: (row: any, column: number) => import('preact').ComponentChildren }} props
   */
  ({ row, index, columns, cell, id, tone, selected, active }) => (
    <div role="row" aria-rowindex={index + 2} aria-selected={selected} class={`grid-row ${tone} ${selected ? 'selected' : ''}`}>
      {columns.map(({ key, end }, column) => (
        <div key={key} id={`${id}-${index}-${column}`} role="gridcell" class={`${end ? 'end' : ''} ${active === column ? 'active' : ''}`}>
          {cell(row, column)}
        </div>
      ))}
    </div>
  ),
  (before, after) =>
    before.row === after.row &&
    before.cell === after.cell &&
    before.columns === after.columns &&
    before.selected === after.selected &&
    before.active === after.active &&
    before.tone === after.tone,
);

/**
 * @param {KeyboardEvent} event @param {{ row: number, column: number }} at @param {number} rows @param {number} columns
 * @param {(row: number, column: number) => void} move @returns {boolean} whether it was a key that moves
 */
function step({ key, ctrlKey }, { row, column }, rows, columns, move) {
  if (key === 'ArrowDown') move(row + 1, column);
  else if (key === 'ArrowUp') move(row - 1, column);
  else if (key === 'ArrowRight') move(row, column + 1);
  else if (key === 'ArrowLeft') move(row, column - 1);
  else if (key === 'Home') move(ctrlKey ? 0 : row, 0);
  else if (key === 'End') move(ctrlKey ? rows - 1 : row, columns - 1);
  else if (key === 'PageDown') move(row + page, column);
  else if (key === 'PageUp') move(row - page, column);
  else return false;
  return true;
}

const clamp = (/** @type {number} */ n, /** @type {number} */ length) => Math.max(0, Math.min(length - 1, n));

/** Rows of the right height while nothing is there yet; they appear after 300 ms. @param {{ label: string, columns?: number }} props */
export const Skeleton = ({ label, columns = 6 }) => (
  <div class="skeleton" role="status" aria-label={label}>
    {Array.from({ length: skeletonRows }, (_, row) => (
      <div key={row} class="skeleton-row">
        {Array.from({ length: columns }, (_, column) => (
          <span key={column} style={{ width: `${40 + ((row * 7 + column * 13) % 5) * 11}px` }} />
        ))}
      </div>
    ))}
  </div>
);
