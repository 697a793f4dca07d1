/** Restores the agents of a snapshot from their columns. */

import { newAgent } from '../decide/agent-changes.ts';
import { createAccount, hold } from './account.ts';
import { type AgentDetails, type AgentRest, type AgentRow, fromRuns, statusOf } from './agent-columns.ts';
import { type AgentTable, createAgentTable } from './agent-table.ts';
import type { EventOf } from './plan-event.ts';
import { added, type AgentState, type AgentStatus, hasEnded, livingAgents, type PlanState } from './plan-state.ts';

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
}

/** Columns whose runs and rest are read. */
interface ReadDetails extends Omit<AgentDetails, 'rest'> {
  readonly rest: ReadonlyMap<number, AgentRest>;
}

/**
 * Restores the agents of a plan, with everything that follows from the stored columns. Later columns of an agent replace earlier ones.
 * Ended agents without others below them are made when they are read: of ten thousand, most are not.
 *
 * @throws Error when the columns do not hold every agent up to the last, each below one before it.
 */
export function restoreAgents(
  all: readonly StoredAgents[],
  plan: Pick<PlanState, 'created' | 'account'>,
): AgentTable<AgentState> {
  const slices: Slice[] = []; // by the order of their agents
  for (const slice of all.flatMap(slicesOf)) {
    for (let order = slice.order; order < slice.order + slice.count; order++) slices[order] = slice;
  }
  const make = (order: number): AgentState => {
    const slice = slices[order] as Slice; // the table has no more agents
    return makeAgent(slice, { order, parent: agents.get(slice.parent) }, plan);
  };
  const agents = createAgentTable(make);
  let parent: AgentState | undefined;
  for (const [order, slice] of slices.entries()) {
    if (parent?.id !== slice.parent) parent = agents.get(slice.parent);
    const isOver = hasEnded({ status: statusAt(slice, order) });
    agents.add(isOver ? undefined : make(order));
    if (parent) {
      parent.children = added(parent.children, order);
      if (!isOver) parent.open++;
    }
    if (order > 0 && parent?.children.length !== numberAt(slice, order)) throw new Error('An agent is missing');
  }
  for (const agent of livingAgents({ agents })) linkAfter(agents, agent);
  return agents;
}

function slicesOf({ rows, statuses, details: stored }: StoredAgents): readonly Slice[] {
  let read: ReadDetails | undefined;
  const details = (): ReadDetails => {
    if (read) return read;
    const { starts, ends, rest, ...others } = stored();
    return read = { ...others, starts: fromRuns(starts), ends: fromRuns(ends), rest: new Map(rest) };
  };
  let i = 0;
  return rows.map((row) => {
    i += row.count;
    return { ...row, statuses, details, offset: i - row.count - row.order };
  });
}

function numberAt({ number, order: first }: AgentRow, order: number): number {
  return number + order - first;
}

function statusAt({ statuses, offset }: Slice, order: number): AgentStatus {
  const status = statusOf.get(statuses[offset + order] ?? '');
  if (!status) throw new Error('An agent is missing');
  return status;
}

function makeAgent(
  slice: Slice,
  { order, parent }: Pick<AgentState, 'order' | 'parent'>,
  plan: Pick<PlanState, 'created' | 'account'>,
): AgentState {
  const { since, starts, ends, goals, keys, results, rest: all } = slice.details();
  const i = slice.offset + order;
  const rest = all.get(i);
  const made = {
    type: 'agent.created',
    at: since + (starts[i] ?? 0),
    id: parent ? `${parent.id}-${numberAt(slice, order)}` : '1',
    goal: goals[i],
    key: keys[i] ?? undefined,
  } as EventOf<'agent.created'>; // there are as many goals as agents
  const event = rest?.spec ? { ...made, ...rest.spec } : made;
  const { account: upper } = parent ?? plan;
  const account = event.budget ? createAccount(event.budget, upper) : upper;
  const agent = newAgent(plan.created, event, { parent, account, order });
  agent.status = statusAt(slice, order);
  if (agent.status === 'done') agent.result = { value: results[i] };
  if (hasEnded(agent)) agent.endedAt = since + (ends[i] ?? 0);
  if (rest) fillIn(agent, rest);
  if (event.budget && !hasEnded(agent)) {
    hold(upper, event.budget);
    Object.assign(account.used, rest?.used);
  }
  return agent;
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
