/**
 * Agents in the form in which a snapshot has them: columns of what every agent has, and beside them what few have. Ten thousand are
 * read in milliseconds, for a parser makes no object of each. What follows from the rest (children, dependents, what is set aside) is
 * not stored: it is computed again.
 */

import type { Account } from './account.ts';
import { numberIn } from './agent-table.ts';
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
  const rows: AgentRow[] = [];
  const [goals, keys, results]: [string[], (string | null)[], unknown[]] = [[], [], []];
  const [starts, ends]: [number[], number[]] = [[], []];
  const rest: [number, AgentRest][] = [];
  let statuses = '';
  let last: AgentState | undefined;
  for (const agent of listed.toSorted((a, b) => a.order - b.order)) { // once for all columns: there may be ten thousand agents
    if (agent === last) continue;
    addToRows(rows, agent, last);
    last = agent;
    const { spec, result, startedAt, endedAt = since } = agent;
    const own = restOf(agent);
    if (own) rest.push([goals.length, own]);
    statuses += letters[agent.status];
    goals.push(spec.goal);
    keys.push(spec.key ?? null);
    addToRuns(starts, startedAt - since);
    addToRuns(ends, endedAt - since);
    results.push(result?.value ?? null);
  }
  return { rows, statuses, details: { since, goals, keys, starts, ends, results, rest } };
}

/** Adds an agent to the rows, of which the last has the agent before. */
function addToRows(
  rows: { -readonly [K in keyof AgentRow]: AgentRow[K] }[],
  { id, order, parent }: AgentState,
  before: AgentState | undefined,
): void {
  const last = rows.at(-1);
  const number = numberIn(id, id.lastIndexOf('-') + 1, id.length);
  const isNext = last && parent === before?.parent && order === last.order + last.count;
  if (isNext && number === last.number + last.count) last.count++;
  else rows.push({ order, parent: parent?.id ?? '', number, count: 1 });
}

function addToRuns(runs: number[], value: number): void {
  const at = runs.length - 1; // of the last count
  if (runs[at - 1] === value) runs[at] = (runs[at] ?? 0) + 1;
  else runs.push(value, 1);
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
  const { spec, result, retryAt, awaitedIds, replies, calls } = agent;
  const more = Object.entries(spec).filter(([name]) => !specFields.has(name));
  if (more.length > 0) rest['spec'] = Object.fromEntries(more);
  for (const field of plainFields) {
    const value = agent[field];
    if (value !== asMade[field] && !(Array.isArray(value) && value.length === 0)) rest[field] = value;
  }
  if (result && result.value === undefined) rest['result'] = result;
  if (retryAt !== undefined) rest['retryAt'] = retryAt === Infinity ? null : retryAt;
  if (awaitedIds) rest['awaitedIds'] = [...awaitedIds];
  if (replies) rest['replies'] = [...replies];
  if (calls) rest['calls'] = [...calls.values()];
  if (spec.budget && !hasEnded(agent)) rest['used'] = agent.account.used;
  return Object.keys(rest).length > 0 ? rest : undefined;
}

/** Whether the agent has done its work in one step that used nothing: most of ten thousand have, and need no closer look. */
function isPlainEnd({ status, spec, step, attempt, tokens, cost, revision, cites, result }: AgentState): boolean {
  if (status !== 'done' || step !== 1 || attempt !== 1 || tokens !== 0 || cost !== 0 || revision !== 0) return false;
  if (cites !== undefined || result?.value === undefined) return false;
  for (const field in spec) if (!specFields.has(field)) return false;
  return true;
}
