import type { JSX } from 'preact';
import { Problem } from '../../kit/problem.tsx';
import type { SignInAttempt } from '../state/sign-in.ts';

/** How far an attempt to sign in has come, and why it failed. */
export function SignInSteps(
  { attempt, issuerHost }: { readonly attempt: SignInAttempt; readonly issuerHost: string },
): JSX.Element {
  const { url } = attempt;
  return (
    <>
      <Problem text={attempt.problem.value} testId='sign-in-problem' />
      <p role='status' class='field-help' data-testid='sign-in-step' data-step={attempt.step.value}>
        {wordsOf(attempt, issuerHost)}
      </p>
      {url.value !== undefined && (
        <p>
          <a href={url.value} target='_blank' rel='noopener noreferrer' data-testid='sign-in-link'>
            Open {issuerHost}
          </a>
        </p>
      )}
    </>
  );
}

function wordsOf({ step, isClosed }: SignInAttempt, issuerHost: string): string {
  switch (step.value) {
    case 'starting':
      return `Contacting ${issuerHost}…`;
    case 'waiting':
      return isClosed.value
        ? 'The window was closed before you signed in. Choose “Sign in” to open it again.'
        : `Waiting for you to sign in at ${issuerHost}.`;
    case 'blocked':
      return 'Your browser blocked the window. Open the link to sign in:';
    case 'finishing':
      return 'Finishing the sign-in…';
    default:
      return '';
  }
}
