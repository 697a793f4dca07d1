import type { ComponentChildren, JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

interface DialogProps {
  readonly class: string;
  readonly label: string;
  readonly testId: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** A modal dialog that is open as long as it is rendered. Esc and a press beside it close it. */
export function Dialog({ class: className, label, testId, onClose, children }: DialogProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const isRemoved = useRef(false);
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    return () => {
      // Closing restores the focus; its event arrives later and must not close the next dialog.
      isRemoved.current = true;
      element?.close();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={`dialog ${className}`}
      data-testid={testId}
      aria-label={label}
      onCancel={(event) => {
        event.preventDefault(); // it closes by its removal, at once: its own close event comes after the next key
        onClose();
      }}
      onClose={() => isRemoved.current || onClose()}
      onMouseDown={(event) => event.target === dialog.current && onClose()}
    >
      {children}
    </dialog>
  );
}
