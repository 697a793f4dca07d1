/** The planner of a runtime: agents work by the runtime's steps, and changes of plans need a permission. */

import type { GuardPlannerOptions, LoadedPlanner, OpenPlannerOptions, RuntimePlannerOptions } from './planner.ts';
import { type ErrorData, toData } from '../base/errors.ts';
import { type Principal, requireScope } from '../base/principal.ts';
import type { SpanContext, SpanEvent, SummaryValue } from '../contracts/event-sink.ts';
import type { Storage } from '../contracts/storage.ts';
import { actorOf, statusOfError, traceAt } from '../events/span.ts';
import { createTraceId } from '../events/trace-ids.ts';
import { readJournal } from '../log/journal-record.ts';
import { decide } from '../permission/decide.ts';
import { guarded } from '../permission/guarded.ts';
import { editSummary, ownerOfInterruption } from '../permission/interruption.ts';
import { authorizeByHook } from './authorize-create.ts';
import { modelAgent } from './model-agent.ts';
import { openPlanner, runToOutcome } from './open-planner.ts';
import { isOver, type PlanHead, planPrefix, readPlan } from './plan-record.ts';
import { spanIdOf } from './emit-plan.ts';

/** Creates the planner. */
export function openRuntimePlanner({ steps, ...options }: RuntimePlannerOptions): LoadedPlanner {
  const { authorize } = options;
  const planner = openPlanner({
    ...options,
    readAs: readPlanAs(options),
    runAgent: modelAgent(steps),
    authorize: authorize && authorizeByHook(authorize),
  });
  return guardPlanner(planner, options);
}

/**
 * Returns the planner with its guards: `pause`, `resume` and `cancel` (of `run` too) are the actions `plan.pause`, `plan.resume` and
 * `plan.cancel`; `reply` is `approval.decide`. They reject as the planner's do, and as `guarded` does. A plan that has ended is left
 * alone, without a question to the hook.
 */
export function guardPlanner(planner: LoadedPlanner, options: GuardPlannerOptions): LoadedPlanner {
  const guardedPlanner: LoadedPlanner = {
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
      const { askId: id, answer, edited } = reply;
      const asked = await askedIn(options.storage, { planId, id, principal }).catch(() => undefined); // the work rejects with the cause
      const { traceId = createTraceId(), subject } = asked ?? {};
      const facts = {
        input: { planId, answer, ...(edited && { input: edited.input }) },
        payload: { planId: asked && planId, ...(edited && editSummary(edited)) },
      };
      const decision = { principal, traceId, subject, id, ...facts };
      return await decide(decision, options, () => planner.reply(planId, principal, reply));
    },
    run: (request, principal, given) => runToOutcome(guardedPlanner, { ...given, request, principal }),
  };
  return guardedPlanner;
}

/** The plan of a question that the caller may answer, or is told why not. */
async function askedIn(
  storage: Storage,
  { planId, id, principal }: { readonly planId: string; readonly id: string; readonly principal: Principal },
): Promise<PlanHead | undefined> {
  const asked = await ownerOfInterruption(principal, { runId: planId, id }, storage);
  return asked && (await readJournal<PlanHead>(storage, planPrefix(planId)))?.head.state;
}

/** Lets an administrator read the plan of another: asks the hook for `plan.read`, and audits it. */
export function readPlanAs(options: GuardPlannerOptions): NonNullable<OpenPlannerOptions['readAs']> {
  return async (planId, principal, { traceId, tenant, subject }) => {
    const actor = actorOf(principal);
    const spanContext = traceAt({ traceId, parentSpanId: spanIdOf(planId, ''), tenant, actor }, options);
    const facts = { action: 'plan.read', target: { type: 'plan', id: planId } };
    await guarded(
      { ...facts, subject, actor, principal, spanContext, attempt: 'Cannot read the plan' },
      options,
      () => Promise.resolve(spanContext.emit({ ...facts, status: 'ok' })),
    );
  };
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
  const { state } = await readPlan(storage, planId, principal);
  if (isOver(state)) return;
  const { traceId, tenant, subject } = state;
  const actor = actorOf(principal);
  const around = { traceId, parentSpanId: spanIdOf(planId, ''), tenant, actor };
  const spanContext = traceAt(around, { emit, now });
  const facts = { action: `plan.${how}`, target: { type: 'plan', id: planId }, payload };
  const effect = { ...facts, subject, actor, principal, spanContext, context: { input } };
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
