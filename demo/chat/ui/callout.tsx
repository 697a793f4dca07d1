import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { describeProblem, type Problem, type Remedy } from '../state/problem.ts';
import type { ErrorShape } from '../state/run-data.ts';
import { Icon } from '../../kit/icon.tsx';
import { Said, useSaid } from '../../kit/said.tsx';

const labels: Readonly<Record<Remedy, string>> = {
  'remove-files': 'Remove the files',
  retry: 'Try again',
  settings: 'Model settings',
  'chat-settings': 'Chat settings',
  'new-chat': 'New chat',
  reload: 'Reload the page',
  room: 'Free up space',
};

interface ErrorCalloutProps {
  readonly error: ErrorShape;
  /** A limit was reached; the text so far remains. */
  readonly isLimit: boolean;
  readonly traceId: string | undefined;
  /** Returns what the provider said about a run of this page; absent where that is not known. */
  readonly saidOf?: ((traceId: string) => Promise<string | undefined>) | undefined;
  /** Whether the remedies can be used here. */
  readonly isLast: boolean;
  /** Whether the chat sends files. */
  readonly hasFiles: boolean;
  readonly onRemedy: (remedy: Remedy) => void;
}

/** What went wrong, what the provider said, and what to do; the code and the trace are folded. */
export function ErrorCallout(
  { error, isLimit, traceId, saidOf, isLast, hasFiles, onRemedy }: ErrorCalloutProps,
): JSX.Element {
  const said = useSaid({ traceId, saidOf });
  const { title, advice, remedies } = useProblem(error, said);
  const isFutile = error.code === 'cancelled' || remedies.includes('remove-files');
  const offered = isFutile || remedies.includes('retry') ? remedies : [...remedies, 'retry' as const];
  const usable = isLast
    ? offered.filter((remedy) =>
      (remedy !== 'retry' || error.code !== 'cancelled') && (remedy !== 'remove-files' || hasFiles)
    )
    : [];
  return (
    <div
      class={`callout ${isLimit ? 'is-warning' : 'is-error'}`}
      role={isLast ? 'alert' : undefined}
      data-testid='error-callout'
      data-code={error.code}
    >
      <Icon name='warning' />
      <div>
        <h3>{title}</h3>
        <p>{advice}</p>
        <Said text={said} />
        <details class='callout-message'>
          <summary>Details</summary>
          <code class='code-chip'>{error.code}</code> {error.message}
          {traceId !== undefined && <span class='trace'>Trace {traceId}</span>}
        </details>
        {usable.length > 0 && (
          <div class='button-row'>
            {usable.map((remedy, i) => (
              <button
                key={remedy}
                type='button'
                class={i === 0 ? 'button is-primary' : 'button'}
                data-testid={`remedy-${remedy}`}
                onClick={() => onRemedy(remedy)}
              >
                {labels[remedy]}
              </button>
            ))}
          </div>
        )}
      </div>
    </div>
  );
}

/** What is known at once; then what the provider's own words tell. */
function useProblem(error: ErrorShape, said: string | undefined): Problem {
  const finer = useSignal<Problem | undefined>(undefined);
  useEffect(() => {
    let isLatest = true;
    const read = async (): Promise<void> => {
      try {
        const { providerProblem } = await import('../../settings/state/provider-problem.ts');
        if (isLatest) finer.value = providerProblem(error, said);
      } catch {
        // the callout shows the general advice
      }
    };
    if (error.details) void read();
    return () => void (isLatest = false); // a first import may end after the next one
  }, [error, said]);
  return finer.value ?? describeProblem(error);
}
