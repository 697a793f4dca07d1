/**
 * Agents in the form in which a snapshot has them: columns of what every agent has, and beside them what few have. Ten thousand are
 * read in milliseconds, for a parser makes no object of each. What follows from the rest (children, dependents, what is set aside) is
 * not stored: it is computed again.
 */

import type { Account } from './account.ts';
import { noWait } from '../decide/agent-changes.ts';
import { type AgentState, type AgentStatus, type CallState, hasEnded, none } from './plan-state.ts';
import type { Delivered } from '../host/run-agent.ts';

/** Agents that follow each other in the order of creation and below one parent. */
export interface AgentRow {
  /** The place of the first in the order of creation. */
  readonly order: number;
  /** The address of the parent; '' for an agent without one. */
  readonly parent: string;
  /** The number of the first below its parent. */
  readonly number: number;
  readonly count: number;
}

/** Numbers of which many in a row are the same: each with how often it follows. */
export type NumberRuns = readonly number[];

/** Some agents; the n-th of each column is the n-th agent. */
export interface AgentColumns {
  readonly rows: readonly AgentRow[];
  /** One letter of {@link letters} for each. */
  readonly statuses: string;
  readonly details: AgentDetails;
}

/** The columns that only readers of an agent need. */
export interface AgentDetails {
  /** Times below are relative to this one. */
  readonly since: number;
  readonly goals: readonly string[];
  readonly keys: readonly (string | null)[];
  readonly starts: NumberRuns;
  readonly ends: NumberRuns;
  readonly results: readonly unknown[];
  /** What else there is of the agent at this place. */
  readonly rest: readonly (readonly [number, AgentRest])[];
}

/** What differs from an agent as it was created. */
export type AgentRest =
  & {
    readonly [K in (typeof plainFields)[number]]?: AgentState[K];
  }
  & {
    /** More of the event that made it. */
    readonly spec?: Readonly<Record<string, unknown>>;
    readonly result?: Delivered;
    /** `null`: until a timer says when. */
    readonly retryAt?: number | null;
    readonly awaitedIds?: readonly string[];
    readonly replies?: readonly (readonly [string, number])[];
    readonly calls?: readonly CallState[];
    readonly used?: Account['used'];
  };

const letters: Readonly<Record<AgentStatus, string>> = {
  waiting: 'w',
  ready: 'r',
  done: 'd',
  failed: 'f',
  cancelled: 'c',
};
/** The status of each letter. */
export const statusOf = new Map(Object.entries(letters).map(([status, letter]) => [letter, status as AgentStatus]));
/** What is made again from the rest, and what has a form of its own. */
type Derived = 'parent' | 'depth' | 'account' | 'context' | 'children' | 'keys' | 'open' | 'dependents' | 'blockers';
type Formed =
  | 'id'
  | 'order'
  | 'spec'
  | 'status'
  | 'startedAt'
  | 'endedAt'
  | 'result'
  | 'retryAt'
  | 'awaitedIds'
  | 'replies'
  | 'calls';
/** The fields that are stored unchanged, so that a new field of agents is stored, too. */
type Plain = Exclude<keyof AgentState, Derived | Formed>;

/** What these fields are when an agent is made. */
const asMade: Readonly<Record<Plain, unknown>> = {
  tokens: 0,
  cost: 0,
  step: 1,
  attempt: 1,
  started: false,
  memory: undefined,
  inbox: none,
  wait: noWait,
  awaited: 0,
  pending: 0,
  woken: false,
  digest: undefined,
  repeats: 0,
  stalls: 0,
  revision: 0,
  outline: none,
  facts: none,
  cites: undefined,
  error: undefined,
};
const plainFields = Object.keys(asMade) as Plain[]; // an object of this module
/** What every event has that makes an agent. */
const specFields = new Set(['type', 'at', 'id', 'goal', 'key']);

