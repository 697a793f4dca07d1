/** How agents start, become ready, receive inbox items and end. */

import { type Account, closeAccount, createAccount, hold, positive, use, useCall } from './account.ts';
import { leavingDoubt } from './failure.ts';
import { deliveredOf, type EventOf, type Refusal } from './plan-event.ts';
import { addDue, type AgentState, hasEnded, type PlanState, stepOf } from './plan-state.ts';
import type { InboxItem, Usage } from './run-agent.ts';

/** Makes an agent. */
export function createAgent(state: PlanState, event: EventOf<'agent.created'>): Refusal | undefined {
  const { id, key, deadlineAt, budget } = event;
  const parent = parentAt(state, id);
  if (state.agents.has(id)) return 'there is such an agent';
  if (parent ? hasEnded(parent) : id !== '1') return 'there is no such living parent';
  if (parent && id !== nextAddress(parent)) return 'the address is not the next';
  if (key !== undefined && parent?.keys?.has(key)) return 'there is a child with this key';
  const after = (event.after ?? []).map((address) => state.agents.get(address));
  if (after.includes(undefined)) return 'it comes after an agent that does not exist';
  const above = parent?.account ?? state.account;
  use(above, 'agents', 1);
  if (budget) hold(above, budget);
  const agent = addAgent(state, event);
  if (parent) parent.open++;
  if (deadlineAt !== undefined) addDue(state, { at: deadlineAt, kind: 'deadline', id });
  for (const other of after as AgentState[]) { // all are there
    if (hasEnded(other)) deliverResult(agent, other);
    else waitFor(agent, other);
  }
  settle(state, agent);
  return undefined;
}

/** Adds the agent of an event to the state, below its parent. */
export function addAgent(state: PlanState, event: EventOf<'agent.created'>): AgentState {
  const parent = parentAt(state, event.id);
  const above = parent?.account ?? state.account;
  const agent = newAgent(event, {
    parent,
    account: event.budget ? createAccount(event.budget, above) : above,
    order: state.agents.size,
  });
  // The first agent of a given plan has no steps: it ends with its tasks.
  if (!parent && state.created?.terms.given) agent.wait = { mode: 'message' };
  state.agents.set(agent.id, agent);
  parent?.children.push(agent);
  if (parent && event.key !== undefined) (parent.keys ??= new Map()).set(event.key, agent);
  return agent;
}

function parentAt({ agents }: PlanState, address: string): AgentState | undefined {
  return agents.get(address.slice(0, Math.max(0, address.lastIndexOf('-'))));
}

/** Lets an agent wait for the end of another that it comes after. */
export function waitFor(agent: AgentState, other: AgentState): void {
  other.dependents.push(agent);
  agent.blockers++;
}

/** Every agent when it is made. A snapshot leaves out what is still the same. */
export function newAgent(
  event: EventOf<'agent.created'>,
  { parent, account, order }: { parent: AgentState | undefined; account: Account; order: number },
): AgentState {
  return {
    id: event.id,
    parent,
    depth: parent ? parent.depth + 1 : 0,
    order,
    spec: event,
    context: event.context === undefined ? undefined : deliveredOf(event, 'context'),
    account,
    status: 'waiting',
    step: 1,
    attempt: 1,
    started: false,
    memory: undefined,
    inbox: [],
    tokens: 0,
    cost: 0,
    children: [],
    keys: undefined,
    open: 0,
    dependents: [],
    blockers: 0,
    wait: noWait,
    awaited: 0,
    awaitedIds: undefined,
    replies: undefined,
    calls: undefined,
    pending: 0,
    woken: false,
    retryAt: undefined,
    digest: undefined,
    repeats: 0,
    stalls: 0,
    revision: 0,
    outline: [],
    facts: [],
    result: undefined,
    cites: undefined,
    error: undefined,
    startedAt: event.at,
    endedAt: undefined,
  };
}

/** The address of an agent's next child. None is used twice, so no agent has it. */
export function nextAddress({ id, children }: AgentState): string {
  return `${id}-${children.length + 1}`;
}

const noWait = { mode: 'none' } as const;

