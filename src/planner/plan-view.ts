/** A plan as people see it: the data of `data-plan` parts, a projection of the journal. */

import type { PlanTaskView, PlanView } from './planner.ts';
import { type ErrorData, PinnaceError } from '../base/errors.ts';
import type { Storage } from '../contracts/storage.ts';
import { type AgentState, hasEnded, livingAgents, planDeadlineAt, type PlanState, rootOf } from './plan-state.ts';
import type { AskFacts } from './plan-event.ts';
import type { PlanHead } from './plan-record.ts';
import { readState } from './snapshots.ts';

/** The most that a view takes, in bytes of JSON. */
const mostViewBytes = 65_536;

/** Gives the view of a state; `undefined` before the plan has begun. */
export function viewOf(
  state: PlanState,
  { seq, isSuspended = false }: { seq: number; isSuspended?: boolean },
): PlanView | undefined {
  const { created, phase, account, currency, asks } = state;
  const root = rootOf(state);
  if (!created || !root) return undefined;
  const view: PlanView = {
    planId: created.planId,
    traceId: created.terms.traceId,
    state: isSuspended && phase === 'running' ? 'suspended' : phase,
    paused: state.paused,
    goal: cut(created.terms.goal, 1000),
    seq,
    revision: root.revision,
    outline: root.outline.slice(0, 50).map((line) => cut(line, 200)),
    facts: root.facts.slice(0, 50).map((line) => cut(line, 200)),
    counts: countsOf(state),
    tasks: [],
    omitted: 0,
    questions: questionsOf(asks.values()),
    used: { ...account.used },
    ...(typeof currency === 'string' && { currency }),
    deadlineAt: planDeadlineAt(state),
  };
  const tasks = fitting(state, mostViewBytes - bytesOf(view) - 64);
  return { ...view, tasks, omitted: state.agents.size - tasks.length };
}

/** The most that questions take of a view, in bytes of JSON. */
const mostQuestionBytes = 49_152;

/** As many questions as fit. The facts of an approval are never cut: what a person does not see, that person cannot decide on. */
function questionsOf(asks: Iterable<AskFacts>): PlanView['questions'] {
  let left = mostQuestionBytes;
  return [...asks].slice(0, 10).map(({ schema: _, ...ask }) => {
    return ask.kind === 'approval' ? ask : { ...ask, question: cut(ask.question, 1000) };
  }).filter((ask) => (left -= bytesOf(ask)) >= 0);
}

function countsOf({ agents }: PlanState): Record<AgentState['status'], number> {
  const counts = { waiting: 0, ready: 0, done: 0, failed: 0, cancelled: 0 };
  for (const { status } of agents.values()) counts[status]++;
  return counts;
}

/** The tasks that fit, in the order of creation: those that live, then those that ended last. */
function fitting({ agents }: PlanState, bytes: number): readonly PlanTaskView[] {
  const chosen: AgentState[] = [];
  let left = bytes;
  const ended = [...agents.values()].filter(hasEnded).toSorted((a, b) => (b.endedAt ?? 0) - (a.endedAt ?? 0));
  for (const agent of [...livingAgents({ agents }), ...ended]) {
    left -= bytesOf(taskOf(agent)) + 1;
    if (left < 0) break;
    chosen.push(agent);
  }
  return chosen.toSorted((a, b) => a.order - b.order).map(taskOf);
}

function taskOf({ id, spec, status, attempt, startedAt, endedAt, tokens, cost, error }: AgentState): PlanTaskView {
  return {
    address: id,
    ...(spec.key !== undefined && { key: spec.key }),
    goal: cut(spec.goal, 200),
    ...(spec.agentId !== undefined && { agentId: spec.agentId }),
    ...(spec.role !== undefined && { role: spec.role }),
    status,
    after: (spec.after ?? []).slice(0, 20),
    attempt,
    startedAt,
    ...(endedAt !== undefined && { endedAt }),
    ...((tokens > 0 || cost > 0) && { used: { tokens, cost } }),
    ...(error && { error: errorOf(error) }),
  };
}

function errorOf({ code, retryable, retryAfterMs }: ErrorData): NonNullable<PlanTaskView['error']> {
  return { code, retryable, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1).toWellFormed()}…` : text;
}

function bytesOf(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value)).length;
}

/** Returns the current view of a plan that was found. */
export async function readView(storage: Storage, planId: string, { status }: PlanHead): Promise<PlanView> {
  const { state, seq } = await readState(storage, planId);
  const view = viewOf(state, { seq, isSuspended: status === 'waiting' });
  if (!view) throw new PinnaceError('internal', 'Cannot show the plan: its journal has no first event');
  return view;
}

/** Returns the open questions of a plan that was found. */
export async function openQuestions(storage: Storage, planId: string): Promise<readonly AskFacts[]> {
  const open = await storage.list({ prefix: ['plan', planId, 'ask'], limit: 100 });
  return open.map(({ value }) => value as AskFacts); // written with the events
}
