/** Inbound items of a plan: stored beside the journal, so that its owner keeps the journal and takes them. */

import { PinnaceError } from '../base/errors.ts';
import { answerInterruption, ownerOfInterruption } from '../permission/interruption.ts';
import { readData } from '../base/json.ts';
import { invalid } from '../base/parse.ts';
import { type Principal, requireScope } from '../base/principal.ts';
import type { Change } from '../contracts/storage.ts';
import { compileJsonSchema } from '../tools/json-schema/json-schema.ts';
import type { LivePlans } from './live-plans.ts';
import type { AskFacts } from './plan-event.ts';
import { askKey, bellKey, type InboundItem, inboundKey, isOver, readPlan } from './plan-record.ts';

/** The changes that put something before a plan. The same id twice is the same thing. */
function inboundChanges({ planId, id, item, ttlMs }: {
  readonly planId: string;
  readonly id: string;
  readonly item: InboundItem;
  readonly ttlMs: number;
}): readonly Change[] {
  return [
    { key: inboundKey(planId, id), value: item, ttlMs },
    { key: bellKey(planId), value: crypto.randomUUID(), ttlMs },
  ];
}

/** Answers a question. The answer and its record are one commit. */
export async function replyToPlan(
  live: LivePlans,
  { planId, principal, askId, answer: given }: {
    readonly planId: string;
    readonly principal: Principal;
    readonly askId: string;
    readonly answer: unknown;
  },
): Promise<'accepted' | 'replayed'> {
  const { storage, limits, now } = live.host;
  requireScope(principal, 'tool:approve');
  const answer = readData(given);
  // An approver answers the question, and does not reach the plan.
  if (!await ownerOfInterruption(principal, { runId: planId, id: askId }, storage)) {
    await readPlan(storage, planId, principal);
  }
  const entry = askId.length > 64 ? undefined : await storage.get(askKey(planId, askId));
  if (entry) await checkAnswer(entry.value as AskFacts, answer); // written with the events
  const ttlMs = limits.retentionMs;
  const item: InboundItem = { type: 'answer', ask: askId, by: principal.subject, answer };
  const result = await answerInterruption(principal, { runId: planId, id: askId }, {
    storage,
    now: now(),
    ttlMs,
    answer,
    changes: inboundChanges({ planId, id: askId, item, ttlMs }),
  });
  await live.bring(planId);
  return result;
}

const approvalSchema = {
  type: 'object',
  properties: { approved: { type: 'boolean' }, reason: { type: 'string', maxLength: 500 } },
  required: ['approved'],
  additionalProperties: false,
};

async function checkAnswer({ kind, schema, options }: AskFacts, answer: unknown): Promise<void> {
  if (options && !options.some((option) => option === answer)) {
    throw invalid('the answer', [{ path: '', message: 'must be one of the options' }]);
  }
  const wanted = kind === 'approval' ? approvalSchema : schema ?? (options ? {} : { type: 'string' });
  const issues = await compileJsonSchema(wanted).inTurns(answer);
  if (issues.length > 0) throw invalid('the answer', issues);
}

/** Cancels a plan, or one agent of it. */
export async function cancelPlan(
  live: LivePlans,
  { planId, principal, address = '1', reason = 'requested' }: {
    readonly planId: string;
    readonly principal: Principal;
    readonly address?: string;
    readonly reason?: string;
  },
): Promise<void> {
  const item: InboundItem = {
    type: 'cancel',
    target: address,
    by: principal.subject,
    reason: reason.slice(0, 500).toWellFormed(),
  };
  await put(live, { planId, principal, item, id: `cancel ${address}` });
}

/** Pauses a plan, or ends its pause. */
export async function pausePlan(
  live: LivePlans,
  { planId, principal, type }: {
    readonly planId: string;
    readonly principal: Principal;
    readonly type: 'pause' | 'resume';
  },
): Promise<void> {
  const id = `pause ${String(live.host.now()).padStart(16, '0')} ${crypto.randomUUID()}`; // taken in the order of time
  await put(live, { planId, principal, item: { type, by: principal.subject }, id });
}

async function put(
  live: LivePlans,
  { planId, principal, item, id }: {
    readonly planId: string;
    readonly principal: Principal;
    readonly item: InboundItem;
    readonly id: string;
  },
): Promise<void> {
  const { storage, limits } = live.host;
  requireScope(principal, 'run:cancel');
  const { state } = await readPlan(storage, planId, principal);
  if (isOver(state)) return;
  const changes = inboundChanges({ planId, id, item, ttlMs: limits.retentionMs });
  const result = await storage.commit(changes);
  if (!result.ok) throw new PinnaceError('internal', 'Cannot bring this to the plan: the storage refused it');
  await live.bring(planId);
}
