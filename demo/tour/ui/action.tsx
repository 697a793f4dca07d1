import type { JSX } from 'preact';

interface ActionProps {
  readonly testId: string;
  readonly label: string;
  readonly onClick: () => void;
  readonly isPrimary?: boolean;
  readonly isOff?: boolean;
}

export function Action({ testId, label, onClick, isPrimary = false, isOff = false }: ActionProps): JSX.Element {
  return (
    <button
      type='button'
      class={isPrimary ? 'button is-primary' : 'button'}
      data-testid={testId}
      disabled={isOff}
      onClick={onClick}
    >
      {label}
    </button>
  );
}
