/** Restores the agents of a snapshot from their columns. */

import { newAgent } from '../decide/agent-changes.ts';
import { createAccount, hold } from './account.ts';
import { type AgentColumns, type AgentRest, type AgentRow, fromRuns, statusOf } from './agent-columns.ts';
import type { EventOf } from './plan-event.ts';
import { added, type AgentState, hasEnded, type PlanState } from './plan-state.ts';

/** The agents of one row, and where they are in their columns. */
interface Slice extends AgentRow {
  readonly columns: ReadColumns;
  /** The place of the agent with the order 0, if the row had one: others follow by their order. */
  readonly offset: number;
  /** The address of an agent without its number. */
  readonly above: string;
}

/** Columns whose runs and rest are read. */
interface ReadColumns extends Omit<AgentColumns, 'rest'> {
  readonly rest: ReadonlyMap<number, AgentRest>;
}

/** The place of an agent in columns. */
interface ColumnSlot {
  readonly columns: ReadColumns;
  readonly i: number;
  readonly id: string;
}

/**
 * Restores the agents of a state that has none, with everything that follows from the stored columns. Later columns of an agent
 * replace earlier ones.
 *
 * @throws Error when the columns do not hold every agent up to the last, each below one before it.
 */
export function addAgents(state: PlanState, all: readonly AgentColumns[]): void {
  const slices: Slice[] = []; // by the order of their agents
  let known = 0;
  for (const slice of all.flatMap(slicesOf)) {
    for (let order = slice.order; order < slice.order + slice.count; order++) {
      if (slices[order] === undefined) known++;
      slices[order] = slice;
    }
  }
  if (slices.length !== known) throw new Error('An agent is missing');
  let parent: AgentState | undefined;
  for (let order = 0; order < known; order++) {
    const slice = slices[order] as Slice; // as many as there are
    if (slice.parent === '') parent = undefined;
    else if (parent?.id !== slice.parent) parent = above(state, slice.parent);
    const id = slice.above + (slice.number + order - slice.order);
    addAgent(state, { columns: slice.columns, i: slice.offset + order, id }, parent);
  }
  for (const agent of state.agents.values()) if (agent.spec.after && !hasEnded(agent)) linkAfter(state, agent);
}

function slicesOf(stored: AgentColumns): readonly Slice[] {
  const { starts, ends, rest } = stored;
  const columns = { ...stored, starts: fromRuns(starts), ends: fromRuns(ends), rest: new Map(rest) };
  let i = 0;
  return stored.rows.map((row) => {
    const slice = { ...row, columns, offset: i - row.order, above: row.parent === '' ? '' : `${row.parent}-` };
    i += row.count;
    return slice;
  });
}

function above(state: PlanState, id: string): AgentState {
  const parent = state.agents.get(id);
  if (!parent) throw new Error('An agent is before the one above it');
  return parent;
}

function addAgent(state: PlanState, slot: ColumnSlot, parent: AgentState | undefined): void {
  const { columns, i, id } = slot;
  const rest = columns.rest.size === 0 ? undefined : columns.rest.get(i);
  const made = eventOf(slot);
  const event = rest?.spec ? { ...made, ...rest.spec } : made;
  const upper = parent?.account ?? state.account;
  const account = event.budget ? createAccount(event.budget, upper) : upper;
  const agent = newAgent(state, event, { parent, account });
  const status = statusOf.get(columns.statuses[i] ?? '');
  if (!status) throw new Error('An agent has no status');
  agent.status = status;
  if (status === 'done') agent.result = { value: columns.results[i] };
  const isOver = hasEnded(agent);
  if (isOver) agent.endedAt = columns.since + (columns.ends[i] ?? 0);
  if (rest) fillIn(agent, rest);
  if (event.budget && !isOver) {
    hold(upper, event.budget);
    Object.assign(account.used, rest?.used);
  }
  state.agents.set(id, agent);
  if (!parent) return;
  parent.children = added(parent.children, agent);
  if (!isOver) parent.open++;
}

/** The event that made the agent, without what few have. */
function eventOf({ columns, i, id }: ColumnSlot): EventOf<'agent.created'> {
  const at = columns.since + (columns.starts[i] ?? 0);
  const goal = columns.goals[i] as string; // as many as there are orders
  const key = columns.keys[i];
  return typeof key === 'string'
    ? { type: 'agent.created', at, id, goal, key }
    : { type: 'agent.created', at, id, goal };
}

function fillIn(
  agent: AgentState,
  { result, retryAt, awaitedIds, replies, calls, spec: _, used: _used, ...plain }: AgentRest,
): void {
  Object.assign(agent, plain);
  if (result) agent.result = result;
  if (retryAt !== undefined) agent.retryAt = retryAt ?? Infinity;
  if (awaitedIds) agent.awaitedIds = new Set(awaitedIds);
  if (replies) agent.replies = new Map(replies);
  if (calls) agent.calls = new Map(calls.map((call) => [call.id, call]));
}

/** What the agent comes after has not all ended. */
function linkAfter(state: PlanState, agent: AgentState): void {
  for (const address of agent.spec.after ?? []) {
    const other = state.agents.get(address);
    if (!other || hasEnded(other)) continue;
    other.dependents = added(other.dependents, agent);
    agent.blockers++;
  }
}
