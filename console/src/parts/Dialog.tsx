import { type ReactElement, type ReactNode, useId, useLayoutEffect, useRef } from 'react';

interface Props {
  readonly title: string;
  readonly children: ReactNode;
  /** Whether only the buttons in the content close the dialog. */
  readonly isRequired?: boolean;
  /** Called by Esc, the close button, and a click outside. */
  readonly onClose?: () => void;
  readonly isWide?: boolean;
}

/**
 * A modal dialog: the browser keeps the focus inside and restores it afterwards. The element with `data-focus` has the
 * focus at first; without such an element, the first one that can have it.
 */
export function Dialog({ title, children, isRequired = false, onClose, isWide = false }: Props): ReactElement {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useLayoutEffect(() => {
    const { current } = dialog;
    if (current !== null && !current.open) {
      current.showModal();
      current.querySelector<HTMLElement>('[data-focus]')?.focus();
    }
    return () => {
      current?.close();
      // The browser restores the focus. Without an element to restore it to, the page gets it.
      const { activeElement, body } = document;
      if (activeElement === body || current?.contains(activeElement) === true)
        document.getElementById('main')?.focus({ preventScroll: true });
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      className={isWide ? 'dialog wide' : 'dialog'}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        if (!isRequired) onClose?.();
      }}
      onMouseDown={(event) => {
        if (event.target === dialog.current && !isRequired) onClose?.();
      }}
    >
      <div className="dialog-body">
        <header>
          <h2 id={titleId}>{title}</h2>
          {!isRequired && (
            <button type="button" className="button quiet icon" aria-label="Close" onClick={onClose}>
              ✕
            </button>
          )}
        </header>
        {children}
      </div>
    </dialog>
  );
}
