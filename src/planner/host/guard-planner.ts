/** Guards a planner: pausing, resuming, cancelling and replying need a permission and are recorded in the audit. */

import { type ErrorData, toData } from '../../base/errors.ts';
import type { Principal } from '../../base/principal.ts';
import type { SpanContext, SpanEvent, SummaryValue } from '../../contracts/span.ts';
import type { Storage } from '../../contracts/storage.ts';
import type { Emit } from '../../events/events.ts';
import { statusOfError, traceAt } from '../../events/span.ts';
import { createTraceId } from '../../events/trace-ids.ts';
import { decide } from '../../permission/decide.ts';
import { guarded, type Guards } from '../../permission/guarded.ts';
import { isOver, readPlan } from '../journal/plan-record.ts';
import { spanIdOf } from '../model/span-id.ts';
import type { OpenPlanner } from '../planner.ts';
import { requireScope } from '../../base/principal.ts';
import { runToOutcome } from './run-to-outcome.ts';

/** The permission hook, the audit, and where events are emitted. */
export interface GuardPlannerOptions extends Guards {
  /** The planner's. */
  readonly storage: Storage;
  readonly emit: Emit;
  readonly now: () => number;
}

/**
 * Returns the planner with its guards: `pause`, `resume` and `cancel` (of `run` too) are the actions `plan.pause`, `plan.resume` and
 * `plan.cancel`; `reply` is `approval.decide`. They reject as the planner's do, and as `guarded` does. A plan that has ended is left
 * alone, without a question to the hook.
 */
export function guardPlanner(planner: OpenPlanner, options: GuardPlannerOptions): OpenPlanner {
  const guardedPlanner: OpenPlanner = {
    ...planner,
    pause: (planId, principal) =>
      steer({ how: 'pause', planId, principal }, options, () => planner.pause(planId, principal)),
    resume: (planId, principal) =>
      steer({ how: 'resume', planId, principal }, options, () => planner.resume(planId, principal)),
    cancel(planId, principal, cancelling = {}) {
      const facts = { input: { ...cancelling }, payload: { address: cancelling.address ?? '1' } };
      const work = (): Promise<void> => planner.cancel(planId, principal, cancelling);
      return steer({ how: 'cancel', planId, principal, ...facts }, options, work);
    },
    async reply(planId, principal, reply) {
      const plan = await planner.view(planId, principal).catch(() => undefined); // the work rejects with the cause
      const { traceId = createTraceId() } = plan ?? {};
      const { askId: id, answer } = reply;
      const decision = { principal, traceId, id, input: { planId, answer }, payload: { planId: plan && planId } };
      return await decide(decision, options, () => planner.reply(planId, principal, reply));
    },
    run: (request, principal, given) => runToOutcome(guardedPlanner, { ...given, request, principal }),
  };
  return guardedPlanner;
}

/** A change of a running plan. */
interface Steering {
  readonly how: 'pause' | 'resume' | 'cancel';
  readonly planId: string;
  readonly principal: Principal;
  /** Further facts for the hook. The audit records them without texts of the caller. */
  readonly input?: Readonly<Record<string, unknown>>;
  readonly payload?: Readonly<Record<string, SummaryValue>>;
}

async function steer(
  { how, planId, principal, input = {}, payload = {} }: Steering,
  options: GuardPlannerOptions,
  work: () => Promise<void>,
): Promise<void> {
  const { storage, emit, now } = options;
  requireScope(principal, 'run:cancel');
  const { tenant, subject } = principal;
  const { state } = await readPlan(storage, planId, tenant);
  if (isOver(state)) return;
  const actor = { type: 'user', id: subject } as const;
  const around = { traceId: state.traceId, parentSpanId: spanIdOf(planId, ''), tenant, actor };
  const spanContext = traceAt(around, { emit, now });
  const facts = { action: `plan.${how}`, target: { type: 'plan', id: planId }, payload };
  const effect = { ...facts, actor, principal, spanContext, context: { input } };
  await guarded(
    { ...effect, attempt: `Cannot ${how} the plan` },
    options,
    () => emitting(work, { spanContext, facts, now }),
  );
}

/** Emits the outcome afterwards, once: the plan may end before its cancellation does. */
async function emitting(
  work: () => Promise<void>,
  { spanContext, facts, now }: {
    readonly spanContext: SpanContext;
    readonly facts: Pick<SpanEvent, 'action' | 'target' | 'payload'>;
    readonly now: () => number;
  },
): Promise<void> {
  const startedAt = now();
  const emitEnd = (error: ErrorData | null): void =>
    spanContext.emit({
      ...facts,
      status: error ? statusOfError(error) : 'ok',
      error,
      latency: Math.max(0, now() - startedAt),
    });
  try {
    await work();
    emitEnd(null);
  } catch (thrown) {
    emitEnd(toData(thrown));
    throw thrown;
  }
}
