/**
 * The state of a plan as it is folded from its events.
 *
 * - Only `reduce` changes it, and only by events: a reader of the journal gets the same state.
 * - An agent's address is its parent's and its number among the children, so none is used twice. Agents are never removed.
 * - `open`, `awaited`, `blockers` and `pending` count what others still owe an agent. They are counted, not looked up: looking up ten
 *   thousand siblings at the end of each would be quadratic.
 * - An agent that has ended changes no more, except that late steps add to what it has used.
 */

import type { ErrorData } from '../base/errors.ts';
import type { ApprovedEdit } from '../contracts/steps.ts';
import { type Label, unlabelled } from '../permission/label.ts';
import { type Account, createAccount } from './account.ts';
import type { AskFacts, CallSpec, EventOf, Waiting } from './plan-event.ts';
import type { Delivered, InboxItem, InputEdit } from './run-agent.ts';

/** The state of an agent. `ready`: its next step can be run, or is being run. */
export type AgentStatus = 'waiting' | 'ready' | 'done' | 'failed' | 'cancelled';

/** One agent. */
export interface AgentState {
  readonly id: string;
  readonly parent: AgentState | undefined;
  readonly depth: number;
  /** Its place in the order of creation. */
  readonly order: number;
  /** The event that made it. */
  readonly spec: EventOf<'agent.created'>;
  /** The context, when it is stored out of line. */
  readonly context: Delivered | undefined;
  readonly account: Account;
  /** What its own steps and calls have used, whatever account it was booked to. */
  tokens: number;
  cost: number;
  status: AgentStatus;
  /** The number of its next step, from 1. */
  step: number;
  /** Of its next step, from 1. */
  attempt: number;
  /** The start of its next step is on record; only of an unsafe one. */
  started: boolean;
  memory: Delivered | undefined;
  inbox: InboxItem[];
  /** In the order of creation. */
  readonly children: AgentState[];
  /** The children that were created with a key. */
  keys: Map<string, AgentState> | undefined;
  /** How many children have not ended. */
  open: number;
  /** Agents that come after this one. */
  dependents: AgentState[];
  /** How many agents that it comes after have not ended. */
  blockers: number;
  wait: Waiting;
  /** How many of the awaited children have not ended; with `any` and `race` also 0 when one was enough. */
  awaited: number;
  /** Children that are awaited; `undefined`: all. */
  awaitedIds: ReadonlySet<string> | undefined;
  /** Messages whose answers are awaited. */
  replies: Set<string> | undefined;
  calls: Map<string, CallState> | undefined;
  /** Calls and questions that have not ended. */
  pending: number;
  /** Something came that it is to see whatever it waits for. */
  woken: boolean;
  /** Failed attempts wait until then; {@link noTimer} before the timer is set. */
  retryAt: number | undefined;
  /** The digest of its last request, and its number of repetitions in a row. */
  digest: string | undefined;
  repeats: number;
  stalls: number;
  revision: number;
  outline: readonly string[];
  facts: readonly string[];
  result: Delivered | undefined;
  cites: readonly string[] | undefined;
  error: ErrorData | undefined;
  readonly startedAt: number;
  endedAt: number | undefined;
}

/** The time of a retry whose timer is not set yet. */
export const noTimer = Number.MAX_SAFE_INTEGER;

/** One tool call of an agent. */
export interface CallState {
  /** The id of the activity. */
  readonly id: string;
  spec: CallSpec;
  status: 'approval' | 'ready' | 'retry';
  /** The input of the model, where a person has changed it, and the question by which. */
  edited?: ApprovedEdit & Pick<InputEdit, 'before'>;
  attempt: number;
  started: boolean;
}

/** Something that can be run: an agent's next step, or a call. */
export interface Activity {
  /** `1-2#3` for the third step of the agent `1-2`, `1-2#3.1` for a call that this step requested. */
  readonly id: string;
  readonly agent: AgentState;
  readonly call: CallState | undefined;
  /** The agent's step that it is, or that requested it. */
  readonly step: number;
}

/** A time, and what is due then. */
export interface Due {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly kind: 'retry' | 'wait' | 'reply' | 'ask' | 'deadline';
  /** The step, agent, message or question that it is about. */
  readonly id: string;
}

/** The state of a whole plan. */
export type PlanPhase = 'new' | 'running' | 'done' | 'failed' | 'cancelled';

