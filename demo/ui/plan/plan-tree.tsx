import type { JSX } from 'preact';
import { isEnded, type TaskNode, treeOf } from '../../state/plan.ts';
import type { PlanTask, PlanView } from '../../state/plan-data.ts';
import { formatCount, formatDuration } from '../format.ts';
import { Icon, type IconName } from '../icon.tsx';

interface PlanTreeProps {
  readonly view: PlanView;
  /** Whether those that are ready are being worked on right now. */
  readonly isAtWork: boolean;
  /** The time at which it is looked at. */
  readonly at: number;
  readonly nameOf: (agentId: string) => string;
}

/** The tasks of a plan, each below the one that gave it out. */
export function PlanTree(props: PlanTreeProps): JSX.Element {
  const { view } = props;
  return (
    <>
      <Level {...props} nodes={treeOf(view.tasks)} label='Tasks' />
      {view.omitted > 0 && <p class='plan-more'>and {formatCount(view.omitted, 'more task')}</p>}
    </>
  );
}

function Level(
  { nodes, label, ...props }: PlanTreeProps & { nodes: readonly TaskNode[]; label?: string },
): JSX.Element {
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

function Task({ node, view, isAtWork, at, nameOf }: PlanTreeProps & { node: TaskNode }): JSX.Element {
  const { address, status, goal, agentId, role, key, after, attempt, startedAt, endedAt, error } = node.task;
  const { word, icon } = stateOf(node, { view, isAtWork });
  const who = agentId === undefined ? role : nameOf(agentId);
  const time = Math.max(0, (endedAt ?? at) - startedAt);
  return (
    <div class='plan-task' data-testid='plan-task' data-address={address} data-status={status}>
      <span class='plan-task-state'>{icon === undefined ? <span class='spinner' /> : <Icon name={icon} />}</span>
      <p class='plan-goal' title={goal}>
        {key === undefined ? goal : (
          <>
            <strong>{key}</strong> {goal}
          </>
        )}
      </p>
      <p class='plan-facts'>
        <span class='plan-word'>{word}</span>
        <span class='plan-address'>{address}</span>
        {who !== undefined && <span>{who}</span>}
        {after.length > 0 && <span>after {after.join(', ')}</span>}
        {attempt > 1 && <span>attempt {attempt}</span>}
        {(status !== 'waiting' || node.children.length > 0) && time > 0 && <time>{formatDuration(time)}</time>}
        {error && <code class='code-chip' data-testid='plan-error'>{error.code}</code>}
      </p>
    </div>
  );
}

const ended: Readonly<Record<'done' | 'failed' | 'cancelled', { readonly word: string; readonly icon: IconName }>> = {
  done: { word: 'Done', icon: 'check' },
  failed: { word: 'Failed', icon: 'cross' },
  cancelled: { word: 'Cancelled', icon: 'stop' },
};

/** How the task stands, in a word; without an icon it is at work. */
function stateOf(
  { task, children }: TaskNode,
  { view, isAtWork }: Pick<PlanTreeProps, 'view' | 'isAtWork'>,
): { readonly word: string; readonly icon?: IconName } {
  const { status, address, after } = task;
  if (status === 'done' || status === 'failed' || status === 'cancelled') return ended[status];
  if (view.questions.some(({ agent }) => agent === address)) return { word: 'Asks you', icon: 'wait' };
  if (status === 'ready') {
    if (isAtWork) return { word: 'At work' };
    return { word: view.state === 'running' && !view.paused ? 'At work' : 'Next', icon: 'wait' };
  }
  const isAfter = (other: PlanTask): boolean => after.includes(other.address) && !isEnded(other);
  if (view.tasks.some(isAfter)) return { word: 'Waits its turn', icon: 'wait' };
  if (children.some((child) => !isEnded(child.task))) return { word: 'Waits for its parts', icon: 'wait' };
  return { word: 'Waits', icon: 'wait' };
}
