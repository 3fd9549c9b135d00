// What the inspector's pages are made of: a head, pairs of name and value, a way to an instant, a slice drawn to scale.

import * as actions from '../../model/actions.js';
import { full } from '../../model/instant.js';
import * as state from '../../model/state.js';
import { bytes, exactBytes } from '../../model/units.js';

/** @typedef {readonly [name: string, value: import('preact').ComponentChildren]} Fact */

/** @param {{ of: readonly Fact[] }} props */
export const List = ({ of }) => (
  <dl class="facts">
    {of.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
);

/** @param {{ title: string, sub?: string }} props */
export const Head = ({ title, sub }) => (
  <header>
    <h2 class="break">{title}</h2>
    {sub && <p class="mono dim break">{sub}</p>}
  </header>
);

/** An instant that leads to its own facts, where the timeline still has it. @param {{ time: string }} props */
export function InstantLink({ time }) {
  const entry = state.instants.value.find(({ timestamp }) => timestamp === time);
  if (!entry) return <span class="mono">{full(time)}</span>;
  return (
    <button type="button" class="link mono" onClick={() => actions.select({ kind: 'instant', entry })}>
      {full(time)}
    </button>
  );
}

/** Base file and logs to scale. @param {{ slice: import('../../types.js').HudiFileSlice }} props */
export function Anatomy({ slice }) {
  const parts = [
    ...(slice.baseFileName ? [{ name: 'base', size: slice.baseFileSize, hue: 'commit' }] : []),
    ...slice.logFileSizes.map((size, i) => ({ name: `log ${i + 1}`, size, hue: 'deltacommit' })),
  ];
  const most = parts.reduce((largest, { size }) => Math.max(largest, size), 1);
  return (
    <ul class="anatomy">
      {parts.map(({ name, size, hue }) => (
        <li key={name} title={exactBytes(size)}>
          <i class={`anatomy-bar ${hue}`} style={{ width: `${Math.max(2, (size / most) * 150)}px` }} />
          {name} {bytes(size)}
        </li>
      ))}
    </ul>
  );
}
