/** Begins a plan and waits for its outcome. */

import type { Principal } from '../../base/principal.ts';
import type { PlanOutcome } from '../view/plan-outcome.ts';
import type { OpenPlanner } from '../planner.ts';

/** A plan to run, and its principal. */
interface RunToOutcome {
  readonly request: unknown;
  readonly principal: Principal;
  readonly signal?: AbortSignal;
  readonly idempotencyKey?: string;
}

/** Gives how the plan has ended, or that it is suspended. An abort cancels it. */
export async function runToOutcome(
  planner: Pick<OpenPlanner, 'start' | 'cancel' | 'outcome'>,
  { request, principal, signal, ...rest }: RunToOutcome,
): Promise<PlanOutcome> {
  const { planId } = await planner.start(request, principal, { ...rest, ...(signal && { signal }) });
  const abort = (): void => void planner.cancel(planId, principal, { reason: 'aborted' }).catch(() => undefined);
  signal?.addEventListener('abort', abort, { once: true });
  if (signal?.aborted) abort();
  try {
    return await planner.outcome(planId, principal);
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}
