import type { JSX } from 'preact';
import { formatCost, formatCount, formatDuration } from '../../kit/format.ts';
import { Icon, type IconName } from '../../kit/icon.tsx';
import { nameOfTask, type PlanTask, type TaskNode } from '../state/plan-data.ts';
import { type LookedAt, lookOf, type TaskLook, timeOf } from '../state/task-look.ts';

/** What the views of a plan's tasks show. */
export interface TasksProps extends LookedAt {
  readonly nameOf: (agentId: string) => string;
}

/** A task in one line: state, agent, dependencies, duration. */
export function TaskFacts({ node, nameOf, ...looked }: TasksProps & { node: TaskNode }): JSX.Element {
  const { after, attempt, used, error } = node.task;
  const { tasks } = looked.view;
  const who = whoIs(node, nameOf);
  const time = timeOf(node, looked.at);
  return (
    <p class='plan-facts'>
      <span class='plan-word'>{lookOf(node, looked).word}</span>
      {who !== undefined && <span>{who}</span>}
      {after.length > 0 && <span>after {after.map((one) => nameAt(one, tasks)).join(', ')}</span>}
      {attempt > 1 && <span>attempt {attempt}</span>}
      {time > 0 && <time>{formatDuration(time)}</time>}
      {used && used.tokens > 0 && <span>{formatCount(used.tokens, 'token')}</span>}
      {used && used.cost > 0 && <span>{formatCost(used.cost)}</span>}
      {error && <code class='code-chip'>{error.code}</code>}
    </p>
  );
}

/** Who does it: an agent by its name, or a role. */
export function whoIs({ task: { agentId, role } }: TaskNode, nameOf: TasksProps['nameOf']): string | undefined {
  return agentId === undefined ? role : nameOf(agentId);
}

/** What is to be done, after the name that the plan has for it. */
export function TaskGoal({ task }: { task: PlanTask }): JSX.Element {
  const isRoot = !task.address.includes('-');
  return (
    <>
      {!isRoot && <strong>{nameOfTask(task)}</strong>} {task.goal}
    </>
  );
}

function nameAt(address: string, tasks: readonly PlanTask[]): string {
  const task = tasks.find((one) => one.address === address);
  return task ? nameOfTask(task) : address;
}

const icons: Readonly<Record<Exclude<TaskLook, 'work'>, IconName>> = {
  done: 'check',
  failed: 'cross',
  cancelled: 'stop',
  next: 'play',
  asks: 'question',
  waits: 'wait',
};

export function TaskMark({ look }: { look: TaskLook }): JSX.Element {
  return (
    <span class='plan-task-state' data-look={look}>
      {look === 'work' ? <span class='spinner' /> : <Icon name={icons[look]} />}
    </span>
  );
}
