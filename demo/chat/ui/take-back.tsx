import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { toData } from '../../../src/base/errors.ts';
import type { UndoCall, UndoPreview, UndoReport, UndoWhy } from '../../../src/runtime/undo-types.ts';
import type { Playground } from '../../app/state/playground.ts';
import { Dialog } from '../../kit/dialog.tsx';
import { formatCount } from '../../kit/format.ts';
import { Problem } from '../../kit/problem.tsx';
import type { AssistantMessage } from '../state/message.ts';
import '../styles/take-back.css';
import { Choice } from '../../kit/choice.tsx';
import { Button } from '../../kit/button.tsx';

interface TakeBackProps {
  readonly message: AssistantMessage;
  readonly runId: string;
  readonly playground: Playground;
  readonly onClose: () => void;
}

/** Shows what an answer did, lets a person choose how far it is taken back, and says what became of it. */
export function TakeBackDialog({ message: { via }, runId, playground, onClose }: TakeBackProps): JSX.Element {
  const { toStep, all, preview, report, problem, isBusy, look, confirm } = useUndo({ via, runId, playground });
  const count = preview.value?.calls.filter(({ can }) => can === 'yes').length ?? 0;
  const steps = [...new Set(all.value?.calls.filter(({ can }) => can !== 'nothing').map(({ step }) => step))];
  return (
    <Dialog class='dialog-plain' label='Take back' testId='take-back' onClose={onClose}>
      <h2>Take back</h2>
      {problem.value !== undefined && <Problem text={problem.value} testId='take-back-problem' />}
      {report.value ? <Report report={report.value} /> : (
        <>
          {steps.length > 1 && (
            <HowFar
              steps={steps}
              toStep={toStep.value}
              disabled={isBusy.value}
              onChoose={(step) => {
                toStep.value = step;
                void look();
              }}
            />
          )}
          {preview.value && <UndoCalls calls={preview.value.calls.filter(({ can }) => can !== 'nothing')} />}
        </>
      )}
      <div class='dialog-foot'>
        <Button testId='take-back-close' onClick={onClose}>
          {report.value ? 'Close' : 'Cancel'}
        </Button>
        {!report.value && (
          <Button
            kind='primary'
            testId='take-back-confirm'
            disabled={isBusy.value || count === 0}
            onClick={() => void confirm()}
          >
            {isBusy.value && preview.value ? 'Working…' : `Take back ${formatCount(count, 'call')}`}
          </Button>
        )}
      </div>
    </Dialog>
  );
}

/** What an answer did, for people to look at and take back. */
function useUndo(
  { via, runId, playground }: Pick<TakeBackProps, 'runId' | 'playground'> & { via: string | undefined },
) {
  const toStep = useSignal(0);
  const all = useSignal<UndoPreview | undefined>(undefined);
  const preview = useSignal<UndoPreview | undefined>(undefined);
  const report = useSignal<UndoReport | undefined>(undefined);
  const problem = useSignal<string | undefined>(undefined);
  const isBusy = useSignal(false);
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    isBusy.value = true;
    problem.value = undefined;
    await work().catch((error: unknown) => void (problem.value = toData(error).message));
    isBusy.value = false;
  };
  const look = (): Promise<void> =>
    attempt(async () => {
      preview.value = await (await playground.rooms(via)).undo.preview(runId, { toStep: toStep.value });
      all.value ??= preview.value;
    });
  useEffect(() => void look(), []);
  const confirm = (): Promise<void> =>
    attempt(async () => {
      const { digest = '' } = preview.value ?? {};
      const done = await (await playground.rooms(via)).undo.run(runId, { toStep: toStep.value, digest });
      report.value = done;
      const text = done.message?.parts.find((part) => part.type === 'text')?.text;
      if (done.message && text !== undefined) playground.chats.addNotice(done.message.id, text);
    });
  return { toStep, all, preview, report, problem, isBusy, look, confirm };
}

interface HowFarProps {
  readonly steps: readonly number[];
  readonly toStep: number;
  readonly disabled: boolean;
  readonly onChoose: (step: number) => void;
}

function HowFar({ steps, toStep, disabled, onChoose }: HowFarProps): JSX.Element {
  const earlier = steps.slice(0, -1).toReversed();
  return (
    <Choice
      label='How far'
      testId='take-back-steps'
      value={String(toStep)}
      disabled={disabled}
      options={[['0', 'Everything'], ...earlier.map((step) => [`${step - 1}`, `Back to before step ${step}`] as const)]}
      onChoose={(chosen) => onChoose(Number(chosen))}
    />
  );
}

/** The calls of an undo, newest first. */
export function UndoCalls({ calls }: { calls: readonly UndoCall[] }): JSX.Element {
  if (calls.length === 0) return <p>There is nothing to take back.</p>;
  return (
    <ol class='take-back-calls' data-testid='take-back-calls'>
      {calls.map(({ toolCallId, title, quote, can, why, step }) => (
        <li key={toolCallId} data-can={can}>
          <span>
            {title}
            {quote !== undefined && (
              <>
                : <q>{quote}</q>
              </>
            )}
          </span>
          <small>Step {step}{why && `. ${words[why] ?? why}`}</small>
        </li>
      ))}
    </ol>
  );
}

function Report({ report: { takenBack, remains, failed, approvalId } }: { report: UndoReport }): JSX.Element {
  return (
    <div data-testid='take-back-report' role='status'>
      <p>{formatCount(takenBack.length, 'call')} taken back.</p>
      {approvalId !== undefined && <p>The rest waits until a person approves it, in “Waiting”.</p>}
      {failed && approvalId === undefined && <Problem text={failed.error.message} testId='take-back-failed' />}
      {remains.length > 0 && (
        <>
          <p>Not taken back:</p>
          <UndoCalls calls={remains} />
        </>
      )}
    </div>
  );
}

const words: Partial<Record<UndoWhy, string>> = {
  no_undo: 'Cannot be taken back',
  no_tool: 'Cannot be taken back: the agent no longer has the tool',
  tool_changed: 'Cannot be taken back: the tool has changed',
  outcome_unknown: 'Whether it took effect is unknown',
  redacted: 'Cannot be taken back: it used a secret',
  undo_failed: 'Taking it back failed before',
  undo_unknown: 'Whether it was taken back is unknown',
};