/** Returns the columns; an agent that is there twice has one place. For ended agents they hold only the fields that no longer change. */
export function toColumns(listed: readonly AgentState[], since: number): AgentColumns {
  const ordered = listed.toSorted((a, b) => a.order - b.order);
  const agents = ordered.filter((agent, i) => agent !== ordered[i - 1]);
  const details: AgentDetails = {
    since,
    goals: agents.map(({ spec }) => spec.goal),
    keys: agents.map(({ spec }) => spec.key ?? null),
    starts: toRuns(agents.map(({ startedAt }) => startedAt - since)),
    ends: toRuns(agents.map(({ endedAt = since }) => endedAt - since)),
    results: agents.map(({ result }) => result?.value ?? null),
    rest: agents.flatMap((agent, i) => {
      const rest = restOf(agent);
      return rest ? [[i, rest] as const] : [];
    }),
  };
  return { rows: rowsOf(agents), statuses: agents.map(({ status }) => letters[status]).join(''), details };
}

function rowsOf(agents: readonly AgentState[]): readonly AgentRow[] {
  const rows: { -readonly [K in keyof AgentRow]: AgentRow[K] }[] = [];
  let last: (typeof rows)[number] | undefined;
  let lastParent: AgentState | undefined;
  for (const { id, order, parent } of agents) {
    const number = Number(id.slice(id.lastIndexOf('-') + 1));
    if (last && parent === lastParent && order === last.order + last.count && number === last.number + last.count) {
      last.count++;
    } else {
      rows.push(last = { order, parent: parent?.id ?? '', number, count: 1 });
      lastParent = parent;
    }
  }
  return rows;
}

function toRuns(values: readonly number[]): NumberRuns {
  const runs: number[] = [];
  for (const value of values) {
    if (runs.at(-2) === value) runs.push((runs.pop() ?? 0) + 1);
    else runs.push(value, 1);
  }
  return runs;
}

/** Returns the numbers of the runs. */
export function fromRuns(runs: NumberRuns): readonly number[] {
  const values: number[] = [];
  for (let i = 0; i < runs.length; i += 2) {
    for (let left = runs[i + 1] ?? 0; left > 0; left--) values.push(runs[i] ?? 0);
  }
  return values;
}

/** What differs from an agent as it is made; `undefined` when nothing does. */
function restOf(agent: AgentState): AgentRest | undefined {
  if (isPlainEnd(agent)) return undefined;
  const rest: Record<string, unknown> = {};
  let isEmpty = true;
  const keep = (name: string, value: unknown): void => {
    rest[name] = value;
    isEmpty = false;
  };
  for (const field in agent.spec) {
    if (specFields.has(field)) continue;
    const spec = Object.entries(agent.spec).filter(([name]) => !specFields.has(name));
    keep('spec', Object.fromEntries(spec));
    break;
  }
  for (const field of plainFields) {
    const value = agent[field];
    if (value !== asMade[field] && !(Array.isArray(value) && value.length === 0)) keep(field, value);
  }
  if (agent.result && agent.result.value === undefined) keep('result', agent.result);
  if (agent.retryAt !== undefined) keep('retryAt', agent.retryAt === Infinity ? null : agent.retryAt);
  if (agent.awaitedIds) keep('awaitedIds', [...agent.awaitedIds]);
  if (agent.replies) keep('replies', [...agent.replies]);
  if (agent.calls) keep('calls', [...agent.calls.values()]);
  if (agent.spec.budget && !hasEnded(agent)) keep('used', agent.account.used);
  return isEmpty ? undefined : rest;
}

/** Whether the agent has done its work in one step that used nothing: most of ten thousand have, and need no closer look. */
function isPlainEnd({ status, spec, step, attempt, tokens, cost, revision, cites, result }: AgentState): boolean {
  if (status !== 'done' || step !== 1 || attempt !== 1 || tokens !== 0 || cost !== 0 || revision !== 0) return false;
  if (cites !== undefined || result?.value === undefined) return false;
  for (const field in spec) if (!specFields.has(field)) return false;
  return true;
}
