import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { PlanQuestion } from '../state/plan-data.ts';
import type { Answer } from '../state/plan-reply.ts';
import { ApprovalAnswers } from '../../chat/ui/approval.tsx';
import { Button } from '../../kit/button.tsx';

interface PlanAnswerProps {
  readonly question: PlanQuestion;
  readonly disabled: boolean;
  readonly describedBy: string;
  readonly onAnswer: (answer: Answer) => void;
}

/** The ways to answer a question of a plan: an approval, one of the options, or a text. */
export function PlanAnswer(props: PlanAnswerProps): JSX.Element {
  const { question: { kind, options }, disabled, onAnswer } = props;
  if (kind === 'approval') return <ApprovalForm {...props} />;
  if (kind === 'lost_call') return <Choices choices={lostChoices} disabled={disabled} onAnswer={onAnswer} />;
  if (!options) return <TextForm {...props} />;
  const choices = options.map((option) => ({ label: option, value: option, said: `You answered: ${option}` }));
  return <Choices choices={choices} disabled={disabled} onAnswer={onAnswer} />;
}

interface Choice extends Answer {
  readonly label: string;
}

const lostChoices: readonly Choice[] = [
  { label: 'Do it again', value: { decision: 'repeat' }, said: 'You chose to do it again' },
  { label: 'It was done', value: { decision: 'done' }, said: 'You said that it was done' },
  { label: 'Skip the task', value: { decision: 'fail' }, said: 'You skipped it' },
];

function Choices(
  { choices, disabled, onAnswer }: Pick<PlanAnswerProps, 'disabled' | 'onAnswer'> & { choices: readonly Choice[] },
): JSX.Element {
  return (
    <div class='button-row'>
      {choices.map(({ label, value, said }) => (
        <Button
          testId='plan-option'
          key={label}
          disabled={disabled}
          onClick={() => onAnswer({ value, said })}
        >
          {label}
        </Button>
      ))}
    </div>
  );
}

/** To deny is to submit, as at the approvals of calls. */
function ApprovalForm({ disabled, onAnswer }: PlanAnswerProps): JSX.Element {
  const reason = useSignal('');
  const deny = (): void => {
    const why = reason.value.trim();
    onAnswer(
      why === ''
        ? { value: { approved: false }, said: 'You denied this call' }
        : { value: { approved: false, reason: why }, said: `You denied this call: ${why}` },
    );
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        deny();
      }}
    >
      <ApprovalAnswers
        disabled={disabled}
        onApprove={() => onAnswer({ value: { approved: true }, said: 'You approved this call' })}
        onReason={(text) => (reason.value = text)}
      />
    </form>
  );
}

function TextForm({ disabled, describedBy, onAnswer }: PlanAnswerProps): JSX.Element {
  const text = useSignal('');
  const isEmpty = text.value.trim() === '';
  return (
    <form
      class='plan-text'
      onSubmit={(event) => {
        event.preventDefault();
        const value = text.value.trim();
        if (!isEmpty) onAnswer({ value, said: `You answered: ${value}` });
      }}
    >
      <input
        type='text'
        class='approval-reason'
        data-testid='plan-text'
        aria-label='Your answer'
        aria-describedby={describedBy}
        placeholder='Your answer'
        autocomplete='off'
        disabled={disabled}
        onInput={({ currentTarget }) => (text.value = currentTarget.value)}
      />
      <Button type='submit' kind='primary' testId='plan-send' disabled={disabled || isEmpty}>
        Answer
      </Button>
    </form>
  );
}
