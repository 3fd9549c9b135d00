// A dialog over the page. The browser's own dialog keeps focus inside and gives it back.

import { useLayoutEffect, useRef } from 'preact/hooks';
import { dialog } from '../model/state.js';

/** @param {{ title: string, children: import('preact').ComponentChildren }} props */
export function Modal({ title, children }) {
  const box = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useLayoutEffect(() => {
    box.current?.showModal();
  }, []);
  const close = () => {
    dialog.value = undefined;
  };
  return (
    <dialog ref={box} class="modal" aria-label={title} onClose={close} onClick={(event) => event.target === box.current && close()}>
      <div class="modal-body">
        <header class="modal-head">
          <h2>{title}</h2>
          <button type="button" class="icon-button" aria-label="Close" title="Close (Esc)" onClick={close}>
            ×
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}
