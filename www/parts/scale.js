// Where an instant lies on the strip, and which times the axis names.

import { clock } from '../model/instant.js';

/** @typedef {import('../types.js').TimelineEntry} TimelineEntry */

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const steps = [
  second,
  2 * second,
  5 * second,
  10 * second,
  15 * second,
  30 * second,
  minute,
  2 * minute,
  5 * minute,
  10 * minute,
  15 * minute,
  30 * minute,
  hour,
  2 * hour,
  3 * hour,
  6 * hour,
  12 * hour,
  day,
  2 * day,
  7 * day,
  14 * day,
  30 * day,
  90 * day,
  365 * day,
];
const tickRoom = 110;
const edge = 0.03;

/** @typedef {{ start: number, end: number }} Span milliseconds on the timeline's clock */

/**
 * @param {readonly TimelineEntry[]} instants @param {number} width pixels @param {Span} [zoom] the part that is shown; all by default
 * @returns {Span & { x: (at: number) => number }}
 */
export function scaleOf(instants, width, zoom) {
  const { start, end } = zoom ?? wholeSpan(instants);
  return { start, end, x: (at) => ((at - start) / (end - start)) * width };
}

/** @param {readonly TimelineEntry[]} instants @returns {Span} */
export function wholeSpan(instants) {
  const times = instants.flatMap(({ timestamp, completionTimestamp }) => [
    clock(timestamp),
    completionTimestamp === undefined ? undefined : clock(completionTimestamp),
  ]);
  const known = times.filter((at) => at !== undefined);
  const first = known.reduce((a, b) => Math.min(a, b), Infinity);
  const last = known.reduce((a, b) => Math.max(a, b), -Infinity);
  const [low, high] = known.length === 0 ? [0, minute] : [first, last];
  const span = Math.max(high - low, 2 * second);
  return { start: low - span * edge, end: low + span * (1 + 3 * edge) };
}

/**
 * A span made smaller or larger around one time, never larger than the whole nor outside of it; undefined is the whole.
 * @param {Span} span @param {Span} whole @param {number} around @param {number} factor @returns {Span | undefined}
 */
export function zoomed({ start, end }, whole, around, factor) {
  const size = Math.max(second, (end - start) * factor);
  if (size >= whole.end - whole.start) return undefined;
  return within(around - ((around - start) / (end - start)) * size, size, whole);
}

/** @param {Span} span @param {Span} whole @param {number} by milliseconds @returns {Span} */
export const panned = ({ start, end }, whole, by) => within(start + by, end - start, whole);

/** @param {number} start @param {number} size @param {Span} whole @returns {Span} */
function within(start, size, whole) {
  const low = Math.max(whole.start, Math.min(whole.end - size, start));
  return { start: low, end: low + size };
}

/** @param {number} start @param {number} end @param {number} width @returns {{ at: number, text: string }[]} */
export function ticksOf(start, end, width) {
  const wanted = (end - start) / Math.max(1, width / tickRoom);
  const step = steps.find((one) => one >= wanted) ?? 365 * day;
  const first = Math.ceil(start / step) * step;
  const length = Math.max(0, Math.min(100, Math.floor((end - first) / step) + 1));
  let shownDay = dayOf(start);
  return Array.from({ length }, (_, i) => {
    const at = first + i * step;
    const text = new Date(at).toISOString();
    if (step >= day) return { at, text: dayOf(at) };
    // The first day stands at the axis' left end; a tick says its day when it is the first of another.
    const time = step < minute ? text.slice(11, 19) : text.slice(11, 16);
    const fresh = dayOf(at) !== shownDay;
    shownDay = dayOf(at);
    return { at, text: fresh ? `${shownDay.slice(5)} ${time}` : time };
  });
}

/** `2026-11-29` @param {number} at */
export const dayOf = (at) => new Date(at).toISOString().slice(0, 10);

/** Index of the instant whose request is nearest to a time, or -1. @param {readonly TimelineEntry[]} instants @param {number} at */
export function nearest(instants, at) {
  let best = -1;
  let distance = Infinity;
  for (const [index, { timestamp }] of instants.entries()) {
    const gap = Math.abs((clock(timestamp) ?? Infinity) - at);
    if (gap < distance) [best, distance] = [index, gap];
  }
  return best;
}
