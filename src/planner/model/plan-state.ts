/** The state of a plan as it is folded from its events. Only `reduce` changes it. */

import type { ErrorData } from '../../base/errors.ts';
import { type Account, createAccount } from './account.ts';
import { type AgentTable, createAgentTable } from './agent-table.ts';
import { createDueHeap, type DueHeap } from '../decide/due-heap.ts';
import type { AgentSpec, AskFacts, CallSpec, EventOf, Waiting } from './plan-event.ts';
import type { Delivered, InboxItem } from '../host/run-agent.ts';

/** The state of an agent. `ready`: its next step can be run, or is being run. */
export type AgentStatus = 'waiting' | 'ready' | 'done' | 'failed' | 'cancelled';

/** One agent. */
export interface AgentState {
  readonly id: string;
  readonly parent: AgentState | undefined;
  readonly depth: number;
  /** Its place in the order of creation. */
  readonly order: number;
  readonly spec: AgentSpec;
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
  inbox: readonly InboxItem[];
  /** The places of its children in the order of creation. */
  children: readonly number[];
  /** The children that were created with a key; made by {@link childOfKey} when the first is looked up. */
  keys: Map<string, AgentState> | undefined;
  /** How many children have not ended. */
  open: number;
  /** Agents that come after this one. */
  dependents: readonly AgentState[];
  /** How many agents that it comes after have not ended. */
  blockers: number;
  wait: Waiting;
  /** How many of the awaited children have not ended; with `any` and `race` also 0 when one was enough. */
  awaited: number;
  /** Children that are awaited; `undefined`: all. */
  awaitedIds: ReadonlySet<string> | undefined;
  /** Messages whose answers are awaited, with the time until when. */
  replies: Map<string, number> | undefined;
  calls: Map<string, CallState> | undefined;
  /** Calls and questions that have not ended. */
  pending: number;
  /** Something came that it is to see whatever it waits for. */
  woken: boolean;
  /** Failed attempts wait until then. */
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

/** One tool call of an agent. */
export interface CallState {
  /** The id of the activity. */
  readonly id: string;
  readonly spec: CallSpec;
  status: 'approval' | 'ready' | 'retry';
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

/** The state of a whole plan. */
export type PlanPhase = 'new' | 'running' | 'done' | 'failed' | 'cancelled';

/** The state of a plan. */
export interface PlanState {
  /** The time of the last event. */
  at: number;
  phase: PlanPhase;
  paused: boolean;
  created: EventOf<'run.created'> | undefined;
  readonly agents: AgentTable<AgentState>;
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
  readonly dues: DueHeap;
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
    created: undefined,
    agents: createAgentTable(),
    asks: new Map(),
    askCount: 0,
    askedSince: undefined,
    askedMs: 0,
    account: createAccount({}),
    currency: undefined,
    dues: createDueHeap(),
    fresh: [],
    result: undefined,
    cites: [],
    error: undefined,
    reason: undefined,
  };
}

/** The child that was created with this key, or else the one at this address. */
export function childOf(state: PlanState, parent: AgentState, name: string): AgentState | undefined {
  const agent = childOfKey(state, parent, name) ?? state.agents.get(name);
  return agent?.parent === parent ? agent : undefined;
}

/** The child that was created with this key. */
export function childOfKey(state: PlanState, parent: AgentState, key: string): AgentState | undefined {
  return keysOf(state, parent).get(key);
}

/** The children of an agent by their keys. The agent's creator adds every later one. */
export function keysOf({ agents }: PlanState, parent: AgentState): Map<string, AgentState> {
  if (parent.keys) return parent.keys;
  const keys = new Map<string, AgentState>();
  for (const child of agents.childrenOf(parent)) if (child.spec.key !== undefined) keys.set(child.spec.key, child);
  return parent.keys = keys;
}

/** Whether the agent has ended. */
export function hasEnded({ status }: Pick<AgentState, 'status'>): boolean {
  return status === 'done' || status === 'failed' || status === 'cancelled';
}

/** The id of an agent's next step. */
export function stepId({ id, step }: Pick<AgentState, 'id' | 'step'>): string {
  return `${id}#${step}`;
}

/** An agent's next step as an activity. */
export function stepOf(agent: AgentState): Activity {
  return { id: stepId(agent), agent, call: undefined, step: agent.step };
}

/** A call as an activity. */
export function callOf(agent: AgentState, call: CallState): Activity {
  return { id: call.id, agent, call, step: agent.step };
}

/** What an agent has of something that most agents have none of; it is never added to. */
export const none: readonly never[] = Object.freeze([]);

/** The list with one more; a list of nothing is not made before it is needed. */
export function added<T>(list: readonly T[], item: T): readonly T[] {
  if (list.length === 0) return [item];
  (list as T[]).push(item); // made here
  return list;
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
  return agents.made().filter((agent) => !hasEnded(agent));
}

/** The agents below this one that have not ended, leaves before what they hang on. */
export function livingBelow({ agents }: PlanState, agent: AgentState): AgentState[] {
  const found = [agent];
  for (const next of found) { // grows while it is walked
    for (const child of agents.childrenOf(next)) if (!hasEnded(child)) found.push(child);
  }
  return found.slice(1).toSorted((a, b) => b.depth - a.depth || a.order - b.order);
}
