import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { AssistantMessage } from '../../chat/state/message.ts';
import { isOver, openQuestions } from '../state/plan-data.ts';
import { type PlanPart } from '../state/plan-data.ts';
import type { PlanQuestion as Question, PlanView } from '../state/plan-data.ts';
import { agentOf, type Playground } from '../../app/state/playground.ts';
import { formatCost, formatCount } from '../../kit/format.ts';
import { PlanControls, PlanHead } from './plan-head.tsx';
import { PlanQuestion } from './plan-question.tsx';
import { PlanTasks } from './plan-tasks.tsx';

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
