/** Turns the outcome of an activity into events. */

import * as v from 'valibot';
import { type ErrorData, toData } from '../base/errors.ts';
import { canonicalJson } from '../base/json.ts';
import { parse } from '../base/parse.ts';
import { covers, type Label, parseLabel } from '../permission/label.ts';
import { Action, type Retry, WaitFor } from './action.ts';
import { askAbout, carryOut, humanRequired, outcomeOf } from './carry-out.ts';
import { cancel, type Draft, end, fail, nextAskId } from './draft.ts';
import { failure } from './failure.ts';
import {
  type Activity,
  agentOfStep,
  type AgentState,
  childOf,
  type Due,
  hasEnded,
  livingAgents,
  planDeadlineAt,
  type PlanState,
  rootOf,
  stepId,
} from './plan-state.ts';
import { type ActionOutcome, type AskFacts, type CallSpec, isApproval, type Waiting } from './plan-event.ts';
import type { InboundItem } from './plan-record.ts';
import { decisionOf } from './reduce.ts';
import type { StepOutcome, Usage } from './run-agent.ts';

/** What is known when an activity has ended. */
interface Settled {
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
  const label = parseLabel(outcome.read);
  const read = covers(draft.state.read, label) ? {} : { read: label };
  if (outcome.type === 'failed') return failActivity(draft, activity, { error: outcome.error, usage, ...read });
  if (call && outcome.type === 'output') {
    const used = usage && { usage };
    draft.add({ type: 'call.done', step: activity.id, output: outcome.output ?? null, read: label, ...used });
    return;
  }
  if (call && outcome.type === 'asks') {
    const { spec: { tool, callId } } = call;
    const asked = askAbout(draft, agent, { tool, step: activity.id, callId, question: outcome.question });
    if ('error' in asked) failActivity(draft, activity, { error: asked.error, usage });
    return;
  }
  if (call || outcome.type === 'output' || outcome.type === 'asks') {
    return failActivity(draft, activity, { error: wrongOutcome(activity), usage });
  }
  if (outcome.type === 'done') {
    const { result = null, cites } = outcome;
    const facts = { type: 'agent.done' as const, at: draft.at, id: agent.id, result, ...read };
    return end(draft, agent, cites || usage ? { ...facts, ...(cites && { cites }), ...(usage && { usage }) } : facts);
  }
  try {
    const actions = parse(Actions, outcome.actions ?? [], { what: 'the actions of a step' });
    const wait = parse(Wait, outcome.wait, { what: 'what a step waits for' });
    goOn(draft, agent, { actions, wait, seen, denied, memory: outcome.memory, usage, ...read });
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
  readonly read?: Label;
}

function goOn(draft: Draft, agent: AgentState, next: Next): void {
  const { actions, wait, seen, denied, memory, usage, read } = next;
  const digest = digestOf(actions, seen);
  const isStalled = digest !== undefined && digest === agent.digest && agent.repeats + 1 >= draft.settings.stallAfter;
  const { outcomes, calls } = isStalled ? refuseAll(actions) : carryOutAll(draft, agent, { actions, denied });
  const facts = { seen, wait: toWaiting(draft, agent, wait), outcomes, calls, ...(digest !== undefined && { digest }) };
  const step = stepId(agent);
  if (isStalled) stall(draft, agent); // before the step ends: a question must keep the agent from its next
  const more = { ...(memory !== undefined && { memory }), ...(usage && { usage }), ...(read && { read }) };
  draft.add({ type: 'step.done', step, ...facts, ...more });
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
  { error, usage, read }: { readonly error: ErrorData; readonly usage?: Usage | undefined; readonly read?: Label },
): void {
  const { agent, call, id } = activity;
  const { attempt } = call ?? agent;
  const retry = call ? call.spec.retry : agent.spec.retry;
  draft.add({ type: 'step.failed', step: id, error, attempt, ...(usage && { usage }), ...(read && { read }) });
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

/** Records an answer to an open question; one to a closed question changes nothing. */
function settleAnswer(draft: Draft, askId: string, { by, answer }: { by: string; answer: unknown }): void {
  const ask = draft.state.asks.get(askId);
  if (!ask) return;
  draft.add({ type: 'ask.answered', ask: askId, by, answer: answer ?? null });
  const activity = activityOf(draft.state, ask);
  if (ask.kind === 'approval' && activity?.call && !isApproval(answer)) {
    const error = failure('forbidden', `Cannot call tool "${activity.call.spec.tool}": a person has refused`, {
      reason: 'denied',
    });
    draft.add({ type: 'step.failed', step: activity.id, error, attempt: activity.call.attempt });
  } else if (ask.kind === 'lost_call' && activity) {
    settleLost(draft, activity, answer);
  }
}

/** Records that a question expired. */
function settleUnanswered(draft: Draft, ask: AskFacts): void {
  const activity = activityOf(draft.state, ask);
  if (ask.kind !== 'question') {
    draft.add({ type: 'ask.expired', ask: ask.ask });
    if (!activity) return;
    if (ask.kind === 'lost_call') return failLost(draft, activity);
    const error = failure('approval_required', 'The call was not approved in time', { reason: 'human_timeout' });
    draft.add({ type: 'step.failed', step: activity.id, error, attempt: 1 });
    return;
  }
  if (typeof ask.onTimeout === 'object') {
    draft.add({ type: 'ask.answered', ask: ask.ask, by: 'timeout', answer: ask.onTimeout.default ?? null });
    return;
  }
  const agent = draft.state.agents.get(ask.agent);
  draft.add({ type: 'ask.expired', ask: ask.ask });
  if (ask.onTimeout === 'fail' && agent) {
    fail(
      draft,
      agent,
      failure('deadline_exceeded', 'The question was not answered in time', { reason: 'human_timeout' }),
    );
  }
}

/** What a person can say of an activity whose outcome is lost. */
const lostSchema = {
  type: 'object',
  properties: { decision: { enum: ['repeat', 'done', 'fail'] }, result: {} },
  required: ['decision'],
  additionalProperties: false,
} as const;

/** Records that an unsafe activity started, and that the process ended before its outcome was recorded. A person decides on a retry. */
export function settleLostStart(draft: Draft, activity: Activity): void {
  if (!draft.settings.allowHuman) return failLost(draft, activity);
  const { agent, call } = activity;
  const what = call ? `the call of tool "${call.spec.tool}"` : 'its work';
  draft.add({
    type: 'ask.opened',
    ask: nextAskId(draft.state),
    agent: agent.id,
    kind: 'lost_call',
    step: activity.id,
    question: `Agent ${agent.id} began ${what}, and the process ended. Find out whether it was done: ` +
      '"repeat" does it again, "done" takes your result, "fail" gives it up.',
    schema: lostSchema,
    expiresAt: draft.at + draft.settings.askMs,
    onTimeout: 'fail',
  });
}

function settleLost(draft: Draft, activity: Activity, answer: unknown): void {
  const decision = decisionOf(answer);
  if (decision === 'repeat') return;
  if (decision !== 'done') return failLost(draft, activity);
  const result: unknown = (answer as { result?: unknown }).result ?? null; // an object, for it has a decision
  if (activity.call) draft.add({ type: 'call.done', step: activity.id, output: result });
  else end(draft, activity.agent, { type: 'agent.done', id: activity.agent.id, result });
}

function failLost(draft: Draft, activity: Activity): void {
  const cause = draft.settings.allowHuman ? undefined : humanRequired('look into it').details;
  const error = failure('outcome_unknown', 'The process ended during the call, so its outcome is unknown');
  failActivity(draft, activity, {
    error: { ...error, details: { reason: 'worker_lost', ...(cause && { needed: cause['reason'] }) } },
  });
}

function activityOf(state: PlanState, { step }: AskFacts): Activity | undefined {
  const agent = step === undefined ? undefined : agentOfStep(state, step);
  return step === undefined || !agent ? undefined : { id: step, agent, call: agent.calls?.get(step), step: agent.step };
}

/** Whether anything still waits for the time. */
export function isValid(state: PlanState, { kind, id, at }: Due): boolean {
  if (kind === 'ask') return state.asks.has(id);
  if (kind === 'retry') {
    const agent = agentOfStep(state, id);
    return agent !== undefined && !hasEnded(agent) &&
      (agent.retryAt === at || agent.calls?.get(id)?.status === 'retry');
  }
  const [address = '', what = ''] = id.split(' ');
  const agent = state.agents.get(address);
  if (!agent || hasEnded(agent)) return false;
  if (kind === 'reply') return agent.replies?.has(what) === true;
  if (kind === 'deadline') return agent.parent !== undefined || at === planDeadlineAt(state);
  return isWaitOf(agent, what);
}

/** Whether the agent waits as this step wanted it to. */
function isWaitOf(agent: AgentState, step: string): boolean {
  return agent.status === 'waiting' && step === `${agent.id}#${agent.step - 1}` &&
    (agent.awaited > 0 || agent.wait.mode === 'message');
}

/** Records what follows from a time that has come, when anything still waits for it. */
export function fireDue(draft: Draft, due: Due): void {
  if (due.kind === 'retry') {
    draft.add({ type: 'timer.fired', step: due.id });
    return;
  }
  if (due.kind === 'ask') {
    const ask = draft.state.asks.get(due.id);
    if (ask) settleUnanswered(draft, ask);
    return;
  }
  const [address = '', what = ''] = due.id.split(' ');
  const agent = draft.state.agents.get(address);
  if (!agent) return;
  if (due.kind === 'deadline') {
    const whose = agent.parent ? 'agent' : 'plan';
    const error = failure('deadline_exceeded', `The time of the ${whose} is over`, { reason: `${whose}_timeout` });
    return fail(draft, agent, { ...error, retryable: false });
  }
  draft.add({ type: 'wait.expired', agent: agent.id, waitedFor: due.kind === 'reply' ? what : 'wait' });
}

/** Records one thing from outside; what is of no use any more changes nothing. */
export function settleInbound(draft: Draft, item: InboundItem): void {
  if (item.type === 'answer') return settleAnswer(draft, item.ask, item);
  if (item.type !== 'cancel') {
    if ((item.type === 'pause') === draft.state.paused) return; // a repeated request
    draft.add({ type: item.type === 'pause' ? 'run.paused' : 'run.resumed', by: item.by });
    return;
  }
  const agent = draft.state.agents.get(item.target);
  if (!agent || hasEnded(agent)) return;
  draft.add({ type: 'cancel.requested', target: item.target, by: item.by, reason: item.reason });
  cancel(draft, agent, item.reason);
}

/** Agents that wait for each other, or for messages without a possible sender, fail: the deepest first. */
export function breakDeadlock(draft: Draft): void {
  const living = livingAgents(draft.state).filter((agent) => agent.open === 0);
  const [agent = rootOf(draft.state)] = living.toSorted((a, b) => b.depth - a.depth || a.order - b.order);
  if (agent) fail(draft, agent, failure('conflict', 'What the agent waits for can never come', { reason: 'deadlock' }));
}
