import type { JSX } from 'preact';
import type { ErrorData } from '../../../src/errors.ts';
import { Icon } from '../icon.tsx';
import { Swell } from '../mark.tsx';

/** Why the endpoint does not say it, in plain words. `scope` is what it takes. */
export function Refusal({ error, scope }: { error: ErrorData; scope: string }): JSX.Element {
  return (
    <div class='callout is-warning' role='alert' data-testid='console-refusal' data-code={error.code}>
      <Icon name='lock' />
      <div>
        <h3>{titleOf(error)}</h3>
        <p>{adviceOf(error, scope)}</p>
        <p class='callout-message'>
          <code class='code-chip'>{error.code}</code> {error.message}
        </p>
      </div>
    </div>
  );
}

function titleOf({ code }: ErrorData): string {
  if (code === 'forbidden') return 'This page may not see that';
  return code === 'not_found' ? 'The endpoint has nothing of that' : 'The endpoint did not answer';
}

function adviceOf({ code }: ErrorData, scope: string): string {
  if (code === 'forbidden') {
    return `It takes the scope “${scope}”, which this page’s certificate does not have. Whoever issues certificates can add it.`;
  }
  return code === 'not_found' ? 'It was composed without it, or it is gone.' : 'Check that it runs, and try again.';
}

/** Something is on its way. */
export function Asking({ what }: { what: string }): JSX.Element {
  return (
    <p class='waiting is-centred' role='status'>
      <Swell />
      <span class='visually-hidden'>Reading {what}</span>
    </p>
  );
}
