import type { JSX } from 'preact';
import { formatCount, formatDuration } from '../../kit/format.ts';
import { Swell } from '../../kit/mark.tsx';
import type { CallPair, RunComparison, StepPair } from '../state/compare-runs.ts';
import { changesOf, stateOf } from '../state/fork-words.ts';
import type { RunStep, RunSteps, StepCall } from '../state/run-steps.ts';
import type { StepFigure, StepFigures } from '../state/step-figures.ts';
import type { Travel } from '../state/travel.ts';
import type { Piece } from '../state/word-diff.ts';
import { ForkProblem } from './step-list.tsx';
import { CallView, Mark, StepView } from './step-view.tsx';
import { Button } from '../../kit/button.tsx';

interface ComparisonProps {
  readonly travel: Travel;
  readonly onClose: () => void;
  /** Opens the form for the same step. */
  readonly onAgain: () => void;
}

/** A run and its fork side by side: what they share once, then each step of both, with the differences marked. */
export function Comparison({ travel, onClose, onAgain }: ComparisonProps): JSX.Element {
  const [run, fork, comparison] = [travel.run.value, travel.fork.value, travel.comparison.value];
  const isRunning = fork?.state === 'running';
  return (
    <div class='run-scroll fork-comparison' data-testid='fork-comparison' data-state={fork?.state}>
      <header class='fork-head'>
        <p data-testid='fork-summary'>{fork?.fork ? summaryOf(fork, comparison) : 'Loading the fork'}</p>
        <div class='button-row'>
          {isRunning && <Button onClick={() => travel.stop()}>Stop fork</Button>}
          {!isRunning && fork && <Button onClick={onAgain}>Fork again</Button>}
          <Button testId='fork-close' onClick={onClose}>Close comparison</Button>
        </div>
      </header>
      <ForkProblem travel={travel} />
      {!comparison && travel.problem.value === undefined && <Reading />}
      {comparison && run && fork && <Both travel={travel} run={run} fork={fork} comparison={comparison} />}
    </div>
  );
}

function Reading(): JSX.Element {
  return (
    <p class='waiting is-centred' role='status'>
      <Swell />
      <span class='visually-hidden'>Loading both runs</span>
    </p>
  );
}

function summaryOf(fork: RunSteps, comparison: RunComparison | undefined): string {
  const facts = fork.fork;
  if (!facts) return '';
  const start = `Forked from step ${facts.atStep} with ${changesOf(facts)}.`;
  if (!comparison || fork.state === 'running') return start;
  const { different } = comparison;
  const same = facts.exact ? 'No differences: the model received the same prompt.' : 'No differences.';
  return `${start} ${
    different === 0 ? same : `${formatCount(different, 'step')} ${different === 1 ? 'differs' : 'differ'}.`
  }`;
}

interface BothProps {
  readonly travel: Travel;
  readonly run: RunSteps;
  readonly fork: RunSteps;
  readonly comparison: RunComparison;
}

function Both({ travel, run, fork, comparison: { shared, pairs } }: BothProps): JSX.Element {
  const { left, right } = travel.figures.value;
  const isRunning = fork.state === 'running';
  return (
    <>
      {shared.length > 0 && <Shared steps={shared} edited={fork.edited} />}
      <div class='fork-columns fork-column-heads'>
        <Total name='Original' run={run} figures={left} from={shared.length + 1} />
        <Total name='Fork' run={fork} figures={right} from={shared.length + 1} against={left} />
      </div>
      {pairs.map((pair) => (
        <section
          key={pair.n}
          class='fork-pair'
          aria-label={`Step ${pair.n}`}
          data-testid='fork-pair'
          data-same={pair.isSame}
        >
          <h2>
            Step {pair.n} <Mark>{wordOf(pair, isRunning)}</Mark>
          </h2>
          <div class='fork-columns'>
            <Side name='Original' pair={pair} side='left' figure={left.get(pair.n)} />
            <Side name='Fork' pair={pair} side='right' figure={right.get(pair.n)} against={left.get(pair.n)} />
          </div>
        </section>
      ))}
    </>
  );
}

