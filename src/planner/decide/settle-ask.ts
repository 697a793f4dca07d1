/** Turns answers of people, and their absence, into events. */

import { failActivity } from './settle-step.ts';
import { humanRequired } from './actions.ts';
import { type Draft, nextAskId } from './draft.ts';
import { end, fail } from './ending.ts';
import { failure } from '../model/failure.ts';
import type { AskFacts } from '../model/plan-event.ts';
import type { Activity } from '../model/plan-state.ts';
import { agentOfStep, type PlanState } from '../model/plan-state.ts';
import { decisionOf, isApproval } from '../fold/reduce-ask.ts';

/** Records an answer to an open question; one to a closed question changes nothing. */
export function settleAnswer(draft: Draft, askId: string, { by, answer }: { by: string; answer: unknown }): void {
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
export function settleUnanswered(draft: Draft, ask: AskFacts): void {
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
export const lostSchema = {
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
