import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import type { PlanQuestion as Question, PlanReply, PlanTask } from '../state/plan-data.ts';
import type { Answer } from '../state/plan-reply.ts';
import { Problem } from '../../chat/ui/approval.tsx';
import { useFocusAfter } from '../../kit/hooks/use-focus-after.ts';
import { PlanAnswer } from './plan-answer.tsx';
import { TaskGoal } from './task-facts.tsx';

interface PlanQuestionProps {
  readonly question: Question;
  /** The task of the agent that asks the question. */
  readonly task: PlanTask | undefined;
  readonly reply: PlanReply | undefined;
  readonly onAnswer: (answer: Answer) => void;
}

const headings: Readonly<Record<Question['kind'], string>> = {
  question: 'An agent has a question',
  approval: 'Allow this call?',
  lost_call: 'Was it done?',
};

/** One question of a plan, and the ways to answer it; then what was answered. */
export function PlanQuestion({ question, task, reply, onAnswer }: PlanQuestionProps): JSX.Element {
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
        {task ? <TaskGoal task={task} /> : question.agent}
      </p>
      <p
        id={`${id}-question`}
        class={question.kind === 'approval' ? 'approval-facts' : 'plan-asked'}
        data-testid='plan-asked'
      >
        {question.question}
      </p>
      <Problem text={reply?.problem} testId='plan-problem' />
      <PlanAnswer
        question={question}
        disabled={reply?.isPending === true}
        describedBy={`${id}-question`}
        onAnswer={onAnswer}
      />
    </div>
  );
}
