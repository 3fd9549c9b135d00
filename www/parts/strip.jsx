// The timeline strip: three lanes of instants, the axis, and the handle that is the instant all views show.

import { useEffect, useRef, useState } from 'preact/hooks';
import * as actions from '../model/actions.js';
import { actionName, clock, full, hueOf, isPending, laneOf, short, zoneName } from '../model/instant.js';
import * as state from '../model/state.js';
import { counted } from '../model/units.js';
import { dayOf, nearest, panned, scaleOf, ticksOf, wholeSpan, zoomed } from './scale.js';

/** @typedef {import('../types.js').TimelineEntry} TimelineEntry */

const lanes = /** @type {const} */ (['writes', 'services', 'clean-up']);
const laneTop = 14;
const laneStep = 20;
const barHeight = 11;
const barMin = 5;
const openWidth = 40;

export function Strip() {
  const table = state.table.value;
  const pending = state.instants.value.filter(isPending).length;
  const zoom = state.stripZoom.value;
  const first = zoom?.start ?? clock(state.instants.value[0]?.timestamp ?? '');
  return (
    <section class="strip" aria-label="Timeline strip">
      <ul class="lanes" aria-hidden="true">
        {lanes.map((lane) => (
          <li key={lane}>{lane}</li>
        ))}
        {first !== undefined && <li class="day">{dayOf(first)}</li>}
      </ul>
      <Axis />
      <div class="strip-facts">
        {table && (
          <span
            title={
              table.timezone === 'UTC'
                ? 'Instants are UTC.'
                : 'This table keeps instants on the clock of whoever wrote them (hoodie.table.timeline.timezone=LOCAL).'
            }
          >
            {zoneName(table.timezone)}
          </span>
        )}
        {pending > 0 && <span class="pending">{counted(pending, 'pending', 'pending')}</span>}
        {state.asOf.value !== undefined && (
          <button type="button" class="link" title="Show the newest instant again" onClick={() => actions.goTo(undefined)}>
            newest
          </button>
        )}
        {zoom && (
          <button
            type="button"
            class="link"
            title="Show all instants again"
            onClick={() => {
              state.stripZoom.value = undefined;
            }}
          >
            whole
          </button>
        )}
      </div>
    </section>
  );
}

function Axis() {
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  const width = useWidth(box);
  const [preview, setPreview] = useState(/** @type {number | undefined} */ (undefined));
  const instants = state.instants.value;
  const { x, start, end } = scaleOf(instants, width, state.stripZoom.value);
  useWheel(box, width);
  const shown = instants.findIndex(({ timestamp }) => timestamp === state.shownInstant.value);
  const index = preview ?? shown;
  const at = (/** @type {PointerEvent} */ event) => {
    const left = box.current?.getBoundingClientRect().left ?? 0;
    return nearest(instants, start + ((event.clientX - left) / width) * (end - start));
  };
  const drop = (/** @type {number} */ to) => {
    setPreview(undefined);
    const entry = instants[to];
    if (entry) actions.goTo(entry.timestamp);
  };
  const down = (/** @type {PointerEvent} */ event) => {
    const bar = event.target instanceof Element ? event.target.closest('[data-instant]')?.getAttribute('data-instant') : undefined;
    const entry = instants.find(({ timestamp, action }) => bar === `${timestamp} ${action}`);
    if (entry) {
      actions.goTo(entry.timestamp);
      actions.select({ kind: 'instant', entry });
      return;
    }
    box.current?.setPointerCapture(event.pointerId);
    setPreview(at(event));
  };
  return (
    <div
      ref={box}
      class="axis"
      onPointerDown={down}
      onPointerMove={(event) => preview !== undefined && setPreview(at(event))}
      onPointerUp={(event) => preview !== undefined && drop(at(event))}
      onPointerCancel={() => setPreview(undefined)}
    >
      {width > 0 && (
        <svg width={width} height="104" aria-hidden="true">
          {lanes.map((lane, i) => (
            <line
              key={lane}
              class="lane"
              x1="0"
              x2={width}
              y1={laneTop + i * laneStep + barHeight / 2}
              y2={laneTop + i * laneStep + barHeight / 2}
            />
          ))}
          {instants.length > 0 &&
            ticksOf(start, end, width).map(({ at: time, text }) => (
              <text key={time} class="tick" x={x(time)} y="88">
                {text}
              </text>
            ))}
          {instants.map((entry) => (
            <Bar key={`${entry.timestamp} ${entry.action}`} entry={entry} x={x} width={width} />
          ))}
        </svg>
      )}
      <Handle index={index} x={x} width={width} onStep={drop} />
    </div>
  );
}

