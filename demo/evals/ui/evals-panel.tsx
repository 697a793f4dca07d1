import '../../forks/style.css';
import '../style.css';
import type { JSX } from 'preact';
import { useLayoutEffect } from 'preact/hooks';
import type { CallFacts, RunFacts } from '../../../src/evals/eval-case.ts';
import type { Provider } from '../../../src/registry/index.ts';
import { agentOf, type Playground } from '../../app/state/playground.ts';
import type { CaseHead, EvalSetting } from '../../control/evals-control.ts';
import { pairCalls } from '../../forks/state/compare-runs.ts';
import type { StepCall } from '../../forks/state/run-steps.ts';
import { diffWords } from '../../forks/state/word-diff.ts';
import { CallView, Mark } from '../../forks/ui/step-view.tsx';
import { formatCount } from '../../kit/format.ts';
import { GuideLink } from '../../kit/guide-link.tsx';
import { oncePer } from '../../kit/hooks/once-per.ts';
import { Icon } from '../../kit/icon.tsx';
import { Problem } from '../../kit/problem.tsx';
import { saveFile } from '../../kit/save-file.ts';
import { changeWord, nameOfReport, tokensOf, totalsOf, whyNot } from '../state/eval-words.ts';
import { createEvalsPage, type EvalsPage } from '../state/evals.ts';
import { Choice } from '../../kit/choice.tsx';
import { Button } from '../../kit/button.tsx';

/** The test cases: what runs them, what became of each, and the files for the command line. */
export function EvalsPanel({ playground }: { playground: Playground }): JSX.Element {
  const page = pageOf(playground);
  useLayoutEffect(() => void page.refresh(), [page]);
  const evals = page.evals.value;
  return (
    <div class='evals' data-testid='evals' aria-busy={page.isRunning.value || !evals}>
      <p class='inspector-faint'>
        A test case is a recorded run. It passes when the agent ends the same way and makes the same calls. Tools return
        recorded results, so nothing is changed. <GuideLink page='evals'>About evals</GuideLink>
      </p>
      <Problem text={page.problem.value} testId='evals-problem' />
      {evals?.cases.length === 0 && (
        <p class='inspector-empty' data-testid='evals-empty'>
          No test cases yet. Open a run and choose “Save as test case”.
        </p>
      )}
      {evals && evals.cases.length > 0 && (
        <>
          <RunForm page={page} />
          <Report page={page} />
          <ul class='boxed eval-cases'>
            {evals.cases.map((one) => (
              <li key={one.id}>
                <CaseRow one={one} name={agentOf(playground.agents, one.agentId).name} page={page} />
              </li>
            ))}
          </ul>
          <Files page={page} />
        </>
      )}
    </div>
  );
}

/** The latest report, and what it is compared with. */
function Report({ page }: { page: EvalsPage }): JSX.Element | null {
  const report = page.report.value;
  if (!report) return null;
  const [, ...earlier] = page.evals.value?.reports ?? [];
  const comparison = page.comparison.value;
  return (
    <div role='group' class='eval-report' aria-label='Report'>
      <p data-testid='eval-totals' role='status'>
        <strong>{totalsOf(report)}</strong> <span class='inspector-faint'>{nameOfReport(report)}</span>
      </p>
      {earlier.length > 0 && (
        <Choice
          label='Compare with'
          testId='eval-baseline'
          class='field eval-baseline'
          value={String(page.baseline.value?.at)}
          options={earlier.map((one) => [String(one.at), nameOfReport(one)])}
          onChoose={(at) => page.compareWith(Number(at))}
        />
      )}
      {comparison && (
        <p data-testid='eval-comparison'>
          {formatCount(comparison.better, 'case')} better, {comparison.worse.toLocaleString('en')} worse
        </p>
      )}
    </div>
  );
}

/** The files that the command line reads. */
function Files({ page }: { page: EvalsPage }): JSX.Element {
  const save = async (which: 'cases' | 'tape'): Promise<void> => {
    const files = await page.files();
    if (files) saveFile(new Blob([files[which]], { type: 'application/jsonl' }), `${which}.jsonl`);
  };
  return (
    <section class='eval-files' aria-label='Files for the command line'>
      <div class='button-row'>
        <Button testId='eval-save-cases' onClick={() => void save('cases')}>
          Download cases
        </Button>
        <Button testId='eval-save-tape' onClick={() => void save('tape')}>
          Download recorded answers
        </Button>
      </div>
      <p class='inspector-faint'>
        Run them without a key: <code>npx pinnace evals cases.jsonl --subject ./agent.ts --tape tape.jsonl</code>
      </p>
      <p class='inspector-faint'>The files contain the messages, calls and answers of the runs.</p>
    </section>
  );
}

const pageOf = oncePer((playground: Playground): EvalsPage =>
  createEvalsPage({
    control: playground.runs.evals(),
    announce: (text) => void (playground.announcement.value = text),
    async providersOf() {
      const found = await playground.registry.connect().list('provider', { limit: 200 });
      return found.ok ? found.value.items as readonly Provider[] : []; // as asked for
    },
  })
);

export function RunForm({ page }: { page: EvalsPage }): JSX.Element {
  const { agent, answers, model } = page.setting.value;
  const isRunning = page.isRunning.value;
  const count = page.evals.value?.cases.length ?? 0;
  return (
    <form
      class='eval-form'
      onSubmit={(event) => {
        event.preventDefault();
        void page.run();
      }}
    >
      <Choice
        label='Agent'
        testId='eval-agent'
        value={agent}
        options={[['current', 'As it is now'], ['recorded', 'As recorded in the case']]}
        onChoose={(value) => page.change({ agent: value as EvalSetting['agent'] })} // one of the options
      />
      <Choice
        label='Model'
        testId='eval-provider'
        value={model?.providerId ?? ''}
        options={[['', 'The agent’s'], ...page.providers.value.map(({ id }) => [id, `Provider ${id}`] as const)]}
        onChoose={(providerId) => page.change({ model: providerId === '' ? undefined : { providerId } })}
      />
      {model && (
        <label class='field'>
          <span>Model</span>
          <input
            type='text'
            placeholder='The provider’s default'
            value={model.modelId ?? ''}
            onInput={({ currentTarget: { value } }) =>
              page.change({
                model: { providerId: model.providerId, ...(value.trim() !== '' && { modelId: value.trim() }) },
              })}
          />
        </label>
      )}
      <Choice
        label='Model answers'
        testId='eval-answers'
        value={answers}
        options={[
          ['auto', 'Call the model for missing answers'],
          ['replay', 'Use recorded answers only (no key needed)'],
          ['record', 'Record all answers again'],
        ]}
        onChoose={(value) => page.change({ answers: value as EvalSetting['answers'] })} // one of the options
      />
      <Button type='submit' kind='primary' testId='eval-run' disabled={isRunning}>
        {isRunning ? 'Running' : `Run ${formatCount(count, 'case')}`}
      </Button>
    </form>
  );
}

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
      <Button icon='trash' testId='eval-remove' onClick={() => void page.remove(one.id)}>
        Remove test case
      </Button>
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
