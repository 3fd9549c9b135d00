// What a press of a key or a button does: the only file that changes state.js and starts tasks.

import { batch, effect, untracked } from '@preact/signals';
import { format, parse } from './link.js';
import * as state from './state.js';

/**
 * @typedef {import('../types.js').Place} Place
 * @typedef {import('../types.js').Secret} Secret
 * @typedef {import('../types.js').FilterTuple} FilterTuple
 * @typedef {import('../types.js').ViewName} ViewName
 */

/** Kept for a retry of the same place, in memory only. @type {Secret} */
let secret = {};

/**
 * How the engine reaches a place.
 * @param {Place} place @param {Secret} secret @returns {import('../types.js').PageStorage}
 */
export function storageOf(place, secret) {
  if (place.kind === 's3') {
    const { accessKeyId, secretAccessKey, sessionToken } = secret;
    const credentials =
      accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) } : undefined;
    return {
      type: 's3',
      region: place.region || 'us-east-1',
      ...(place.endpoint && { endpoint: place.endpoint }),
      ...(place.pathStyle && { forcePathStyle: true }),
      ...(credentials ? { credentials } : { anonymous: true }),
    };
  }
  if (place.kind === 'folder') return { type: 'folder', files: secret.files ?? [] };
  return {
    type: 'http',
    ...(secret.authorization && { headers: { Authorization: secret.authorization } }),
    listing: { manifest: place.manifest || usualManifest(place.uri) },
  };
}

/** Where `npm run manifest` puts the listing; a query, such as a signature, is the whole folder's. @param {string} uri */
function usualManifest(uri) {
  const [folder = '', query] = uri.split('?', 2);
  return `${folder.replace(/\/+$/, '')}/hudi-manifest.json${query === undefined ? '' : `?${query}`}`;
}

/** A sample's name becomes its address, which depends on where the page lies. @param {Place} place @returns {Place} */
function located(place) {
  if (place.sample === undefined) return place;
  const sample = state.samples.value.find(({ name }) => name === place.sample);
  if (!sample) return place;
  const uri = new URL(sample.folder, document.baseURI).href;
  return { kind: 'http', uri, manifest: new URL(sample.manifest, document.baseURI).href, sample: sample.name };
}

/**
 * Opens a table; on failure the table that was open stays, and `opening` says why.
 * @param {Place} wanted @param {Secret} [secrets] @param {{ asOf?: string, filters?: readonly FilterTuple[] }} [asked]
 */
export async function open(wanted, secrets = {}, asked = {}) {
  const where = located(wanted);
  secret = secrets;
  const question = {
    uri: where.uri,
    storage: storageOf(where, secrets),
    ...(where.timezone && { timezone: where.timezone }),
    guessed: !where.manifest,
  };
  state.attempted.value = where;
  const facts = await state.opening.start('open table', question);
  if (!facts) return;
  batch(() => {
    for (const task of state.tableTasks) task.reset();
    state.table.value = facts;
    state.place.value = where;
    state.asOf.value = asked.asOf;
    state.filters.value = asked.filters ?? [];
    state.chosenColumns.value = undefined;
    state.limit.value = state.pageSize;
    state.readOptimized.value = false;
    state.stripZoom.value = undefined;
    state.selected.value = undefined;
    state.dialog.value = undefined;
  });
}

/** Tries the last place again, with what was asked. */
export function reopen() {
  const where = state.attempted.value ?? state.place.value;
  if (!where) return;
  const same = where === state.place.value;
  void open(where, secret, same ? { ...(state.asOf.value !== undefined && { asOf: state.asOf.value }), filters: state.filters.value } : {});
}

/** @param {ViewName} name */
export function show(name) {
  if (state.view.value === name) return;
  batch(() => {
    state.view.value = name;
    state.selected.value = undefined;
  });
}

/** Moves every view to an instant; the newest one is `undefined`, so that the link stays at the newest. @param {string | undefined} time */
export function goTo(time) {
  batch(() => {
    state.asOf.value = time === state.table.value?.newest ? undefined : time;
    if (state.selected.value?.kind !== 'instant') state.selected.value = undefined;
  });
}

