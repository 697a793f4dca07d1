import type { ComponentChildren, JSX } from 'preact';
import { Icon } from './icon.tsx';

/** A line with a hint. */
export function Notice(
  { children, testId, action }: { children: ComponentChildren; testId?: string; action?: ComponentChildren },
): JSX.Element {
  return (
    <div class='notice' role='status' data-testid={testId}>
      <Icon name='info' />
      <p>{children}</p>
      {action}
    </div>
  );
}
