/** Restores the agents of a snapshot from their columns. */

import { newAgent } from '../decide/agent-changes.ts';
import { createAccount, hold } from './account.ts';
import { type AgentDetails, type AgentRest, type AgentRow, fromRuns, statusOf } from './agent-columns.ts';
import { type AgentTable, createAgentTable } from './agent-table.ts';
import type { EventOf } from './plan-event.ts';
import { added, type AgentState, type AgentStatus, hasEnded, type PlanState } from './plan-state.ts';

/** Columns of which the larger part is read when an agent is. */
export interface StoredAgents {
  readonly rows: readonly AgentRow[];
  readonly statuses: string;
  readonly details: () => AgentDetails;
}

/** The agents of one row, and where they are in their columns. */
interface Slice extends AgentRow {
  readonly statuses: string;
  readonly details: () => ReadDetails;
  /** The place of the agent with the order 0, if the row had one: others follow by their order. */
  readonly offset: number;
  /** The address of an agent without its number. */
  readonly above: string;
}

/** Columns whose runs and rest are read. */
interface ReadDetails extends Omit<AgentDetails, 'rest'> {
  readonly rest: ReadonlyMap<number, AgentRest>;
}

/** What all agents of a plan are made with. */
type Plan = Pick<PlanState, 'created' | 'account'>;

/**
 * Restores the agents of a plan, with everything that follows from the stored columns. Later columns of an agent replace earlier ones.
 * Ended agents without others below them are made when they are read: of ten thousand, most are not.
 *
 * @throws Error when the columns do not hold every agent up to the last, each below one before it.
 */
export function restoreAgents(all: readonly StoredAgents[], plan: Plan): AgentTable<AgentState> {
  const slices = slicesByOrder(all);
  const make = (order: number): AgentState => {
    const slice = slices[order] as Slice; // the table has no more agents
    const parent = slice.parent === '' ? undefined : agents.get(slice.parent);
    return makeAgent(slice, order, { ...plan, parent });
  };
  const agents = createAgentTable(make);
  let parent: AgentState | undefined;
  for (const [order, slice] of slices.entries()) {
    if (slice.parent === '') parent = undefined;
    else if (parent?.id !== slice.parent) parent = above(agents, slice.parent);
    const isOver = hasEnded({ status: statusAt(slice, order) });
    agents.add(isOver ? undefined : make(order));
    if (!parent) continue;
    parent.children = added(parent.children, order);
    if (parent.children.length !== numberAt(slice, order)) throw new Error('An agent is not the next below its parent');
    if (!isOver) parent.open++;
  }
  for (const agent of agents.made()) if (agent.spec.after && !hasEnded(agent)) linkAfter(agents, agent);
  return agents;
}

/** The slice of each agent, in the order of creation. */
function slicesByOrder(all: readonly StoredAgents[]): readonly Slice[] {
  const slices: Slice[] = [];
  let known = 0;
  for (const slice of all.flatMap(slicesOf)) {
    for (let order = slice.order; order < slice.order + slice.count; order++) {
      if (slices[order] === undefined) known++;
      slices[order] = slice;
    }
  }
  if (slices.length !== known) throw new Error('An agent is missing');
  return slices;
}

function slicesOf({ rows, statuses, details: stored }: StoredAgents): readonly Slice[] {
  let read: ReadDetails | undefined;
  const details = (): ReadDetails => read ??= readDetails(stored());
  let i = 0;
  return rows.map((row) => {
    const slice = {
      ...row,
      statuses,
      details,
      offset: i - row.order,
      above: row.parent === '' ? '' : `${row.parent}-`,
    };
    i += row.count;
    return slice;
  });
}

function readDetails(details: AgentDetails): ReadDetails {
  const { starts, ends, rest } = details;
  return { ...details, starts: fromRuns(starts), ends: fromRuns(ends), rest: new Map(rest) };
}

function above(agents: AgentTable<AgentState>, id: string): AgentState {
  const parent = agents.get(id);
  if (!parent) throw new Error('An agent is before the one above it');
  return parent;
}

function numberAt({ number, order: first }: AgentRow, order: number): number {
  return number + order - first;
}

function statusAt({ statuses, offset }: Slice, order: number): AgentStatus {
  const status = statusOf.get(statuses[offset + order] ?? '');
  if (!status) throw new Error('An agent has no status');
  return status;
}

function makeAgent(
  slice: Slice,
  order: number,
  { created, account: whole, parent }: Plan & { readonly parent: AgentState | undefined },
): AgentState {
  const details = slice.details();
  const i = slice.offset + order;
  const rest = details.rest.get(i);
  const made = eventOf(details, i, `${slice.above}${numberAt(slice, order)}`);
  const event = rest?.spec ? { ...made, ...rest.spec } : made;
  const upper = parent?.account ?? whole;
  const account = event.budget ? createAccount(event.budget, upper) : upper;
  const agent = newAgent(created, event, { parent, account, order });
  agent.status = statusAt(slice, order);
  if (agent.status === 'done') agent.result = { value: details.results[i] };
  if (hasEnded(agent)) agent.endedAt = details.since + (details.ends[i] ?? 0);
  if (rest) fillIn(agent, rest);
  if (event.budget && !hasEnded(agent)) {
    hold(upper, event.budget);
    Object.assign(account.used, rest?.used);
  }
  return agent;
}

/** The event that made the agent, without what few have. */
function eventOf(details: ReadDetails, i: number, id: string): EventOf<'agent.created'> {
  const at = details.since + (details.starts[i] ?? 0);
  const goal = details.goals[i] as string; // as many as there are orders
  const key = details.keys[i];
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
function linkAfter(agents: AgentTable<AgentState>, agent: AgentState): void {
  for (const address of agent.spec.after ?? []) {
    const other = agents.get(address);
    if (!other || hasEnded(other)) continue;
    other.dependents = added(other.dependents, agent);
    agent.blockers++;
  }
}
