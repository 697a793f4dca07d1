import type { JSX } from 'preact';
import type { ErrorData } from '../../../src/base/errors.ts';
import { describeProblem } from '../../chat/state/problem.ts';
import { Icon } from '../../kit/icon.tsx';
import { Swell } from '../../kit/mark.tsx';
import { Button } from '../../kit/button.tsx';

interface RefusalProps {
  readonly error: ErrorData;
  /** What it takes to see it. */
  readonly scope: string;
  readonly onRetry: () => void;
}

/** Explains why the endpoint did not answer, with a button to retry. */
export function Refusal({ error, scope, onRetry }: RefusalProps): JSX.Element {
  const { title, advice } = explain(error, scope);
  return (
    <div class='callout is-warning' role='alert' data-testid='console-refusal' data-code={error.code}>
      <Icon name={error.code === 'forbidden' ? 'lock' : 'warning'} />
      <div>
        <h2>{title}</h2>
        <p>{advice}</p>
        <p class='callout-message'>
          <code class='code-chip'>{error.code}</code> {error.message}
        </p>
        <div class='button-row'>
          <Button testId='console-retry' onClick={onRetry}>Try again</Button>
        </div>
      </div>
    </div>
  );
}

function explain(error: ErrorData, scope: string): { readonly title: string; readonly advice: string } {
  switch (error.code) {
    case 'forbidden':
      return {
        title: 'Permission missing',
        advice: `This page’s certificate does not have the scope “${scope}”. Ask the certificate issuer to add it.`,
      };
    case 'not_found':
      return {
        title: 'Not available at this endpoint',
        advice: 'The endpoint does not have this feature turned on, or the item was removed.',
      };
    case 'unavailable':
      return { title: 'The endpoint did not respond', advice: 'Check that it is running. Its data is not lost.' };
    default:
      return describeProblem(error);
  }
}

/** Something is on its way. */
export function Asking({ what }: { what: string }): JSX.Element {
  return (
    <p class='waiting is-centred' role='status'>
      <Swell />
      <span class='visually-hidden'>Loading {what}</span>
    </p>
  );
}
