/** The time of a plan: until when it must end, which moves where its clock stands still while a person is asked. */

import type { PlanState } from './plan-state.ts';

/** When the plan is over, in milliseconds since 1970; of one that has not begun, never. */
export function planDeadlineAt({ created, askedSince, askedMs }: PlanState): number {
  if (!created) return Infinity;
  const { deadlineAt, latestAt } = created.terms;
  if (latestAt === undefined) return deadlineAt;
  return askedSince === undefined ? Math.min(deadlineAt + askedMs, latestAt) : latestAt;
}

/** Lets the clock stand still with the first open question, and go on with the last answer. */
export function turnClock(state: PlanState): void {
  const { at, created, asks, askedSince, phase } = state;
  const isAsking = asks.size > 0;
  if (created?.terms.latestAt === undefined || phase !== 'running' || isAsking === (askedSince !== undefined)) return;
  if (askedSince !== undefined) state.askedMs += at - askedSince;
  state.askedSince = isAsking ? at : undefined;
  state.dues.add({ at: planDeadlineAt(state), kind: 'deadline', id: '1' });
}
