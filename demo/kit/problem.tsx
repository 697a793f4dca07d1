import type { JSX } from 'preact';
import { Icon } from './icon.tsx';

/** Why something failed, read out at once. */
export function Problem({ text, testId }: { text: string | undefined; testId: string }): JSX.Element | null {
  if (text === undefined) return null;
  return (
    <p class='screen-problem' role='alert' data-testid={testId}>
      <Icon name='warning' />
      {text}
    </p>
  );
}
