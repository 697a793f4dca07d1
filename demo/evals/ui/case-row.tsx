import type { JSX } from 'preact';
import type { CallFacts, RunFacts } from '../../../src/evals/eval-case.ts';
import { pairCalls } from '../../forks/state/compare-runs.ts';
import type { StepCall } from '../../forks/state/run-steps.ts';
import { diffWords } from '../../forks/state/word-diff.ts';
import { CallView, Mark } from '../../forks/ui/step-view.tsx';
import { formatCount } from '../../kit/format.ts';
import { Icon } from '../../kit/icon.tsx';
import { changeWord, tokensOf, whyNot } from '../state/eval-words.ts';
import type { EvalsPage } from '../state/evals.ts';
import type { CaseHead } from '../../control/evals-control.ts';

interface CaseRowProps {
  readonly one: CaseHead;
  /** The agent's name. */
  readonly name: string;
  readonly page: EvalsPage;
}

/** A test case: whether it passes, how that has changed, and on demand what it did before and now. */
export function CaseRow({ one, name, page }: CaseRowProps): JSX.Element {
  const latest = page.report.value?.report.cases.find(({ id }) => id === one.id);
  const before = page.baseline.value?.report.cases.find(({ id }) => id === one.id);
  const change = page.comparison.value?.cases.find(({ id }) => id === one.id)?.change;
  const state = latest ? latest.pass ? 'passed' : 'failed' : 'not run';
  return (
    <details class='eval-case' data-testid='eval-case' data-state={state}>
      <summary>
        <Icon name={latest ? latest.pass ? 'check' : 'cross' : 'wait'} />
        <span class='eval-case-message'>
          <bdi>{one.message === '' ? one.id : one.message}</bdi>
        </span>
        <span class='eval-case-facts'>
          {[
            name,
            `revision ${one.revision}`,
            state,
            ...(latest ? [formatCount(tokensOf(latest), 'token')] : []),
          ].join(' · ')}
        </span>
        {change !== undefined && change !== 'same' && <Mark>{changeWord(change)}</Mark>}
        <span class='eval-case-fold'>
          <Icon name='chevron' />
        </span>
      </summary>
      {latest && !latest.pass && <p class='eval-why' data-testid='eval-why'>{whyNot(latest)}</p>}
      <Both
        left={before ? 'Earlier report' : 'Recorded'}
        before={before?.run ?? one.expected}
        after={latest?.run}
      />
      <button type='button' class='button' data-testid='eval-remove' onClick={() => void page.remove(one.id)}>
        <Icon name='trash' />
        Remove test case
      </button>
    </details>
  );
}

/** What a case did, twice, with the differences marked. */
function Both(
  { left, before, after }: { left: string; before: RunFacts; after: RunFacts | undefined },
): JSX.Element {
  const text = diffWords(before.text, after?.text ?? before.text);
  const pairs = pairCalls(before.calls.map(callOf), (after ?? before).calls.map(callOf));
  return (
    <div class='fork-columns'>
      <div class='fork-side' data-testid='eval-before'>
        <p class='eval-side-name'>{left}: {before.state}</p>
        <p class='fork-text'>
          {text.left.map((piece, i) => piece.isDifferent ? <del key={i}>{piece.text}</del> : piece.text)}
        </p>
        {pairs.map(({ left: call, change }, i) =>
          call && <CallView key={i} call={call} mark={change === 'same' ? undefined : markOf(change)} />
        )}
      </div>
      {after && (
        <div class='fork-side'>
          <p class='eval-side-name'>Latest: {after.state}</p>
          <p class='fork-text'>
            {text.right.map((piece, i) => piece.isDifferent ? <ins key={i}>{piece.text}</ins> : piece.text)}
          </p>
          {pairs.map(({ right: call, change }, i) =>
            call && <CallView key={i} call={call} mark={change === 'same' ? undefined : markOf(change)} />
          )}
        </div>
      )}
    </div>
  );
}

function markOf(change: 'changed' | 'added' | 'removed'): string {
  return change === 'changed' ? 'Different input' : change === 'added' ? 'Only in the latest' : 'Not in the latest';
}

function callOf({ tool, input, output, error }: CallFacts, i: number): StepCall {
  const outcome = error
    ? { type: 'error' as const, message: error.message, code: error.code }
    : output === undefined
    ? { type: 'open' as const }
    : { type: 'output' as const, output };
  return { id: String(i), tool, input, outcome };
}