/** @param {{ entry: TimelineEntry, x: (at: number) => number, width: number }} props */
function Bar({ entry, x, width }) {
  const from = clock(entry.timestamp);
  if (from === undefined) return null;
  const table = state.table.value ?? { type: '', clusterings: [] };
  const action = actionName(entry, table);
  const top = laneTop + lanes.indexOf(laneOf(action)) * laneStep;
  const done = entry.completionTimestamp === undefined ? from : (clock(entry.completionTimestamp) ?? from);
  const left = x(from);
  const label = `${action}, ${entry.state.toLowerCase()}: ${full(entry.timestamp)}${entry.completionTimestamp ? ` to ${short(entry.completionTimestamp)}` : ''}`;
  const id = `${entry.timestamp} ${entry.action}`;
  if (isPending(entry)) {
    const right = Math.min(width, left + openWidth);
    return (
      <path class="bar open" data-instant={id} d={`M${right} ${top}H${left}V${top + barHeight}H${right}`}>
        <title>{label}</title>
      </path>
    );
  }
  return (
    <rect
      class={`bar ${hueOf(action)}`}
      data-instant={id}
      x={left}
      y={top}
      width={Math.max(barMin, x(done) - left)}
      height={barHeight}
      rx="2"
    >
      <title>{label}</title>
    </rect>
  );
}

/** @param {{ index: number, x: (at: number) => number, width: number, onStep: (index: number) => void }} props */
function Handle({ index, x, width, onStep }) {
  const instants = state.instants.value;
  const time = instants[index]?.timestamp ?? state.asOf.value;
  const at = time === undefined ? undefined : clock(time);
  if (time === undefined || at === undefined || width === 0) return null;
  const left = Math.max(0, Math.min(width, x(at)));
  const text = `as of ${short(time)}`;
  const press = (/** @type {KeyboardEvent} */ event) => {
    const zoom = { '+': 0.7, '=': 0.7, '-': 1 / 0.7 }[event.key];
    if (zoom !== undefined) {
      const whole = wholeSpan(instants);
      state.stripZoom.value = zoomed(state.stripZoom.value ?? whole, whole, at, zoom);
      return;
    }
    const to = {
      ArrowLeft: index - 1,
      ArrowDown: index - 1,
      ArrowRight: index + 1,
      ArrowUp: index + 1,
      Home: 0,
      End: instants.length - 1,
      PageUp: index - 10,
      PageDown: index + 10,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    onStep(Math.max(0, Math.min(instants.length - 1, to)));
  };
  return (
    <div
      class="handle"
      style={{ left: `${left}px` }}
      tabIndex={0}
      role="slider"
      aria-label="Instant shown"
      aria-valuemin={0}
      aria-valuemax={instants.length - 1}
      aria-valuenow={Math.max(0, index)}
      aria-valuetext={`as of ${full(time)}`}
      onKeyDown={press}
    >
      <span class="handle-label mono" style={{ transform: `translateX(${labelShift(left, width, text.length * 7.3 + 14)}px)` }}>
        {text}
      </span>
    </div>
  );
}

/** Keeps the label centred on the line, and inside the strip. @param {number} left @param {number} width @param {number} label */
const labelShift = (left, width, label) => Math.max(-left, Math.min(width - left - label, -label / 2));

/** The wheel zooms around the pointer, with Shift or sideways it moves along. @param {{ current: HTMLElement | null }} box @param {number} width */
function useWheel(box, width) {
  useEffect(() => {
    const { current } = box;
    if (!current || width === 0) return undefined;
    const turn = (/** @type {WheelEvent} */ event) => {
      event.preventDefault();
      const whole = wholeSpan(state.instants.value);
      const span = state.stripZoom.value ?? whole;
      const aside = event.shiftKey ? event.deltaY : event.deltaX;
      const perPixel = (span.end - span.start) / width;
      const around = span.start + (event.clientX - current.getBoundingClientRect().left) * perPixel;
      state.stripZoom.value =
        aside !== 0 ? state.stripZoom.value && panned(span, whole, aside * perPixel) : zoomed(span, whole, around, 1.0015 ** event.deltaY);
    };
    // Only a listener that says so may keep the page from scrolling.
    current.addEventListener('wheel', turn, { passive: false });
    return () => current.removeEventListener('wheel', turn);
  }, [box, width]);
}

/** The width of an element as it changes. @param {{ current: HTMLElement | null }} box */
function useWidth(box) {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const { current } = box;
    if (!current) return undefined;
    const observer = new ResizeObserver(() => setWidth(current.clientWidth));
    observer.observe(current);
    return () => observer.disconnect();
  }, [box]);
  return width;
}
