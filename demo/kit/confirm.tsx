import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Button } from './button.tsx';

interface ConfirmProps {
  readonly label: string;
  readonly testId: string;
  readonly onConfirm: () => void;
  readonly onCancel: () => void;
}

/** Asks for confirmation in place of the button that was pressed, and takes its focus. */
export function Confirm({ label, testId, onConfirm, onCancel }: ConfirmProps): JSX.Element {
  const button = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => button.current?.focus(), []);
  return (
    <>
      <button ref={button} type='button' class='button is-danger' data-testid={testId} onClick={onConfirm}>
        {label}
      </button>
      <Button onClick={onCancel}>Cancel</Button>
    </>
  );
}
