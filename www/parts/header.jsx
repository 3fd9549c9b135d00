// Name, location, badges, Share and Open table.

import { withoutSecrets } from '../model/link.js';
import * as state from '../model/state.js';
import { bytes, count, counted, exactBytes } from '../model/units.js';

const typeNames = { COPY_ON_WRITE: 'Copy-on-Write', MERGE_ON_READ: 'Merge-on-Read' };

export function Header() {
  const local = state.place.value?.kind === 'folder';
  return (
    <header class="header">
      <h1>Hudi explorer</h1>
      <Location />
      <Badges />
      <span class="spring" />
      <button
        type="button"
        class="button"
        disabled={!state.table.value || local}
        title={local ? 'A folder of this computer cannot be linked to' : 'A link to what is shown'}
        onClick={() => {
          state.dialog.value = 'share';
        }}
      >
        Share
      </button>
      <button
        type="button"
        class="button primary"
        onClick={() => {
          state.dialog.value = 'open';
        }}
      >
        Open table
      </button>
    </header>
  );
}

function Location() {
  const where = state.place.value ?? state.attempted.value;
  const uri = withoutSecrets(where?.uri ?? '').replace(/\/+$/, '');
  const cut = uri.lastIndexOf('/') + 1;
  return (
    <div class="location mono" title={uri}>
      <span class="dim">{uri.slice(0, cut)}</span>
      <span>{uri.slice(cut)}</span>
      {where?.sample !== undefined && <span class="dim"> · sample</span>}
    </div>
  );
}

function Badges() {
  const table = state.table.value;
  if (!table) return null;
  const slices = state.slices.shown;
  const rows = slices?.reduce((sum, { numRecords }) => sum + numRecords, 0) ?? 0;
  const size = slices?.reduce((sum, { totalSizeBytes }) => sum + totalSizeBytes, 0) ?? 0;
  const warnings = state.warnings.value;
  return (
    <ul class="badges" aria-label="Table facts">
      <li class="badge strong" title="Table type">
        {typeNames[table.type]}
      </li>
      <li class="badge" title="Table version">
        version <b>{table.version}</b>
      </li>
      {rows > 0 && (
        <li class="badge" title="Rows in the base files as of the shown instant">
          <b>{count(rows)}</b> {rows === 1 ? 'row' : 'rows'}
        </li>
      )}
      {slices && (
        <li class="badge" title={exactBytes(size)}>
          <b>{bytes(size)}</b> in {counted(slices.length, 'slice')}
        </li>
      )}
      {warnings.length > 0 && (
        <li>
          <button
            type="button"
            class="badge warn"
            onClick={() => {
              state.selected.value = { kind: 'warnings' };
              state.inspectorOpen.value = true;
            }}
          >
            {counted(warnings.length, 'warning')}
          </button>
        </li>
      )}
    </ul>
  );
}
