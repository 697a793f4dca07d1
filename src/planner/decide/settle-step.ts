/** Turns the outcome of an activity into events. */

import * as v from 'valibot';
import { type ErrorData, toData } from '../../base/errors.ts';
import { canonicalJson } from '../../base/json.ts';
import { parse } from '../../base/parse.ts';
import { Action, type Retry, WaitFor } from '../model/action.ts';
import { carryOut, outcomeOf } from './actions.ts';
import { type Draft, nextAskId } from './draft.ts';
import { end, fail } from './ending.ts';
import { failure } from '../model/failure.ts';
import type { ActionOutcome, CallSpec, Waiting } from '../model/plan-event.ts';
import { type Activity, type AgentState, childOf, stepId } from '../model/plan-state.ts';
import type { StepOutcome, Usage } from '../host/run-agent.ts';

/** What is known when an activity has ended. */
export interface Settled {
  readonly outcome: StepOutcome;
  /** How many items of the inbox it was given. */
  readonly seen: number;
  /** Actions that the agent may not do, by their place, each with the reason. */
  readonly denied: ReadonlyMap<number, string>;
}

/** Records what became of an activity whose agent lives. */
export function settleActivity(draft: Draft, activity: Activity, { outcome, seen, denied }: Settled): void {
  const { agent, call } = activity;
  const { usage } = outcome;
  if (outcome.type === 'failed') return failActivity(draft, activity, { error: outcome.error, usage });
  if (call && outcome.type === 'output') {
    draft.add({ type: 'call.done', step: activity.id, output: outcome.output ?? null, ...(usage && { usage }) });
    return;
  }
  if (call || outcome.type === 'output') return failActivity(draft, activity, { error: wrongOutcome(activity), usage });
  if (outcome.type === 'done') {
    const { result = null, cites } = outcome;
    const facts = { type: 'agent.done' as const, at: draft.at, id: agent.id, result };
    return end(draft, agent, cites || usage ? { ...facts, ...(cites && { cites }), ...(usage && { usage }) } : facts);
  }
  try {
    const actions = parse(Actions, outcome.actions ?? [], { what: 'the actions of a step' });
    const wait = parse(Wait, outcome.wait, { what: 'what a step waits for' });
    goOn(draft, agent, { actions, wait, seen, denied, memory: outcome.memory, usage });
  } catch (error) {
    failActivity(draft, activity, { error: toData(error), usage });
  }
}

const Actions = v.pipe(v.array(Action), v.maxLength(20_000));
const Wait = v.optional(WaitFor);

interface Next {
  readonly actions: readonly Action[];
  readonly wait: WaitFor | undefined;
  readonly seen: number;
  readonly denied: ReadonlyMap<number, string>;
  readonly memory: unknown;
  readonly usage: Usage | undefined;
}

function goOn(draft: Draft, agent: AgentState, { actions, wait, seen, denied, memory, usage }: Next): void {
  const digest = digestOf(actions, seen);
  const isStalled = digest !== undefined && digest === agent.digest && agent.repeats + 1 >= draft.settings.stallAfter;
  const { outcomes, calls } = isStalled ? refuseAll(actions) : carryOutAll(draft, agent, { actions, denied });
  const facts = { seen, wait: toWaiting(draft, agent, wait), outcomes, calls, ...(digest !== undefined && { digest }) };
  const step = stepId(agent);
  if (isStalled) stall(draft, agent); // before the step ends: a question must keep the agent from its next
  draft.add({ type: 'step.done', step, ...facts, ...(memory !== undefined && { memory }), ...(usage && { usage }) });
}

function carryOutAll(
  draft: Draft,
  agent: AgentState,
  { actions, denied }: Pick<Next, 'actions' | 'denied'>,
): { readonly outcomes: ActionOutcome[]; readonly calls: CallSpec[] } {
  const outcomes: ActionOutcome[] = [];
  const calls: CallSpec[] = [];
  actions.forEach((action, index) => {
    const reason = denied.get(index);
    const done = reason === undefined
      ? carryOut(draft, agent, { action, index, calls: calls.length })
      : refused(reason);
    if (done && 'call' in done) calls.push(done.call);
    const outcome = outcomeOf(action, done);
    if (outcome) outcomes.push(outcome);
  });
  return { outcomes, calls };
}

