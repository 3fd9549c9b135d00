// A button with a panel below it; Escape, a click outside or leaving it with Tab closes it.

import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/**
 * @typedef {import('preact').ComponentChildren} Children
 * @param {{ id?: string, label: Children, title?: string, disabled?: boolean, children: (close: () => void) => Children }} props
 */
export function Menu({ id, label, title, disabled, children }) {
  const [open, setOpen] = useState(false);
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  const button = useRef(/** @type {HTMLButtonElement | null} */ (null));
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  // At once, not after the next frame: whoever types into the panel by then would lose the focus again.
  useLayoutEffect(() => {
    if (!open) return undefined;
    const first = box.current?.querySelector('.menu-panel :is(input, select, button)');
    if (first instanceof HTMLElement) first.focus();
    const outside = (/** @type {Event} */ event) => {
      if (event.target instanceof Node && !box.current?.contains(event.target)) setOpen(false);
    };
    document.addEventListener('pointerdown', outside);
    document.addEventListener('focusin', outside);
    return () => {
      document.removeEventListener('pointerdown', outside);
      document.removeEventListener('focusin', outside);
    };
  }, [open]);
  const press = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== 'Escape' || !open) return;
    event.preventDefault();
    close();
  };
  return (
    <div class="menu" ref={box} onKeyDown={press}>
      <button
        ref={button}
        type="button"
        id={id}
        class="button"
        title={title}
        disabled={disabled}
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        {label}
      </button>
      {open && <div class="menu-panel">{children(close)}</div>}
    </div>
  );
}