/** The state of a plan. */
export interface PlanState {
  /** The time of the last event. */
  at: number;
  phase: PlanPhase;
  paused: boolean;
  /** What all agents together have read; one reads what another has. Only grows. */
  read: Label;
  created: EventOf<'run.created'> | undefined;
  /** By address, in the order of creation. */
  readonly agents: Map<string, AgentState>;
  /** Open questions. */
  readonly asks: Map<string, AskFacts>;
  /** How many questions there were. */
  askCount: number;
  /** Since when there are open questions, and how long there were before: for plans whose clock pauses meanwhile. */
  askedSince: number | undefined;
  askedMs: number;
  account: Account;
  /** The currency of all that was used; `null` where part of it has none, or another. */
  currency: string | null | undefined;
  /** Sorted; one that is not valid any more is skipped when its time comes. */
  readonly dues: Due[];
  /** Activities that became ready since the owner last emptied this. */
  fresh: Activity[];
  result: Delivered | undefined;
  cites: readonly string[];
  error: ErrorData | undefined;
  reason: string | undefined;
}

/** The state before the first event. */
export function createPlanState(): PlanState {
  return {
    at: 0,
    phase: 'new',
    paused: false,
    read: unlabelled,
    created: undefined,
    agents: new Map(),
    asks: new Map(),
    askCount: 0,
    askedSince: undefined,
    askedMs: 0,
    account: createAccount({}),
    currency: undefined,
    dues: [],
    fresh: [],
    result: undefined,
    cites: [],
    error: undefined,
    reason: undefined,
  };
}

/** The child that was created with this key, or else the one at this address. */
export function childOf(state: PlanState, parent: AgentState, name: string): AgentState | undefined {
  const agent = parent.keys?.get(name) ?? state.agents.get(name);
  return agent?.parent === parent ? agent : undefined;
}

export function hasEnded({ status }: Pick<AgentState, 'status'>): boolean {
  return status === 'done' || status === 'failed' || status === 'cancelled';
}

/** The id of an agent's next step. */
export function stepId({ id, step }: Pick<AgentState, 'id' | 'step'>): string {
  return `${id}#${step}`;
}

export function stepOf(agent: AgentState): Activity {
  return { id: stepId(agent), agent, call: undefined, step: agent.step };
}

export function callOf(agent: AgentState, call: CallState): Activity {
  return { id: call.id, agent, call, step: agent.step };
}

/** The agent whose activity this is. */
export function agentOfStep(state: PlanState, step: string): AgentState | undefined {
  return state.agents.get(step.slice(0, step.indexOf('#')));
}

/** The first agent, which the whole plan is done by. */
export function rootOf(state: PlanState): AgentState | undefined {
  return state.agents.get('1');
}

/** The agents that have not ended, in the order of creation. */
export function livingAgents({ agents }: Pick<PlanState, 'agents'>): readonly AgentState[] {
  return [...agents.values()].filter((agent) => !hasEnded(agent));
}

/** The agents below this one that have not ended, leaves before what they hang on. */
export function livingBelow(agent: AgentState): readonly AgentState[] {
  const found = [agent];
  for (const next of found) { // grows while it is walked
    for (const child of next.children) if (!hasEnded(child)) found.push(child);
  }
  return found.slice(1).toSorted((a, b) => b.depth - a.depth || a.order - b.order);
}

/** Adds a time. Equal times are in the order of their ids, so that every fold does the same. */
export function addDue({ dues }: PlanState, due: Due): void {
  let [low, high] = [0, dues.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const other = dues[middle] as Due; // between both
    if (other.at < due.at || (other.at === due.at && other.id <= due.id)) low = middle + 1;
    else high = middle;
  }
  dues.splice(low, 0, due);
}

/** When the plan is over, in milliseconds since 1970; of one that has not begun, never. */
export function planDeadlineAt({ created, askedSince, askedMs }: PlanState): number {
  if (!created) return Infinity;
  const { deadlineAt, latestAt } = created.terms;
  if (latestAt === undefined) return deadlineAt;
  return askedSince === undefined ? Math.min(deadlineAt + askedMs, latestAt) : latestAt;
}

/** Pauses the clock with the first open question, and resumes it with the last answer. */
export function turnClock(state: PlanState): void {
  const { at, created, asks, askedSince, phase } = state;
  const hasQuestions = asks.size > 0;
  if (created?.terms.latestAt === undefined || phase !== 'running' || hasQuestions === (askedSince !== undefined)) {
    return;
  }
  if (askedSince !== undefined) state.askedMs += at - askedSince;
  state.askedSince = hasQuestions ? at : undefined;
  addDue(state, { at: planDeadlineAt(state), kind: 'deadline', id: '1' });
}
