import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import type { PlanQuestion as Question, PlanReply } from '../../state/plan-data.ts';
import type { Answer } from '../../state/plan-reply.ts';
import { ApprovalAnswers, Problem } from '../approval.tsx';
import { useFocusAfter } from '../use-focus-after.ts';

interface PlanQuestionProps {
  readonly question: Question;
  /** What the agent that asks is doing. */
  readonly goal: string | undefined;
  readonly reply: PlanReply | undefined;
  readonly onAnswer: (answer: Answer) => void;
}

const headings: Readonly<Record<Question['kind'], string>> = {
  question: 'An agent asks you',
  approval: 'Allow this call?',
  lost_call: 'Was it done?',
};

/** One question of a plan, and the ways to answer it; then what was answered. */
export function PlanQuestion({ question, goal, reply, onAnswer }: PlanQuestionProps): JSX.Element {
  const id = useId();
  const isAsking = reply?.isOver !== true;
  const said = useFocusAfter<HTMLParagraphElement>(isAsking);
  if (!isAsking) {
    return (
      <p ref={said} class='plan-said' tabIndex={-1} data-testid='plan-said'>
        {question.kind === 'question' && <span>{question.question}</span>}
        {reply.problem ?? reply.said}
      </p>
    );
  }
  return (
    <div
      class='plan-question'
      role='group'
      aria-labelledby={`${id}-heading`}
      aria-describedby={`${id}-question`}
      aria-busy={reply?.isPending === true}
      data-testid='plan-question'
      data-kind={question.kind}
    >
      <h4 id={`${id}-heading`}>{headings[question.kind]}</h4>
      <p class='plan-asker'>
        <span class='plan-address'>{question.agent}</span> {goal}
      </p>
      <p
        id={`${id}-question`}
        class={question.kind === 'approval' ? 'approval-facts' : 'plan-asked'}
        data-testid='plan-asked'
      >
        {question.question}
      </p>
      <Problem text={reply?.problem} testId='plan-problem' />
      <Form
        question={question}
        disabled={reply?.isPending === true}
        describedBy={`${id}-question`}
        onAnswer={onAnswer}
      />
    </div>
  );
}

interface FormProps {
  readonly question: Question;
  readonly disabled: boolean;
  readonly describedBy: string;
  readonly onAnswer: (answer: Answer) => void;
}

function Form(props: FormProps): JSX.Element {
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
  { label: 'Do it again', value: { decision: 'repeat' }, said: 'You had it done again' },
  { label: 'It was done', value: { decision: 'done' }, said: 'You said that it was done' },
  { label: 'Give it up', value: { decision: 'fail' }, said: 'You gave it up' },
];

function Choices(
  { choices, disabled, onAnswer }: Pick<FormProps, 'disabled' | 'onAnswer'> & { choices: readonly Choice[] },
): JSX.Element {
  return (
    <div class='button-row'>
      {choices.map(({ label, value, said }) => (
        <button
          key={label}
          type='button'
          class='button'
          data-testid='plan-option'
          disabled={disabled}
          onClick={() => onAnswer({ value, said })}
        >
          {label}
        </button>
      ))}
    </div>
  );
}

/** To deny is to submit, as at the approvals of calls. */
function ApprovalForm({ disabled, onAnswer }: FormProps): JSX.Element {
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

function TextForm({ disabled, describedBy, onAnswer }: FormProps): JSX.Element {
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
      <button type='submit' class='button is-primary' data-testid='plan-send' disabled={disabled || isEmpty}>
        Answer
      </button>
    </form>
  );
}
