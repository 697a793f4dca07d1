/** Restores the agents of a snapshot from their columns. */

import { newAgent } from '../decide/agent-changes.ts';
import { createAccount, hold } from './account.ts';
import { type AgentColumns, type AgentRest, statusOf } from './agent-columns.ts';
import type { EventOf } from './plan-event.ts';
import { added, type AgentState, hasEnded, type PlanState } from './plan-state.ts';

/** The position of an agent in columns. */
interface ColumnSlot {
  readonly columns: AgentColumns;
  readonly i: number;
  readonly rest: AgentRest | undefined;
}

/**
 * Restores the agents of a state that has none, with everything that follows from the stored columns. Later columns of an agent
 * replace earlier ones.
 *
 * @throws Error when the columns do not hold every agent up to the last, each below one before it.
 */
export function addAgents(state: PlanState, all: readonly AgentColumns[]): void {
  const places: ColumnSlot[] = [];
  let known = 0;
  for (const columns of all) {
    const rests = new Map(columns.rest);
    const { orders } = columns;
    for (let i = 0; i < orders.length; i++) {
      const order = orders[i] as number; // `i` is below the length
      if (places[order] === undefined) known++;
      places[order] = { columns, i, rest: rests.size === 0 ? undefined : rests.get(i) };
    }
  }
  if (places.length !== known) throw new Error('An agent is missing');
  let parent: AgentState | undefined;
  for (const place of places) {
    const id = place.columns.ids[place.i] as string; // as many as there are orders
    const dash = id.lastIndexOf('-');
    if (dash < 0) parent = undefined;
    else if (parent?.id.length !== dash || !id.startsWith(parent.id)) parent = above(state, id.slice(0, dash));
    addAgent(state, place, { id, parent });
  }
  for (const agent of state.agents.values()) if (agent.spec.after && !hasEnded(agent)) linkAfter(state, agent);
}

function above(state: PlanState, id: string): AgentState {
  const parent = state.agents.get(id);
  if (!parent) throw new Error('An agent is before the one above it');
  return parent;
}

function addAgent(
  state: PlanState,
  { columns, i, rest }: ColumnSlot,
  { id, parent }: { readonly id: string; readonly parent: AgentState | undefined },
): void {
  const { since } = columns;
  const event = eventOf({ columns, i, rest }, id);
  const upper = parent?.account ?? state.account;
  const account = event.budget ? createAccount(event.budget, upper) : upper;
  const agent = newAgent(state, event, { parent, account });
  const status = statusOf.get(columns.statuses[i] ?? '');
  if (!status) throw new Error('An agent has no status');
  agent.status = status;
  if (status === 'done') agent.result = { value: columns.results[i] };
  const isOver = hasEnded(agent);
  if (isOver) agent.endedAt = since + (columns.ends[i] ?? 0);
  if (rest) fillIn(agent, rest);
  if (event.budget && !isOver) {
    hold(upper, event.budget);
    Object.assign(account.used, rest?.used);
  }
  state.agents.set(id, agent);
  if (!parent) return;
  parent.children = added(parent.children, agent);
  if (event.key !== undefined) (parent.keys ??= new Map()).set(event.key, agent);
  if (!isOver) parent.open++;
}

/** The event that made the agent. */
function eventOf({ columns, i, rest }: ColumnSlot, id: string): EventOf<'agent.created'> {
  const at = columns.since + (columns.starts[i] ?? 0);
  const goal = columns.goals[i] as string; // as many as there are orders
  const key = columns.keys[i];
  const event: EventOf<'agent.created'> = typeof key === 'string'
    ? { type: 'agent.created', at, id, goal, key }
    : { type: 'agent.created', at, id, goal };
  return rest?.spec ? { ...event, ...rest.spec } : event;
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
