import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useId } from 'preact/hooks';
import { agentOf, type Playground } from '../../app/state/playground.ts';
import type { AssistantMessage } from '../../chat/state/message.ts';
import { Problem } from '../../chat/ui/approval.tsx';
import type { PlanSteering } from '../../control/page-control.ts';
import { formatCost, formatCount } from '../../kit/format.ts';
import { useFocusAfter } from '../../kit/hooks/use-focus-after.ts';
import { Icon, type IconName } from '../../kit/icon.tsx';
import { RunStatus } from '../../kit/run-status.tsx';
import {
  isOver,
  openQuestions,
  type PlanPart,
  type PlanQuestion as Question,
  type PlanReply,
  type PlanTask,
  type PlanView,
  type TaskNode,
  treeOf,
} from '../state/plan-data.ts';
import type { Answer } from '../state/plan-reply.ts';
import { lookOf } from '../state/task-look.ts';
import { PlanAnswer } from './plan-answer.tsx';
import { PlanGraph } from './plan-graph.tsx';
import { TaskFacts, TaskGoal, TaskMark, type TasksProps } from './task-facts.tsx';
import { Button } from '../../kit/button.tsx';

interface PlanCardProps {
  readonly part: PlanPart;
  readonly message: AssistantMessage;
  readonly playground: Playground;
  readonly isLast: boolean;
}

/** A plan: agents, progress and questions. */
export function PlanCard({ part, message, playground, isLast }: PlanCardProps): JSX.Element {
  const isRunning = message.outcome.value.type === 'running';
  const view = part.view.value;
  const now = useNow(isRunning && !isOver(view), part.at.value);
  return (
    <section class='plan' data-testid='plan' data-state={view.state} aria-label='Plan'>
      <PlanHead view={view} isAsking={openQuestions(part).length > 0}>
        {isLast && message.via === undefined && !isOver(view) && (
          <PlanControls
            isRunning={isRunning}
            isPaused={view.paused}
            onSteer={(how) => playground.steerPlan(how)}
          />
        )}
      </PlanHead>
      <Progress view={view} />
      <PlanTasks
        view={view}
        isAtWork={isRunning && !view.paused}
        at={now}
        nameOf={(agentId) => agentOf(playground.agents, agentId).name}
      />
      <Questions part={part} playground={playground} isLast={isLast} />
    </section>
  );
}

/** How far the plan is, as a bar and in words, which are read out when they change. */
function Progress({ view: { counts, used } }: { view: PlanView }): JSX.Element {
  const { done = 0, failed = 0, cancelled = 0, waiting = 0, ready = 0 } = counts;
  const total = done + failed + cancelled + waiting + ready;
  const words = [
    `${done} of ${formatCount(total, 'task')} done`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(cancelled > 0 ? [`${cancelled} canceled`] : []),
  ];
  return (
    <div class='plan-progress'>
      <div class='plan-bar' aria-hidden='true'>
        <Share class='is-done' count={done} />
        <Share class='is-failed' count={failed + cancelled} />
        <Share class='is-open' count={waiting + ready} />
      </div>
      <p>
        <span role='status' aria-live='polite'>{words.join(', ')}</span>
        {(used.tokens ?? 0) > 0 && <span>{formatCount(used.tokens ?? 0, 'token')}</span>}
        {(used.cost ?? 0) > 0 && <span>{formatCost(used.cost ?? 0)}</span>}
        {(used.steps ?? 0) > 0 && <span>{formatCount(used.steps ?? 0, 'step')}</span>}
      </p>
    </div>
  );
}

function Share({ class: name, count }: { class: string; count: number }): JSX.Element | null {
  return count === 0 ? null : <span class={name} style={{ flexGrow: count }} />;
}

/** The plan's questions: a form while they are open, then the answers. */
function Questions(
  { part, playground, isLast }: Pick<PlanCardProps, 'part' | 'playground' | 'isLast'>,
): JSX.Element | null {
  const replies = part.replies.value;
  const answered = Object.values(replies).flatMap((reply) => reply.isOver ? [reply.question] : []);
  const all: readonly Question[] = [...answered, ...openQuestions(part)];
  const shown = isLast ? all : answered;
  if (shown.length === 0) return null;
  return (
    <ul class='plan-questions' aria-label='Questions'>
      {shown.map((question) => (
        <li key={question.ask}>
          <PlanQuestion
            question={question}
            task={part.view.value.tasks.find(({ address }) => address === question.agent)}
            reply={replies[question.ask]}
            onAnswer={(answer) => playground.reply(question, answer)}
          />
        </li>
      ))}
    </ul>
  );
}

