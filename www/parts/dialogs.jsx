// The smaller dialogs: the link, the keys, the CORS rule.

import { useState } from 'preact/hooks';
import { link } from '../model/actions.js';
import { full } from '../model/instant.js';
import { keyList } from '../model/keys.js';
import { corsRule } from '../model/problem.js';
import * as state from '../model/state.js';
import { Modal } from './modal.jsx';

/** @param {{ text: string }} props */
function CopyButton({ text }) {
  const [copied, setCopied] = useState(false);
  return (
    <button type="button" class="button primary" onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(true))}>
      {copied ? 'Copied' : 'Copy'}
    </button>
  );
}

export function ShareDialog() {
  const [pin, setPin] = useState(state.asOf.value !== undefined);
  const newest = state.table.value?.newest;
  const address = new URL(location.href);
  const words = new URLSearchParams(link());
  if (pin && state.asOf.value === undefined && newest !== undefined) words.set('as_of', newest);
  if (!pin) words.delete('as_of');
  address.hash = words.toString();
  const instant = state.shownInstant.value;
  return (
    <Modal title="Share what is shown">
      <p>
        The link names the table, the view and the filters. Keys and tokens are never part of it: who opens it needs access of their own.
      </p>
      <label class="check">
        <input type="checkbox" checked={pin} onChange={() => setPin(!pin)} /> pinned to{' '}
        {instant === undefined ? 'this instant' : full(instant)}, else the newest when it is opened
      </label>
      <p class="share-line">
        <input class="mono" readOnly aria-label="Link" value={address.href} onFocus={(event) => event.currentTarget.select()} />
        <CopyButton text={address.href} />
      </p>
    </Modal>
  );
}

export const KeysDialog = () => (
  <Modal title="Keys">
    <dl class="facts keys">
      {keyList.map(([key, what]) => (
        <div key={key}>
          <dt>
            <kbd>{key}</kbd>
          </dt>
          <dd>{what}</dd>
        </div>
      ))}
    </dl>
  </Modal>
);

export function CorsDialog() {
  const rule = corsRule(location.origin);
  return (
    <Modal title="Let this page read the store">
      <p>
        A browser asks the store whether this page may read it. For S3, R2 or MinIO add this rule to the bucket's CORS configuration;
        another web server must send the same headers.
      </p>
      <pre class="text mono">{rule}</pre>
      <p class="buttons">
        <CopyButton text={rule} />
      </p>
    </Modal>
  );
}
