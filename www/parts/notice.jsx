// A failed open while another table is shown: that table stays behind it.

import { useState } from 'preact/hooks';
import { reopen } from '../model/actions.js';
import * as state from '../model/state.js';
import { Problem } from './problem.jsx';

export function Notice() {
  const [dismissed, setDismissed] = useState(/** @type {unknown} */ (undefined));
  const task = state.opening.state.value;
  if (task.status !== 'failed' || !state.table.value || state.dialog.value === 'open' || dismissed === task.failure) return null;
  return (
    <div class="notice">
      <Problem failure={task.failure} again={reopen} />
      <button type="button" class="icon-button close" aria-label="Dismiss" onClick={() => setDismissed(task.failure)}>
        ×
      </button>
    </div>
  );
}
