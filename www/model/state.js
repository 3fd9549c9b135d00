// What the page knows. Signals only; actions.js changes them, views read them.

import { computed, signal } from '@preact/signals';
import { Task } from './task.js';

/**
 * @typedef {import('../types.js').TableFacts} TableFacts
 * @typedef {import('../types.js').FilterTuple} FilterTuple
 * @typedef {import('../types.js').Selected} Selected
 * @typedef {import('../types.js').TimelineEntry} TimelineEntry
 */

export const pageSize = 200;

/** The open table and where it is. */
export const table = signal(/** @type {TableFacts | undefined} */ (undefined));
export const place = signal(/** @type {import('../types.js').Place | undefined} */ (undefined));
/** The place that was tried last, open or not: what a retry tries again. */
export const attempted = signal(/** @type {import('../types.js').Place | undefined} */ (undefined));
export const samples = signal(/** @type {readonly import('../types.js').Sample[]} */ ([]));

/** What is asked: the instant (undefined is the newest), the filters, the columns (undefined is all but meta fields), how many rows. */
export const asOf = signal(/** @type {string | undefined} */ (undefined));
export const filters = signal(/** @type {readonly FilterTuple[]} */ ([]));
export const chosenColumns = signal(/** @type {readonly string[] | undefined} */ (undefined));
export const limit = signal(pageSize);
/** The part of the timeline that the strip shows; undefined is all of it. */
export const stripZoom = signal(/** @type {import('../parts/scale.js').Span | undefined} */ (undefined));
export const readOptimized = signal(false);

/** What is looked at. */
export const view = signal(/** @type {import('../types.js').ViewName} */ ('data'));
export const selected = signal(/** @type {Selected | undefined} */ (undefined));
export const inspectorOpen = signal(true);
/** The dialog that is open. `open` may say why: the failure of the last try. */
export const dialog = signal(/** @type {'open' | 'share' | 'keys' | 'cors' | undefined} */ (undefined));

export const opening = new Task('open');
export const rows = new Task('rows');
export const slices = new Task('slices');
export const avro = new Task('avro');
export const instant = new Task('instant');

/** All tasks whose table is the open one. */
export const tableTasks = [rows, slices, avro, instant];

/** The instant that all views show, as an entry of the timeline where it is one. */
export const shownInstant = computed(() => asOf.value ?? table.value?.newest);

/** Instants the handle can rest at, oldest first. @returns {readonly TimelineEntry[]} */
export const instants = computed(() => table.value?.instants ?? []);

export const allColumns = computed(() => [...(table.value?.metaColumns ?? []), ...(table.value?.columns ?? [])]);

/** Names of the columns the grid shows, in the table's order. */
export const gridColumns = computed(() => {
  const chosen = chosenColumns.value;
  if (chosen === undefined) return (table.value?.columns ?? []).map(({ name }) => name);
  return allColumns.value.map(({ name }) => name).filter((name) => chosen.includes(name));
});

export const warnings = computed(() => rows.shown?.metrics.warnings ?? []);
