/** The clock of a plan: its deadline moves while the clock pauses for open questions. */

import type { PlanState } from './plan-state.ts';

/** When the plan is over, in milliseconds since 1970; of one that has not begun, never. */
export function planDeadlineAt({ created, askedSince, askedMs }: PlanState): number {
  if (!created) return Infinity;
  const { deadlineAt, latestAt } = created.terms;
  if (latestAt === undefined) return deadlineAt;
  return askedSince === undefined ? Math.min(deadlineAt + askedMs, latestAt) : latestAt;
}

/** Pauses the clock with the first open question, and resumes it with the last answer. */
export function turnClock(state: PlanState): void {
  const { at, created, asks, askedSince, phase } = state;
  const hasQuestions = asks.size > 0;
  if (created?.terms.latestAt === undefined || phase !== 'running' || hasQuestions === (askedSince !== undefined)) {
    return;
  }
  if (askedSince !== undefined) state.askedMs += at - askedSince;
  state.askedSince = hasQuestions ? at : undefined;
  state.dues.add({ at: planDeadlineAt(state), kind: 'deadline', id: '1' });
}