function refused(reason: string): { readonly error: ErrorData } {
  return { error: failure('forbidden', `Cannot create a sub-agent: ${reason}`, { reason: 'denied' }) };
}

function refuseAll(actions: readonly Action[]): { readonly outcomes: ActionOutcome[]; readonly calls: CallSpec[] } {
  const error = failure('conflict', 'Cannot do the same once more: it has led nowhere; plan anew', {
    reason: 'stalled',
  });
  return { outcomes: actions.flatMap((action) => outcomeOf(action, { error }) ?? []), calls: [] };
}

/** An agent that repeats itself first receives a notice, then a person receives a question, then it fails. */
function stall(draft: Draft, agent: AgentState): void {
  const reason = 'repeated';
  const before = agent.stalls;
  draft.add({ type: 'stall.found', agent: agent.id, reason });
  if (before === 1 && draft.settings.allowHuman) {
    draft.add({
      type: 'ask.opened',
      ask: nextAskId(draft.state),
      agent: agent.id,
      kind: 'question',
      question: `Agent ${agent.id} repeats itself without progress. What should it do?`,
      expiresAt: draft.at + draft.settings.askMs,
      onTimeout: 'fail',
    });
  } else if (before > 0) {
    fail(draft, agent, failure('budget_exceeded', 'The agent made no progress', { reason: 'stalled' }));
  }
}

function toWaiting(draft: Draft, agent: AgentState, wait: WaitFor | undefined): Waiting {
  if (!wait || wait.mode === 'none') return { mode: wait?.mode ?? 'all' };
  const until = wait.timeoutMs === undefined ? {} : { until: draft.at + wait.timeoutMs };
  if (wait.mode === 'message' || !wait.of) return { mode: wait.mode, ...until };
  return { mode: wait.mode, of: wait.of.flatMap((name) => childOf(draft.state, agent, name)?.id ?? []), ...until };
}

/** The digest of the request. A step without actions that received something new is no repetition. */
function digestOf(actions: readonly Action[], seen: number): string | undefined {
  if (actions.length === 0 && seen > 0) return undefined;
  if (actions.some(({ type }) => type === 'send' || type === 'ask_human')) return undefined; // answers are progress
  const text = canonicalJson(actions.map((action) => ({ ...action, callId: undefined })));
  let [a, b] = [0xdeadbeef, 0x41c6ce57];
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    a = Math.imul(a ^ code, 2_654_435_761);
    b = Math.imul(b ^ code, 1_597_334_677);
  }
  return (a >>> 0).toString(36) + (b >>> 0).toString(36);
}

/** Records a failed activity: it is tried again when that may help and is allowed, otherwise it ends its call or agent. */
export function failActivity(
  draft: Draft,
  activity: Activity,
  { error, usage }: { readonly error: ErrorData; readonly usage?: Usage | undefined },
): void {
  const { agent, call, id } = activity;
  const { attempt } = call ?? agent;
  const retry = call ? call.spec.retry : agent.spec.retry;
  draft.add({ type: 'step.failed', step: id, error, attempt, ...(usage && { usage }) });
  if (retry && error.retryable && attempt < retry.attempts) {
    draft.add({ type: 'timer.set', step: id, dueAt: draft.at + backoffMs(retry, attempt, error) });
  } else if (!call) {
    fail(draft, agent, error);
  }
}

const longestBackoffMs = 3_600_000;

function backoffMs(retry: Retry, attempt: number, { retryAfterMs = 0 }: ErrorData): number {
  return Math.max(retryAfterMs, Math.min(longestBackoffMs, retry.backoffMs * 2 ** (attempt - 1)));
}

function wrongOutcome({ call }: Activity): ErrorData {
  const wanted = call ? '"output" or "failed"' : '"done", "next" or "failed"';
  return failure('internal', `Cannot use the outcome of an activity: it must be ${wanted}`, {
    reason: 'wrong_outcome',
  });
}
