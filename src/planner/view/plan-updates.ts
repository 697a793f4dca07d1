/** Follows a plan from any instance: yields what its journal records. */

import type { Principal } from '../../base/principal.ts';
import type { FollowOptions, PlanCallFacts, PlanEnd } from '../../contracts/plans.ts';
import type { Storage, Watchable } from '../../contracts/storage.ts';
import { headKey } from '../../log/journal-record.ts';
import { createNews, type News, watchKey } from '../../log/news.ts';
import { reduce } from '../fold/reduce.ts';
import { planPrefix, readPlan, readPlanEvents } from '../journal/plan-record.ts';
import { readState } from '../journal/read-state.ts';
import { type PlanOutcome, readOutcome } from './plan-outcome.ts';
import { type PlanView, viewOf } from './plan-view.ts';
import { callsLeftOpen } from './unknown-calls.ts';

/** The most views per second. */
const viewsPerSecond = 4;

/** The plan to follow. */
export interface FollowedPlanOptions extends FollowOptions {
  readonly storage: Storage & Partial<Watchable>;
  readonly planId: string;
  readonly principal: Principal;
}

/** A change of the plan, or its end. */
export type PlanStep =
  | { readonly type: 'view'; readonly view: PlanView }
  | { readonly type: 'end'; readonly end: PlanEnd };

/** Yields the plan with every change, at most four times a second, then its end. After an abort it yields nothing more. */
export async function* followPlan(options: FollowedPlanOptions): AsyncGenerator<PlanStep, void> {
  const { storage, planId, principal, signal = new AbortController().signal } = options;
  const following = { ...options, signal };
  const unknownCalls: PlanCallFacts[] = [];
  const news = createNews((onNews) => watchKey(storage, headKey(planPrefix(planId)), onNews), signal);
  try {
    yield* views(following, { news, unknownCalls });
    if (signal.aborted) return;
    const outcome = await readOutcome({ storage, planId, principal, signal, live: () => undefined });
    yield { type: 'end', end: toEnd(outcome, unknownCalls) };
  } finally {
    news.stop();
  }
}

type Following = FollowedPlanOptions & { readonly signal: AbortSignal };

/** Yields views until the plan has ended or is suspended. */
async function* views(
  { storage, planId, principal, signal, throughWaits = false }: Following,
  { news, unknownCalls }: { readonly news: News; readonly unknownCalls: PlanCallFacts[] },
): AsyncGenerator<PlanStep, void> {
  const read = await readState(storage, planId);
  const { state } = read;
  let shown = -1;
  for (let { seq } = read; !signal.aborted;) {
    const { seq: last, state: { status } } = await readPlan(storage, planId, principal);
    while (seq < last) {
      const page = await readPlanEvents(storage, planId, seq);
      for (const { event } of page) {
        unknownCalls.push(...callsLeftOpen(state, event)); // before the event removes them from the state
        reduce(state, event);
      }
      state.fresh = [];
      seq = page.at(-1)?.seq ?? last;
    }
    const isLast = status !== 'running' && !(throughWaits && status === 'waiting');
    const view = seq === shown && !isLast ? undefined : viewOf(state, { seq, isSuspended: status === 'waiting' });
    if (view) yield { type: 'view', view };
    shown = seq;
    if (isLast) return;
    await pause(1000 / viewsPerSecond, signal);
    await news.next();
  }
}

function toEnd(outcome: PlanOutcome, unknownCalls: readonly PlanCallFacts[]): PlanEnd {
  switch (outcome.state) {
    case 'done': {
      const { result, cites } = outcome;
      const text = typeof result === 'string' ? result : JSON.stringify(result);
      return { state: 'completed', text, cites: cites.slice(0, 1000) };
    }
    case 'suspended':
      return { state: 'suspended' };
    case 'cancelled':
      return { state: 'cancelled', reason: outcome.reason, unknownCalls };
    case 'failed':
      return { state: 'failed', error: outcome.error, unknownCalls };
    default:
      return outcome satisfies never;
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(end, ms);
    function end(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    }
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
  });
}
