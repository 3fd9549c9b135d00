// The frame: header, timeline strip, rail, view, inspector, footer, and the dialog that is open.

import { dialog, inspectorOpen, opening, selected, table, view } from './model/state.js';
import { reopen } from './model/actions.js';
import { CorsDialog, KeysDialog, ShareDialog } from './parts/dialogs.jsx';
import { Footer } from './parts/footer.jsx';
import { Skeleton } from './parts/grid.jsx';
import { Header } from './parts/header.jsx';
import { Inspector } from './parts/inspector.jsx';
import { OpenDialog } from './parts/open_dialog.jsx';
import { Notice } from './parts/notice.jsx';
import { Cancelled, Empty, Problem } from './parts/problem.jsx';
import { Rail } from './parts/rail.jsx';
import { Strip } from './parts/strip.jsx';
import { DataView } from './views/data.jsx';
import { FilesView } from './views/files.jsx';
import { RequestsView } from './views/requests.jsx';
import { SchemaView } from './views/schema.jsx';
import { TimelineView } from './views/timeline.jsx';

const views = { data: DataView, files: FilesView, timeline: TimelineView, schema: SchemaView, requests: RequestsView };
const dialogs = { open: OpenDialog, share: ShareDialog, keys: KeysDialog, cors: CorsDialog };

export function Page() {
  const Dialog = dialog.value && dialogs[dialog.value];
  const inspected = inspectorOpen.value && (table.value !== undefined || selected.value !== undefined);
  return (
    <div class={`page ${inspected ? '' : 'no-inspector'}`}>
      <Header />
      <Strip />
      <Rail />
      <main class="main" aria-label={view.value}>
        <Notice />
        <Main />
      </main>
      {inspected && <Inspector />}
      <Footer />
      {Dialog && <Dialog />}
    </div>
  );
}

/** A failed open while a table is open is told in the open dialog instead: that table stays. */
function Main() {
  const View = views[view.value];
  if (table.value || view.value === 'requests') return <View />;
  const state = opening.state.value;
  if (state.status === 'failed') return <Problem failure={state.failure} again={reopen} />;
  if (state.status === 'cancelled') return <Cancelled again={reopen} />;
  if (state.status === 'loading') return <Skeleton label="Opening the table" />;
  return (
    <Empty title="No table is open">
      <p>Open a Hudi table by its address, or one of the samples. Everything is read inside this page; no server stands between.</p>
      <p class="buttons">
        <button
          type="button"
          class="button primary"
          onClick={() => {
            dialog.value = 'open';
          }}
        >
          Open table
        </button>
      </p>
    </Empty>
  );
}
