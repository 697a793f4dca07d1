import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { Playground } from '../../app/state/playground.ts';
import { adviceOn } from '../../forks/state/fork-words.ts';
import type { OpenedRun } from '../../runs/state/opened-run.ts';
import { showRuns } from '../../app/state/screens.ts';
import { Button } from '../../kit/button.tsx';

interface SaveCaseProps {
  readonly run: OpenedRun;
  readonly playground: Playground;
}

/** Saves a run of this page as a test case, and leads to the cases. */
export function SaveCase({ run, playground }: SaveCaseProps): JSX.Element | null {
  const state = useSignal<'idle' | 'saving' | 'saved'>('idle');
  const problem = useSignal<string | undefined>(undefined);
  if (run.source !== 'worker' || run.isLive.value) return null;
  const save = async (): Promise<void> => {
    state.value = 'saving';
    const saved = await playground.runs.evals().add(run.record.peek().head.runId).catch(() => undefined);
    state.value = saved?.ok ? 'saved' : 'idle';
    problem.value = saved?.ok ? undefined : saved ? adviceFor(adviceOn(saved.error)) : 'The worker did not respond.';
    if (saved?.ok) playground.announcement.value = 'Saved as a test case';
  };
  if (state.value === 'saved') {
    return (
      <button
        type='button'
        class='button'
        data-testid='open-evals'
        ref={(button) => button?.focus()}
        onClick={() => showRuns(playground, { where: 'page', section: 'tests' })}
      >
        Saved. Open test cases
      </button>
    );
  }
  return (
    <>
      <Button testId='save-case' disabled={state.value === 'saving'} onClick={() => void save()}>
        Save as test case
      </Button>
      {problem.value !== undefined && <p class='field-error' role='alert'>{problem.value}</p>}
    </>
  );
}

function adviceFor({ what, remedy }: ReturnType<typeof adviceOn>): string {
  return `${what.replace('cannot be forked', 'cannot be a test case')} ${remedy}`;
}