/** Books what one of the agent's steps or calls has used. */
export function bookUsage(state: PlanState, agent: AgentState, usage?: Usage): void {
  if (usage && (usage.tokens || usage.cost)) {
    const { currency = null } = usage;
    state.currency = state.currency === undefined || state.currency === currency ? currency : null;
  }
  useCall(agent.account, usage);
  agent.tokens += positive(usage?.tokens);
  agent.cost += positive(usage?.cost);
}

/** Puts an item into the inbox. */
export function deliver(agent: AgentState, item: InboxItem): void {
  agent.inbox.push(item);
}

/** Lets the agent go on, whatever children, replies or messages it waits for; calls and questions it waits for all the same. */
export function wake(state: PlanState, agent: AgentState): void {
  agent.woken = true;
  settle(state, agent);
}

/** Makes the agent ready when all that it waits for is there. */
export function settle(state: PlanState, agent: AgentState): void {
  if (agent.status !== 'waiting' || agent.blockers > 0 || agent.pending > 0 || agent.retryAt !== undefined) return;
  const isThere = agent.wait.mode !== 'message' && agent.awaited === 0 && (agent.replies?.size ?? 0) === 0;
  if (isThere || agent.woken) markReady(state, agent);
}

/** Makes the agent's next step one that can be run. */
export function markReady(state: PlanState, agent: AgentState): void {
  agent.status = 'ready';
  agent.woken = false;
  agent.retryAt = undefined;
  state.fresh.push(stepOf(agent));
}

/** Ends an agent: notifies the agents that wait for it and releases its reserves. */
export function endAgent(
  state: PlanState,
  agent: AgentState,
  event: EventOf<'agent.done' | 'agent.failed' | 'agent.cancelled'>,
): void {
  agent.endedAt = event.at;
  if (event.type === 'agent.done') {
    agent.status = 'done';
    agent.result = deliveredOf(event, 'result');
    agent.cites = event.cites;
  } else if (event.type === 'agent.failed') {
    agent.status = 'failed';
    agent.error = event.error;
  } else {
    agent.status = 'cancelled';
    const { reason, unknown } = event;
    const error = { code: 'cancelled', message: 'The agent was cancelled', retryable: false, details: { reason } };
    agent.error = unknown ? leavingDoubt(error, unknown) : error;
  }
  if (state.asks.size > 0) closeAsks(state, agent);
  forget(agent);
  if (agent.spec.budget) closeAccount(agent.account);
  for (const dependent of agent.dependents) {
    if (hasEnded(dependent)) continue;
    dependent.blockers--;
    deliverResult(dependent, agent);
    settle(state, dependent);
  }
  agent.dependents = [];
  const { parent } = agent;
  if (parent && !hasEnded(parent)) deliverToParent(state, parent, agent);
}

/** What only a living agent needs. */
function forget(agent: AgentState): void {
  agent.inbox = [];
  agent.calls =
    agent.memory =
    agent.replies =
    agent.awaitedIds =
    agent.retryAt =
    agent.digest =
      undefined;
  agent.wait = noWait;
  agent.awaited =
    agent.pending =
    agent.blockers =
    agent.repeats =
    agent.stalls =
      0;
  agent.started = agent.woken = false;
}

function closeAsks(state: PlanState, agent: AgentState): void {
  for (const { ask, agent: asking } of state.asks.values()) if (asking === agent.id) state.asks.delete(ask);
}

function deliverToParent(state: PlanState, parent: AgentState, agent: AgentState): void {
  parent.open--;
  if (!parent.parent && state.created?.terms.given === true) return; // its inbox has no reader
  deliverResult(parent, agent);
  if (parent.awaited === 0 || parent.awaitedIds?.has(agent.id) === false) return;
  const isEnough = parent.wait.mode === 'race' || (parent.wait.mode === 'any' && agent.status === 'done');
  parent.awaited = isEnough ? 0 : parent.awaited - 1;
  if (parent.awaited === 0) settle(state, parent);
}

function deliverResult(to: AgentState, { id, spec, status, result, error }: AgentState): void {
  const facts = { type: 'result' as const, from: id, ...(spec.key !== undefined && { key: spec.key }) };
  if (status === 'done' && result) deliver(to, { ...facts, ok: true, result });
  else if (error && spec.onFailure !== 'ignore') deliver(to, { ...facts, ok: false, error });
}
