import type { JSX } from 'preact';
import { type TaskNode, treeOf } from '../state/plan-data.ts';
import { lookOf } from '../state/task-look.ts';
import { TaskFacts, TaskGoal, type TasksProps } from './task-facts.tsx';
import { TaskMark } from './task-mark.tsx';

/** The tasks of a plan as a list, each below its parent task. */
export function PlanTree(props: TasksProps): JSX.Element {
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
        <TaskGoal node={props.node} />
      </p>
      <TaskFacts {...props} />
    </div>
  );
}
