import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import type { Decision } from '../../../src/permission/interruption.ts';
import type { ToolCall } from '../state/message.ts';
import { ApprovalFacts, ApprovalTitle } from './approval-facts.tsx';
import { useFocusAfter } from '../../kit/hooks/use-focus-after.ts';
import { Button } from '../../kit/button.tsx';

interface ApprovalProps {
  readonly call: ToolCall;
  readonly onDecide: (decision: Decision) => void;
}

/** The approval of a call: the question with two answers, or the answer. */
export function Approval({ call, onDecide }: ApprovalProps): JSX.Element | null {
  const { state, approval } = call;
  const isAsking = state === 'waiting' && approval !== undefined && approval.decision === undefined;
  const said = useFocusAfter<HTMLParagraphElement>(isAsking);
  if (!approval) return null;
  if (isAsking) return <Question call={call} onDecide={onDecide} />;
  const text = answerOf(call);
  return text === '' ? null : <p ref={said} class='tool-answer' tabIndex={-1} data-testid='approval-answer'>{text}</p>;
}

function Question({ call: { approval, input }, onDecide }: ApprovalProps): JSX.Element {
  const reason = useSignal('');
  const id = useId();
  const isPending = approval?.isPending === true;
  const deny = (): void => onDecide({ approved: false, ...(reason.value.trim() && { reason: reason.value.trim() }) });
  return (
    <form
      class='approval'
      aria-labelledby={`${id}-question ${id}-facts`} // several calls may wait at once
      aria-busy={isPending}
      data-testid='approval'
      onSubmit={(event) => {
        event.preventDefault();
        deny();
      }}
    >
      <ApprovalTitle id={`${id}-question`} asked={approval?.asked} />
      <ApprovalFacts id={`${id}-facts`} approval={approval} input={input} />
      <Problem text={approval?.problem} testId='approval-problem' />
      <OthersDecide approval={approval} />
      {approval?.asked?.fourEyes !== true && (
        <ApprovalAnswers
          disabled={isPending}
          onApprove={() => onDecide({ approved: true })}
          onReason={(text) => (reason.value = text)}
        />
      )}
    </form>
  );
}

/** Says who decides, where that is not the person who has asked. */
function OthersDecide({ approval }: Pick<ToolCall, 'approval'>): JSX.Element | null {
  const { approvers = [], fourEyes } = approval?.asked ?? {};
  if (!fourEyes && approvers.length === 0) return null;
  const who = fourEyes ? 'Another person must decide' : 'Only these may decide';
  const names = approvers.length > 0 ? `: ${approvers.join(', ')}` : '';
  return <p class='approval-note' data-testid='approval-others'>{`${who}${names}.`}</p>;
}

interface AnswersProps {
  readonly disabled: boolean;
  readonly onApprove: () => void;
  readonly onReason: (text: string) => void;
}

/** The two answers; to deny is to submit, so that Enter in the reason does what is safe. */
export function ApprovalAnswers({ disabled, onApprove, onReason }: AnswersProps): JSX.Element {
  return (
    <div class='approval-answers'>
      <Button kind='primary' testId='approve' disabled={disabled} onClick={onApprove}>
        Approve
      </Button>
      <Button type='submit' testId='deny' disabled={disabled}>Deny</Button>
      <ReasonField onInput={onReason} disabled={disabled} />
    </div>
  );
}

/** The longest reason that the runtime stores. */
const maxReason = 500;

function ReasonField({ onInput, disabled }: { onInput: (text: string) => void; disabled: boolean }): JSX.Element {
  return (
    <input
      type='text'
      class='approval-reason'
      data-testid='deny-reason'
      aria-label='Reason for denying (optional)'
      placeholder='Reason (optional)'
      autocomplete='off'
      maxLength={maxReason}
      disabled={disabled}
      onInput={({ currentTarget }) => onInput(currentTarget.value)}
    />
  );
}

/** Why an answer did not arrive. */
export function Problem({ text, testId }: { text: string | undefined; testId: string }): JSX.Element | null {
  return text === undefined ? null : <p class='field-error' role='alert' data-testid={testId}>{text}</p>;
}

function answerOf({ state, approval, need }: ToolCall): string {
  const { decision, problem } = approval ?? {};
  if (decision === 'elsewhere') return state === 'waiting' ? problem ?? '' : 'Decided in another tab';
  const ofNeed = need?.id === approval?.id ? need : undefined;
  if (decision?.approved) {
    return ofNeed ? answeredWords[`${ofNeed.kind} ${ofNeed.answer}`] ?? 'You answered' : 'You approved this call';
  }
  if (decision && ofNeed?.kind === 'sign_in') return 'You did not sign in, so the call was not made';
  if (decision) {
    return decision.reason === undefined ? 'You denied this call' : `You denied this call: ${decision.reason}`;
  }
  return problem ?? 'You continued without deciding, so the call was not made';
}

const answeredWords: Readonly<Record<string, string>> = {
  'sign_in accept': 'You signed in',
  'elicitation decline': 'You declined to answer',
  'elicitation cancel': 'You canceled the question',
};
