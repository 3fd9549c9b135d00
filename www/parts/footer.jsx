// The truth of the last action: what is shown, what was skipped, what it cost.

import { actions as finished, requests, running } from '../engine/client.js';
import { cancel } from '../model/actions.js';
import { short } from '../model/instant.js';
import * as state from '../model/state.js';
import { bytes, count, counted, duration, exactBytes } from '../model/units.js';

export function Footer() {
  const now = running.value;
  const last = finished.value.at(-1);
  const reading = state.view.value === 'data' ? finished.value.findLast(({ label }) => label === 'read rows') : undefined;
  const facts = reading ?? last;
  const memory = finished.value.findLast((one) => one.memory !== undefined)?.memory;
  return (
    <footer class="footer" aria-label="Last action">
      <Shown />
      <span class="spring" />
      {now && (
        <span class="busy" role="status">
          {now.label}
          {now.progress ? `: ${now.progress}` : ''}
          <button type="button" class="link" title="Cancel (Esc)" onClick={() => cancel()}>
            cancel
          </button>
        </span>
      )}
      {facts && (
        <span class="cost" title={`${facts.label}: ${exactBytes(facts.bytes)} from the network, ${facts.cacheHits} from cache`}>
          <span class="what">{facts.label}:</span>{' '}
          <span>
            <b>{count(facts.requests)}</b> {facts.requests === 1 ? 'request' : 'requests'}
          </span>
          {facts.cacheHits > 0 && (
            <span>
              <b>{count(facts.cacheHits)}</b> cached
            </span>
          )}
          <span>
            <b>{bytes(facts.bytes)}</b>
          </span>{' '}
          <span>
            <b>{duration(facts.ms)}</b>
          </span>
        </span>
      )}
      {memory !== undefined && (
        <span class="memory" title="WebAssembly memory of the engine">
          memory <b>{bytes(memory)}</b>
        </span>
      )}
    </footer>
  );
}

function Shown() {
  const table = state.table.value;
  const name = state.view.value;
  if (!table && name !== 'requests') return <span>No table is open</span>;
  const instant = state.shownInstant.value;
  const when = instant === undefined ? '' : ` as of ${short(instant)}`;
  if (name === 'data') return <RowsShown when={when} />;
  if (name === 'files')
    return (
      <span>
        <b>{counted(state.slices.shown?.length ?? 0, 'file slice')}</b>
        {when}
      </span>
    );
  if (name === 'timeline')
    return (
      <span>
        <b>{counted(state.instants.value.length, 'instant')}</b> on the active timeline
      </span>
    );
  if (name === 'schema')
    return (
      <span>
        <b>{counted(table?.columns.length ?? 0, 'field')}</b> as of the newest commit
      </span>
    );
  const network = requests.value.filter(({ from }) => from === 'network').length;
  const cached = requests.value.filter(({ from }) => from === 'cache').length;
  return (
    <span>
      <b>{counted(network, 'request')}</b> over the network, <b>{count(cached)}</b> from cache since the page was opened
    </span>
  );
}

/** @param {{ when: string }} props */
function RowsShown({ when }) {
  const answer = state.rows.shown;
  if (!answer) return <span>{state.rows.state.value.status === 'failed' ? 'No rows: the read failed' : 'No rows yet'}</span>;
  const { rows, metrics } = answer;
  const whole = rows.length < state.limit.value;
  // Slices of partitions that were not even listed count as skipped too.
  const all = Math.max(metrics.filesTotal, state.slices.state.value.status === 'ready' ? (state.slices.shown?.length ?? 0) : 0);
  const skipped = all - (metrics.filesTotal - metrics.filesPruned);
  return (
    <>
      <span>
        {whole ? (
          <>
            <b>{count(rows.length)}</b> {rows.length === 1 ? 'row' : 'rows'}
            {state.filters.value.length > 0 ? ' match' : ''}
          </>
        ) : (
          <>
            first <b>{count(rows.length)}</b> rows shown
          </>
        )}
        {when}
      </span>
      {all > 0 && (
        <span class="wide">
          {skipped > 0 ? (
            <>
              <b>
                {count(skipped)} of {counted(all, 'slice')}
              </b>{' '}
              skipped
            </>
          ) : (
            `${counted(all, 'slice')} read`
          )}
        </span>
      )}
      {metrics.rowGroupsPruned > 0 && <span class="wide">{counted(metrics.rowGroupsPruned, 'row group')} skipped by statistics</span>}
    </>
  );
}