/** The time, ticking while something is under way; else `still`. */
function useNow(isTicking: boolean, still: number): number {
  const now = useSignal(Date.now());
  useEffect(() => {
    if (!isTicking) return undefined;
    now.value = Date.now();
    const timer = setInterval(() => (now.value = Date.now()), 500);
    return () => clearInterval(timer);
  }, [isTicking]);
  return isTicking ? now.value : still;
}

/** The state of a plan and its controls. */
export function PlanHead(
  { view, isAsking, children }: { view: PlanView; isAsking: boolean; children: JSX.Element | false },
): JSX.Element {
  const state = view.state === 'suspended' && !isAsking ? 'running' : view.state; // it has its answers, and goes on
  return (
    <header class='plan-head'>
      <Icon name='plan' />
      <h3>Plan</h3>
      <span class='plan-state' data-testid='plan-state'>
        <RunStatus state={view.paused && !isOver(view) ? 'paused' : state} />
      </span>
      {children}
    </header>
  );
}

interface PlanControlsProps {
  readonly isRunning: boolean;
  readonly isPaused: boolean;
  readonly onSteer: (how: PlanSteering) => void;
}

/**
 * Pauses and resumes a plan. While the page follows the plan, the composer's button cancels it. The page stops following a paused
 * plan, so these controls then resume or cancel it.
 */
export function PlanControls({ isRunning, isPaused, onSteer }: PlanControlsProps): JSX.Element {
  return (
    <>
      {isPaused && <Control testId='plan-pause' icon='play' label='Resume' onClick={() => onSteer('resume')} />}
      {isRunning && !isPaused && (
        <Control
          testId='plan-pause'
          icon='pause'
          label='Pause'
          onClick={() => onSteer('pause')}
        />
      )}
      {!isRunning && <Control testId='plan-cancel' icon='stop' label='Cancel' onClick={() => onSteer('cancel')} />}
    </>
  );
}

function Control(
  { testId, icon, label, onClick }: { testId: string; icon: IconName; label: string; onClick: () => void },
): JSX.Element {
  return (
    <Button kind='quiet' icon={icon} testId={testId} aria-label={`${label} the plan`} onClick={onClick}>
      <span>{label}</span>
    </Button>
  );
}

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

/** As `plan.css` has it. */
const narrow = '(max-width: 40rem)';

/** The tasks of a plan, as a graph or as a list. */
export function PlanTasks(props: TasksProps): JSX.Element {
  /** What the person has chosen; before that, the room decides. */
  const chosen = useSignal<'graph' | 'list' | undefined>(undefined);
  const isNarrow = useSignal(matchMedia(narrow).matches);
  useEffect(() => {
    const query = matchMedia(narrow);
    const look = (): void => void (isNarrow.value = query.matches);
    query.addEventListener('change', look);
    return () => query.removeEventListener('change', look);
  }, []);
  const shown = chosen.value ?? (isNarrow.value ? 'list' : 'graph');
  const { omitted } = props.view;
  return (
    <>
      <div class='plan-views' role='group' aria-label='Show the tasks as'>
        {(['graph', 'list'] as const).map((kind) => (
          <button
            key={kind}
            type='button'
            class='plan-view'
            data-testid={`plan-view-${kind}`}
            aria-pressed={shown === kind}
            onClick={() => (chosen.value = kind)}
          >
            {kind === 'graph' ? 'Graph' : 'List'}
          </button>
        ))}
      </div>
      {shown === 'graph' ? <PlanGraph {...props} /> : <PlanTree {...props} />}
      {omitted > 0 && <p class='plan-more'>and {formatCount(omitted, 'more task')}</p>}
    </>
  );
}

/** The tasks of a plan as a list, each below its parent task. */
function PlanTree(props: TasksProps): JSX.Element {
  return <Level {...props} nodes={treeOf(props.view.tasks)} label='Tasks' />;
}

function Level({ nodes, label, ...props }: TasksProps & { nodes: readonly TaskNode[]; label?: string }): JSX.Element {
  return (
    <ul class='plan-tasks' {...(label !== undefined && { 'aria-label': label })}>
      {nodes.map((node) => (
        <li key={node.task.address}>
          <Task {...props} node={node} />
          {node.children.length > 0 && <Level {...props} nodes={node.children} />}
        </li>
      ))}
    </ul>
  );
}

function Task(props: TasksProps & { node: TaskNode }): JSX.Element {
  const { address, status, goal } = props.node.task;
  return (
    <div class='plan-task' data-testid='plan-task' data-address={address} data-status={status}>
      <TaskMark look={lookOf(props.node, props).look} />
      <p class='plan-goal' title={goal}>
        <TaskGoal task={props.node.task} />
      </p>
      <TaskFacts {...props} />
    </div>
  );
}
