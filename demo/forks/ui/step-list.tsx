import type { JSX } from 'preact';
import { formatCount } from '../../kit/format.ts';
import { GuideLink } from '../../kit/guide-link.tsx';
import { Icon } from '../../kit/icon.tsx';
import { adviceOn, changesOf, stateOf } from '../state/fork-words.ts';
import type { RunStep, RunSteps } from '../state/run-steps.ts';
import type { Travel } from '../state/travel.ts';
import { ForkForm } from './fork-form.tsx';
import { StepView } from './step-view.tsx';
import { Button } from '../../kit/button.tsx';

interface StepListProps {
  readonly travel: Travel;
  readonly canFork: boolean;
  readonly onFork: (forkId: string) => void;
  /** Shows this run, a fork, beside its parent; absent where the parent cannot be found. */
  readonly onParent: ((parent: string) => void) | undefined;
}

/** The steps of a run, each with the way to fork it there. */
export function StepList({ travel, canFork, onFork, onParent }: StepListProps): JSX.Element {
  const run = travel.run.value;
  if (!run) {
    return (
      <div class='run-scroll' aria-busy={travel.problem.value === undefined}>
        <ForkProblem travel={travel} />
      </div>
    );
  }
  return (
    <div class='run-scroll fork-steps' data-testid='steps-view'>
      <p class='inspector-faint'>
        Fork a run to see what happens with different instructions, or a different model, message or tool result. Steps
        before the fork are shared and not repeated. <GuideLink page='forks'>About forks</GuideLink>
      </p>
      {run.fork && <Parent run={run} onParent={onParent} />}
      <ForkProblem travel={travel} />
      <ForkList travel={travel} onFork={onFork} />
      <ol class='fork-step-list'>
        {run.steps.map((step) => (
          <li key={step.n}>
            <Step step={step} travel={travel} canFork={canFork} onFork={onFork} />
          </li>
        ))}
      </ol>
      <Ending run={run} travel={travel} canFork={canFork} onFork={onFork} />
    </div>
  );
}

/** Why the run cannot be read or forked, and what to do. */
export function ForkProblem({ travel }: { travel: Travel }): JSX.Element | null {
  const problem = travel.problem.value;
  if (!problem) return null;
  const { what, remedy } = adviceOn(problem);
  return (
    <p class='screen-problem' role='alert' data-testid='fork-problem'>
      <Icon name='warning' />
      <span>
        {what} {remedy}
      </span>
    </p>
  );
}

function Parent({ run, onParent }: { run: RunSteps; onParent: StepListProps['onParent'] }): JSX.Element | null {
  const { fork } = run;
  if (!fork) return null;
  return (
    <p class='fork-parent' data-testid='fork-parent'>
      This run is a fork from step {fork.atStep} of another run, with {changesOf(fork)}.{' '}
      {onParent && (
        <Button kind='quiet' testId='fork-compare' onClick={() => onParent(fork.parent)}>
          Compare with the original
        </Button>
      )}
    </p>
  );
}

function ForkList({ travel, onFork }: Pick<StepListProps, 'travel' | 'onFork'>): JSX.Element | null {
  const forks = travel.inputs.value?.forks ?? [];
  if (forks.length === 0) return null;
  return (
    <section class='fork-list' aria-label='Forks of this run'>
      <h2>{formatCount(forks.length, 'fork')}</h2>
      <ul class='boxed'>
        {forks.toSorted((a, b) => b.startedAt - a.startedAt).map((entry) => (
          <li key={entry.runId}>
            <button type='button' class='fork-row' data-testid='fork-row' onClick={() => onFork(entry.runId)}>
              <span>
                From step {entry.atStep}, with {changesOf({ ...entry, parent: '', exact: false })}
              </span>
              <time dateTime={new Date(entry.startedAt).toISOString()}>
                {new Date(entry.startedAt).toLocaleTimeString('en')}
              </time>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

interface StepProps extends Pick<StepListProps, 'travel' | 'canFork' | 'onFork'> {
  readonly step: RunStep;
}

function Step({ step, travel, canFork, onFork }: StepProps): JSX.Element {
  const isOpen = travel.draft.value?.atStep === step.n;
  return (
    <article class='fork-step' aria-label={`Step ${step.n}`} data-testid='step'>
      <header>
        <h2>Step {step.n}</h2>
        {canFork && !isOpen && <ForkButton atStep={step.n} travel={travel} label='Fork from here' />}
      </header>
      {isOpen && <ForkForm travel={travel} onFork={onFork} />}
      <StepView step={step} />
    </article>
  );
}

/** Behind the last step a message can be added. */
function Ending(
  { run, travel, canFork, onFork }: Pick<StepListProps, 'travel' | 'canFork' | 'onFork'> & { run: RunSteps },
): JSX.Element {
  const next = run.steps.length + 1;
  const isOpen = travel.draft.value?.atStep === next;
  return (
    <footer class='fork-end'>
      <p class='inspector-faint'>{stateOf(run)}</p>
      {canFork && run.state === 'completed' && !isOpen && (
        <ForkButton atStep={next} travel={travel} label='Fork after the last step' />
      )}
      {isOpen && <ForkForm travel={travel} onFork={onFork} />}
    </footer>
  );
}

function ForkButton({ atStep, travel, label }: { atStep: number; travel: Travel; label: string }): JSX.Element {
  return (
    <Button testId='fork-here' onClick={() => travel.edit(atStep)}>
      {label}
    </Button>
  );
}
