import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { formatCount } from '../../kit/format.ts';
import { type TaskNode, treeOf } from '../state/plan-data.ts';
import { lookOf } from '../state/task-look.ts';
import { PlanGraph } from './plan-graph.tsx';
import { TaskFacts, TaskGoal, type TasksProps } from './task-facts.tsx';
import { TaskMark } from './task-mark.tsx';

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
