// The selected thing: a row, slice, instant, field or request. A sheet over the page where it is narrow.

import { inspectorOpen, selected, view } from '../model/state.js';
import { InstantFacts } from './facts/instant.jsx';
import { FieldFacts, RequestFacts, WarningFacts } from './facts/other.jsx';
import { RowFacts } from './facts/row.jsx';
import { SliceFacts } from './facts/slice.jsx';

const hints = {
  data: 'Select a row to see all its values and where it came from.',
  files: 'Select a file slice to see its base file and logs.',
  timeline: 'Select an instant to see what it wrote.',
  schema: 'Select a field to see its type and place.',
  requests: 'Select a request to see its path, range and answer.',
};

export function Inspector() {
  const chosen = selected.value;
  return (
    <aside class={`inspector ${chosen ? 'chosen' : ''}`} aria-label="Inspector">
      <button
        type="button"
        class="icon-button close"
        aria-label="Close the inspector"
        title="Close (i)"
        onClick={() => {
          inspectorOpen.value = false;
          selected.value = undefined;
        }}
      >
        ×
      </button>
      {chosen ? <Facts chosen={chosen} /> : <p class="dim hint-text">{hints[view.value]}</p>}
    </aside>
  );
}

/** @param {{ chosen: import('../types.js').Selected }} props */
function Facts({ chosen }) {
  switch (chosen.kind) {
    case 'row':
      return <RowFacts {...chosen} />;
    case 'slice':
      return <SliceFacts slice={chosen.slice} />;
    case 'instant':
      return <InstantFacts entry={chosen.entry} />;
    case 'field':
      return <FieldFacts column={chosen.column} />;
    case 'request':
      return <RequestFacts request={chosen.request} />;
    default:
      return <WarningFacts />;
  }
}
