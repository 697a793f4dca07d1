import type { JSX } from 'preact';
import { useLayoutEffect } from 'preact/hooks';
import type { Provider } from '../../../src/registry/index.ts';
import { agentOf, type Playground } from '../../app/state/playground.ts';
import '../../forks/style.css';
import { formatCount } from '../../kit/format.ts';
import { GuideLink } from '../../kit/guide-link.tsx';
import { oncePer } from '../../kit/hooks/once-per.ts';
import { Problem } from '../../kit/problem.tsx';
import { saveFile } from '../../kit/save-file.ts';
import { createEvalsPage, type EvalsPage } from '../state/evals.ts';
import { nameOfReport, totalsOf } from '../state/eval-words.ts';
import '../style.css';
import { CaseRow } from './case-row.tsx';
import { RunForm } from './run-form.tsx';

/** The test cases: what runs them, what became of each, and the files for the command line. */
export function EvalsPanel({ playground }: { playground: Playground }): JSX.Element {
  const page = pageOf(playground);
  useLayoutEffect(() => void page.refresh(), [page]);
  const evals = page.evals.value;
  return (
    <div class='run-scroll evals' data-testid='evals' aria-busy={page.isRunning.value || !evals}>
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
        <label class='eval-baseline'>
          <span>Compare with</span>
          <select
            data-testid='eval-baseline'
            value={String(page.baseline.value?.at)}
            onChange={({ currentTarget }) => page.compareWith(Number(currentTarget.value))}
          >
            {earlier.map((one) => <option key={one.at} value={String(one.at)}>{nameOfReport(one)}</option>)}
          </select>
        </label>
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
        <button type='button' class='button' data-testid='eval-save-cases' onClick={() => void save('cases')}>
          Download cases
        </button>
        <button type='button' class='button' data-testid='eval-save-tape' onClick={() => void save('tape')}>
          Download recorded answers
        </button>
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
