import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { nameOfTask, type TaskNode } from '../state/plan-data.ts';
import { type GraphEdge, layoutPlan, type Pack, parentOf, type PlacedTask } from '../state/plan-graph.ts';
import { lookOf, timeOf } from '../state/task-look.ts';
import { formatCost, formatDuration, formatTokens } from '../../kit/format.ts';
import { TaskFacts, TaskGoal, TaskMark, type TasksProps, whoIs } from './task-facts.tsx';

/** The tasks of a plan and their dependencies. The selected task is shown in full. */
export function PlanGraph(props: TasksProps): JSX.Element {
  const { view: { tasks } } = props;
  const graph = useMemo(() => layoutPlan(tasks), [tasks]);
  const chosen = useSignal<string | undefined>(undefined);
  const placed = graph.tasks;
  const current = placed.find(({ node }) => node.task.address === chosen.value) ?? placed[0];
  const choose = (address: string): void => void (chosen.value = address);
  const size = { width: `${graph.width}rem`, height: `${graph.height}rem` };
  return (
    <>
      <div class='plan-graph' data-testid='plan-graph'>
        <div class='plan-canvas' style={size}>
          <svg class='plan-ways' viewBox={`0 0 ${graph.width} ${graph.height}`} style={size} aria-hidden='true'>
            {graph.edges.map((way) => (
              <Way key={`${way.kind} ${way.from} ${way.to}`} way={way} isChosen={isOf(way, current)} />
            ))}
          </svg>
          {graph.packs.map((pack) => <PackBox key={pack.parent} pack={pack} />)}
          <ul aria-label='Tasks' onKeyDown={(event) => moveBy(event, placed, choose)}>
            {placed.map((place) => (
              <li key={place.node.task.address}>
                <Node
                  {...props}
                  place={place}
                  isChosen={place === current}
                  onChoose={choose}
                />
              </li>
            ))}
          </ul>
        </div>
      </div>
      {current && (
        <div class='plan-chosen' data-testid='plan-chosen'>
          <p class='plan-goal'>
            <TaskGoal task={current.node.task} />
          </p>
          <TaskFacts {...props} node={current.node} />
        </div>
      )}
    </>
  );
}

function isOf({ from, to }: GraphEdge, current: PlacedTask | undefined): boolean {
  return current?.node.task.address === from || current?.node.task.address === to;
}

function Way({ way: { kind, from, to, path }, isChosen }: { way: GraphEdge; isChosen: boolean }): JSX.Element {
  return (
    <path
      class={`plan-way is-${kind}`}
      d={path}
      data-testid='plan-way'
      data-kind={kind}
      data-from={from}
      data-to={to}
      data-chosen={isChosen}
    />
  );
}

function PackBox({ pack: { x, y, width, height } }: { pack: Pack }): JSX.Element {
  return (
    <div
      class='plan-pack'
      style={{ transform: `translate(${x}rem, ${y}rem)`, width: `${width}rem`, height: `${height}rem` }}
    />
  );
}

interface NodeProps extends TasksProps {
  readonly place: PlacedTask;
  readonly isChosen: boolean;
  readonly onChoose: (address: string) => void;
}

function Node({ place: { x, y, isTile, node }, isChosen, onChoose, ...props }: NodeProps): JSX.Element {
  const { address, goal, status } = node.task;
  const { look, word } = lookOf(node, props);
  const who = whoIs(node, props.nameOf);
  return (
    <button
      type='button'
      class={isTile ? 'plan-node is-tile' : 'plan-node'}
      style={{ transform: `translate(${x}rem, ${y}rem)` }}
      title={goal}
      tabIndex={isChosen ? 0 : -1}
      aria-current={isChosen}
      data-testid='plan-node'
      data-address={address}
      data-status={status}
      data-look={look}
      onClick={() => onChoose(address)}
      onFocus={() => onChoose(address)}
    >
      <TaskMark look={look} />
      <span class='plan-node-goal'>{isTile ? nameOfTask(node.task) : <TaskGoal task={node.task} />}</span>
      <span class='visually-hidden'>, {word}</span>
      {!isTile && (
        <>
          <span class='plan-node-who'>{who}</span>
          <span class='plan-node-facts'>
            <Spent node={node} at={props.at} word={word} />
          </span>
        </>
      )}
    </button>
  );
}

/** The duration; before that, the state. */
function Spent({ node, at, word }: { node: TaskNode; at: number; word: string }): JSX.Element {
  const { used, error } = node.task;
  const time = timeOf(node, at);
  if (error) return <span>{error.code}</span>;
  if (time === 0) return <span>{word}</span>;
  return (
    <>
      <time>{formatDuration(time)}</time>
      {used && used.cost > 0
        ? <span>{formatCost(used.cost)}</span>
        : used && used.tokens > 0 && <span>{formatTokens(used.tokens)}</span>}
    </>
  );
}

/** Arrow keys: left to the parent task, right to the first subtask, up and down through all tasks. */
function moveBy(
  event: KeyboardEvent & { readonly currentTarget: HTMLElement },
  placed: readonly PlacedTask[],
  choose: (address: string) => void,
): void {
  const here = event.target instanceof HTMLElement ? event.target.dataset['address'] : undefined;
  const at = placed.findIndex(({ node }) => node.task.address === here);
  const next = nextOf(event.key, placed, at);
  if (!next) return;
  event.preventDefault();
  const { address } = next.node.task;
  choose(address);
  const node = event.currentTarget.querySelector<HTMLElement>(`[data-address="${address}"]`);
  node?.focus({ preventScroll: true });
  node?.scrollIntoView?.({ block: 'nearest', inline: 'nearest' });
}

function nextOf(key: string, placed: readonly PlacedTask[], at: number): PlacedTask | undefined {
  const here = placed[at]?.node.task.address;
  if (here === undefined) return undefined;
  const find = (fits: (address: string) => boolean): PlacedTask | undefined =>
    placed.find(({ node }) => fits(node.task.address));
  switch (key) {
    case 'ArrowLeft':
      return find((address) => address === parentOf(here));
    case 'ArrowRight':
      return find((address) => parentOf(address) === here);
    case 'ArrowUp':
      return placed[at - 1];
    case 'ArrowDown':
      return placed[at + 1];
    case 'Home':
      return placed[0];
    case 'End':
      return placed.at(-1);
    default:
      return undefined;
  }
}