/** The steps before the fork: they were not made again. */
function Shared(
  { steps, edited }: { steps: readonly RunStep[]; edited: ReadonlyMap<string, unknown> },
): JSX.Element {
  return (
    <details class='fork-shared' data-testid='fork-shared'>
      <summary>
        {steps.length === 1 ? 'Step 1 is shared' : `Steps 1 to ${steps.length} are shared`}
        {edited.size > 0 && `, with ${formatCount(edited.size, 'changed result')}`}
      </summary>
      {steps.map((step) => (
        <article key={step.n} class='fork-step' aria-label={`Shared step ${step.n}`}>
          <StepView step={step} edited={edited} />
        </article>
      ))}
    </details>
  );
}

interface TotalProps {
  readonly name: string;
  readonly run: RunSteps;
  readonly figures: StepFigures;
  readonly from: number;
  readonly against?: StepFigures;
}

/** How a side ended, and what its own steps have taken. */
function Total({ name, run, figures, from, against }: TotalProps): JSX.Element {
  const total = sumOf(figures, from);
  return (
    <div class='fork-total' data-testid='fork-total'>
      <h2>{name}</h2>
      <p>
        {stateOf(run)}
        {total && <Figures figure={total} against={against && sumOf(against, from)} />}
      </p>
    </div>
  );
}

function sumOf(figures: StepFigures, from: number): StepFigure | undefined {
  const own = [...figures].flatMap(([n, figure]) => n >= from ? [figure] : []);
  if (own.length === 0) return undefined;
  return own.reduce((sum, { ms, tokens }) => ({ ms: sum.ms + ms, tokens: sum.tokens + tokens }));
}

function Figures(
  { figure: { ms, tokens }, against }: { figure: StepFigure; against?: StepFigure | undefined },
): JSX.Element {
  const more = against ? tokens - against.tokens : 0;
  return (
    <span class='fork-figures'>
      {formatDuration(ms)} · {formatCount(tokens, 'token')}
      {more !== 0 && ` (${more > 0 ? '+' : '−'}${Math.abs(more).toLocaleString('en')})`}
    </span>
  );
}

interface SideProps {
  readonly name: string;
  readonly pair: StepPair;
  readonly side: 'left' | 'right';
  readonly figure: StepFigure | undefined;
  readonly against?: StepFigure | undefined;
}

function Side({ name, pair, side, figure, against }: SideProps): JSX.Element {
  const step = pair[side];
  return (
    <div class='fork-side' data-testid={`fork-${side}`}>
      <h3>{name}</h3>
      {step === undefined && <p class='inspector-faint'>This step does not exist.</p>}
      {step && step.text !== '' && <Text pieces={pair.text[side]} side={side} />}
      {pair.calls.map((call, i) => <SideCall key={i} pair={call} side={side} />)}
      {figure && (
        <p>
          <Figures figure={figure} against={against} />
        </p>
      )}
    </div>
  );
}

function Text({ pieces, side }: { pieces: readonly Piece[]; side: 'left' | 'right' }): JSX.Element {
  const Different = side === 'left' ? 'del' : 'ins';
  return (
    <p class='fork-text' data-testid='fork-text'>
      {pieces.map(({ text, isDifferent }, i) => isDifferent ? <Different key={i}>{text}</Different> : text)}
    </p>
  );
}

function SideCall({ pair, side }: { pair: CallPair; side: 'left' | 'right' }): JSX.Element | null {
  const call: StepCall | undefined = pair[side];
  if (!call) return null;
  return <CallView call={call} mark={markOf(pair)} />;
}

function markOf({ change, isSameOutcome }: CallPair): string | undefined {
  if (change === 'added') return 'Only in the fork';
  if (change === 'removed') return 'Only in the original';
  if (change === 'changed') return 'Different input';
  return isSameOutcome ? undefined : 'Different outcome';
}

function wordOf({ left, right, isSame }: StepPair, isRunning: boolean): string {
  if (!right) return isRunning ? 'not reached yet' : 'only in the original';
  if (!left) return 'only in the fork';
  return isSame ? 'the same' : 'different';
}