/** To the previous or next instant. @param {-1 | 1} step */
export function stepInstant(step) {
  const times = state.instants.value.map(({ timestamp }) => timestamp);
  const now = state.shownInstant.value;
  if (now === undefined) return;
  const next = step < 0 ? times.findLast((time) => time < now) : times.find((time) => time > now);
  if (next !== undefined) goTo(next);
}

/** @param {FilterTuple} filter */
export function addFilter(filter) {
  state.filters.value = [...state.filters.value, filter];
}

/** @param {number} index */
export function removeFilter(index) {
  state.filters.value = state.filters.value.filter((_, i) => i !== index);
}

export function clearFilters() {
  state.filters.value = [];
}

/** @param {import('../types.js').Selected | undefined} what */
export function select(what) {
  batch(() => {
    state.selected.value = what;
    if (what) state.inspectorOpen.value = true;
  });
}

/** @param {import('../types.js').HudiFileSlice} slice */
export function showSlice(slice) {
  show('files');
  select({ kind: 'slice', slice });
}

/** Ends whatever runs. @returns {boolean} whether anything did */
export function cancel() {
  const busy = [state.opening, ...state.tableTasks].filter((task) => task.state.value.status === 'loading');
  for (const task of busy) task.cancel();
  return busy.length > 0;
}

/** Columns read beside the shown ones, so that the inspector can say where a row came from. */
const originColumns = ['_hoodie_commit_time', '_hoodie_record_key', '_hoodie_partition_path', '_hoodie_file_name'];

/** The last question for rows, so that coming back to the view asks nothing again. */
let lastRows = '';

function readRows() {
  const known = new Set(state.allColumns.value.map(({ name }) => name));
  const projection = [...new Set([...originColumns.filter((name) => known.has(name)), ...state.gridColumns.value])];
  const question = {
    asOf: state.asOf.value,
    filters: state.filters.value,
    projection,
    limit: state.limit.value,
    readOptimized: state.readOptimized.value,
  };
  const text = JSON.stringify(question);
  untracked(() => {
    if (text === lastRows && state.rows.state.value.status !== 'idle') return;
    lastRows = text;
    void state.rows.start('read rows', question);
  });
}

/** Asks again whenever what is asked changes, for the view that is shown; keeps the link in step. */
export function follow() {
  effect(() => {
    if (!state.table.value || state.view.value !== 'data') return;
    readRows();
  });
  effect(() => {
    if (!state.table.value) return;
    const question = { asOf: state.asOf.value };
    untracked(() => void state.slices.start('list file slices', question));
  });
  effect(() => {
    if (!state.table.value || state.view.value !== 'schema') return;
    untracked(() => {
      if (state.avro.state.value.status === 'idle') void state.avro.start('read the schema', undefined);
    });
  });
  effect(() => {
    const chosen = state.selected.value;
    if (chosen?.kind !== 'instant') return;
    untracked(() => void state.instant.start('read instant', chosen.entry));
  });
  effect(() => {
    document.title = state.table.value ? `${state.table.value.name} · Hudi explorer` : 'Hudi explorer';
  });
  effect(() => {
    const text = link();
    if (state.place.value && text !== location.hash.slice(1)) history.replaceState(null, '', `#${text}`);
  });
}

/** What the page shows, as the text behind `#`. */
export function link() {
  const place = state.place.value;
  const asOf = state.asOf.value;
  return format({
    view: state.view.value,
    filters: state.filters.value,
    ...(place && place.kind !== 'folder' && { place }),
    ...(asOf !== undefined && { asOf }),
  });
}

/** Opens what the address says, else the first sample. */
export function start() {
  addEventListener('hashchange', () => location.hash.slice(1) !== link() && openLink());
  openLink();
}

function openLink() {
  const { place, view, asOf, filters } = parse(location.hash);
  state.view.value = view;
  const [sample] = state.samples.value;
  if (place) void open(place, {}, { filters, ...(asOf !== undefined && { asOf }) });
  else if (sample) void open({ uri: '', kind: 'http', sample: sample.name });
  else state.dialog.value = 'open';
}
