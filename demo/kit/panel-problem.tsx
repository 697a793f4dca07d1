import type { Signal } from '@preact/signals';
import type { JSX } from 'preact';
import { Icon } from './icon.tsx';
import { IconButton } from './button.tsx';

interface PanelProblemProps {
  readonly problem: Signal<string | undefined>;
  /** A lasting problem, shown while there is no other. */
  readonly otherwise?: string | undefined;
  readonly testId: string;
}

/** A side panel's problem. The person can dismiss it, except a lasting one. */
export function PanelProblem({ problem, otherwise, testId }: PanelProblemProps): JSX.Element | null {
  const text = problem.value ?? otherwise;
  if (text === undefined) return null;
  return (
    <p class='panel-problem' role='alert' data-testid={testId}>
      <Icon name='warning' />
      <span>{text}</span>
      {problem.value !== undefined && (
        <IconButton icon='cross' label='Dismiss' onClick={() => (problem.value = undefined)} />
      )}
    </p>
  );
}
