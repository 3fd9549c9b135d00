// Open table: an address and how to reach it, or a sample. What is secret goes to the engine and nowhere else.

import { useState } from 'preact/hooks';
import { cancel, open, reopen } from '../model/actions.js';
import * as state from '../model/state.js';
import { Modal } from './modal.jsx';
import { Problem } from './problem.jsx';

/** @typedef {import('../types.js').Place} Place */

export function OpenDialog() {
  const { value: task } = state.opening.state;
  return (
    <Modal title="Open table">
      {task.status === 'failed' && <Problem failure={task.failure} again={reopen} place="dialog" />}
      <OpenForm busy={task.status === 'loading'} />
      <Samples />
    </Modal>
  );
}

/** @param {{ busy: boolean }} props */
function OpenForm({ busy }) {
  const last = [state.attempted.value, state.place.value].find((place) => place && place.sample === undefined && place.kind !== 'folder');
  const [kind, setKind] = useState(/** @type {Place['kind']} */ (last?.kind ?? 'http'));
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    if (!(event.currentTarget instanceof HTMLFormElement)) return;
    const form = new FormData(event.currentTarget);
    const text = (/** @type {string} */ name) => String(form.get(name) ?? '').trim();
    const uri = text('uri');
    if (kind === 'folder') {
      const files = form.getAll('files').filter((file) => file instanceof File);
      const name = files[0]?.webkitRelativePath.split('/')[0] ?? '';
      void open({ kind, uri: `file:///${encodeURIComponent(name)}` }, { files });
      return;
    }
    const shared = { uri };
    if (kind === 'http') void open({ ...shared, kind, manifest: text('manifest') }, { authorization: text('authorization') });
    else {
      const secret = { accessKeyId: text('accessKeyId'), secretAccessKey: text('secretAccessKey'), sessionToken: text('sessionToken') };
      void open(
        {
          ...shared,
          kind,
          region: text('region'),
          endpoint: text('endpoint'),
          pathStyle: form.has('pathStyle'),
          anonymous: !secret.accessKeyId,
        },
        secret,
      );
    }
  };
  return (
    <form class="open-form" onSubmit={submit} autocomplete="off">
      <div class="segments" role="group" aria-label="Storage">
        <button type="button" aria-pressed={kind === 'http'} onClick={() => setKind('http')}>
          Web server
        </button>
        <button type="button" aria-pressed={kind === 's3'} onClick={() => setKind('s3')}>
          S3, R2, MinIO
        </button>
        <button type="button" aria-pressed={kind === 'folder'} onClick={() => setKind('folder')}>
          This computer
        </button>
      </div>
      {kind === 'folder' ? (
        <FolderField />
      ) : (
        <Field
          name="uri"
          label="Table address"
          value={last?.kind === kind ? last.uri : ''}
          placeholder={kind === 'http' ? 'https://host/path/to/table' : 's3://bucket/path/to/table'}
          required
        />
      )}
      {kind === 'http' && <HttpFields last={last} />}
      {kind === 's3' && <S3Fields last={last} />}
      <p class="buttons">
        <button type="submit" class="button primary" disabled={busy}>
          {busy ? 'Opening…' : 'Open'}
        </button>
        {busy && (
          <button type="button" class="button" onClick={() => cancel()}>
            Cancel
          </button>
        )}
      </p>
    </form>
  );
}

/** @param {{ last: Place | undefined }} props */
const HttpFields = ({ last }) => (
  <>
    <Field
      name="manifest"
      label="Manifest"
      note="the list of files, which a plain web server cannot give"
      value={last?.manifest ?? ''}
      placeholder="hudi-manifest.json in the table's folder"
    />
    <Field name="authorization" label="Authorization header" note="kept in memory only" type="password" placeholder="Bearer …" />
  </>
);

/** @param {{ last: Place | undefined }} props */
const S3Fields = ({ last }) => (
  <>
    <div class="pair">
      <Field name="region" label="Region" value={last?.region ?? ''} placeholder="us-east-1" />
      <Field name="endpoint" label="Endpoint" note="if not AWS" value={last?.endpoint ?? ''} placeholder="https://…" />
    </div>
    <label class="check">
      <input type="checkbox" name="pathStyle" defaultChecked={last?.pathStyle ?? false} /> bucket in the path, not in the host name
    </label>
    <p class="dim small">Without keys the bucket is read anonymously. Keys stay in memory and are never part of a link.</p>
    <div class="pair">
      <Field name="accessKeyId" label="Access key id" />
      <Field name="secretAccessKey" label="Secret access key" type="password" />
    </div>
    <Field name="sessionToken" label="Session token" type="password" />
  </>
);

/** @param {{ name: string, label: string, note?: string, value?: string, placeholder?: string, type?: string, required?: boolean }} props */
const Field = ({ name, label, note, value, placeholder, type = 'text', required }) => (
  <label class="field">
    <span>
      {label}
      {note && <span class="dim"> · {note}</span>}
    </span>
    <input
      class="mono"
      name={name}
      type={type}
      defaultValue={value ?? ''}
      placeholder={placeholder ?? ''}
      required={required ?? false}
      autocomplete="off"
      spellcheck={false}
    />
  </label>
);

/** Browsers hand over a folder only through such a field; nothing is uploaded. */
const FolderField = () => (
  <label class="field">
    <span>
      Folder of the table<span class="dim"> · read in place, nothing leaves this computer</span>
    </span>
    <input name="files" type="file" required {...{ webkitdirectory: true }} />
  </label>
);

function Samples() {
  if (state.samples.value.length === 0) return null;
  return (
    <>
      <h3>Samples, written by Spark</h3>
      <ul class="samples">
        {state.samples.value.map(({ name, note }) => (
          <li key={name}>
            <button type="button" class="sample" onClick={() => void open({ uri: '', kind: 'http', sample: name })}>
              <span class="mono">{name}</span>
              <span class="dim">{note}</span>
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}
