/** Pausing, resuming and cancelling plans as everything that changes something is done: the hook is asked, the audit written. */

import { type ErrorData, toData } from '../../base/errors.ts';
import { type Emit, unobserved } from '../../events/events.ts';
import { guarded, type Guards } from '../../permission/guarded.ts';
import type { SummaryValue } from '../../contracts/span.ts';
import type { Principal } from '../../base/principal.ts';
import type { Storage } from '../../contracts/storage.ts';
import { type SpanContext, type SpanEvent, statusOfError, traceAt } from '../../events/span.ts';
import { requireScope } from './inbound.ts';
import { isOver, readPlan } from '../journal/plan-record.ts';
import type { Planner } from '../planner.ts';
import { runToOutcome } from './run-to-outcome.ts';
import { spanIdOf } from '../model/span-id.ts';

/** Who is asked, who writes, and who is told. */
export interface GuardPlannerOptions extends Guards {
  /** The planner's. */
  readonly storage: Storage;
  readonly emit?: Emit;
  readonly now: () => number;
}

/** What is done with a plan. */
interface Steering {
  readonly how: 'pause' | 'resume' | 'cancel';
  readonly planId: string;
  readonly principal: Principal;
  /** What it says besides; the audit has it as far as it is no text of the caller's. */
  readonly input?: Readonly<Record<string, unknown>>;
  readonly payload?: Readonly<Record<string, SummaryValue>>;
}

/**
 * Gives the planner whose `pause`, `resume` and `cancel` (of `run` too) are the actions `plan.pause`, `plan.resume` and
 * `plan.cancel`. They reject as the planner's do, and as `guarded`. A plan that has ended is left alone: nobody is asked.
 */
export function guardPlanner(planner: Planner, options: GuardPlannerOptions): Planner {
  const { storage, emit = unobserved, now } = options;
  const steer = async (
    { how, planId, principal, input = {}, payload = {} }: Steering,
    work: () => Promise<void>,
  ): Promise<void> => {
    const { tenant, subject } = requireScope(principal, 'run:cancel');
    const { state } = await readPlan(storage, planId, tenant);
    if (isOver(state)) return;
    const actor = { type: 'user', id: subject } as const;
    const around = { traceId: state.traceId, parentSpanId: spanIdOf(planId, ''), tenant, actor };
    const place = traceAt(around, { emit, now });
    const facts = { action: `plan.${how}`, target: { type: 'plan', id: planId }, payload };
    const deed = { ...facts, actor, principal, place, context: { input }, attempt: `Cannot ${how} the plan` };
    await guarded(deed, options, () => telling(work, { place, facts, now }));
  };
  const guardedPlanner: Planner = {
    ...planner,
    pause: (planId, principal) => steer({ how: 'pause', planId, principal }, () => planner.pause(planId, principal)),
    resume: (planId, principal) => steer({ how: 'resume', planId, principal }, () => planner.resume(planId, principal)),
    cancel: (planId, principal, cancelling = {}) =>
      steer(
        { how: 'cancel', planId, principal, input: { ...cancelling }, payload: { address: cancelling.address ?? '1' } },
        () => planner.cancel(planId, principal, cancelling),
      ),
    run: (request, principal, given) => runToOutcome(guardedPlanner, { ...given, request, principal }),
  };
  return guardedPlanner;
}

/** Once, afterwards: the plan may end before its cancellation has. */
async function telling(
  work: () => Promise<void>,
  { place, facts, now }: {
    readonly place: SpanContext;
    readonly facts: Pick<SpanEvent, 'action' | 'target' | 'payload'>;
    readonly now: () => number;
  },
): Promise<void> {
  const startedAt = now();
  const tell = (error: ErrorData | null): void =>
    place.emit({
      ...facts,
      status: error ? statusOfError(error) : 'ok',
      error,
      latency: Math.max(0, now() - startedAt),
    });
  try {
    await work();
    tell(null);
  } catch (thrown) {
    tell(toData(thrown));
    throw thrown;
  }
}
