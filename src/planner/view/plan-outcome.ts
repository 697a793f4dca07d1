/** The outcome of a plan when its run ends: a result, an error, or questions to people. */

import type { Principal } from '../../base/principal.ts';
import { openQuestions } from './read-view.ts';
import type { ErrorData } from '../../base/errors.ts';
import { headKey } from '../../log/journal-record.ts';
import type { Storage, Watchable } from '../../contracts/storage.ts';
import { createNews, type News, watchKey } from '../../log/news.ts';
import type { LivePlan, Release } from '../host/live-plan-options.ts';
import { readValue } from '../journal/outline.ts';
import { type AskFacts, refOf } from '../model/plan-event.ts';
import type { PlanState } from '../model/plan-state.ts';
import { planPrefix, readPlan, readPlanEvents } from '../journal/plan-record.ts';

/** What became of a plan, so far or for good. */
export type PlanOutcome =
  /** `cites` are the addresses of the agents whose work the result rests on. */
  | { readonly planId: string; readonly state: 'done'; readonly result: unknown; readonly cites: readonly string[] }
  | { readonly planId: string; readonly state: 'failed'; readonly error: ErrorData }
  | { readonly planId: string; readonly state: 'cancelled'; readonly reason: string }
  /** Nothing can go on until a question is answered or a time comes. */
  | {
    readonly planId: string;
    readonly state: 'suspended';
    readonly questions: readonly AskFacts[];
    readonly dueAt?: number;
  };

/** Where to look. */
export interface OutcomeOptions {
  readonly storage: Storage & Partial<Watchable>;
  readonly planId: string;
  readonly principal: Principal;
  readonly signal: AbortSignal | undefined;
  /** The plan, where this process has it. */
  readonly live: () => LivePlan | undefined;
}

/** Waits until the plan has ended or is suspended. */
export async function readOutcome(options: OutcomeOptions): Promise<PlanOutcome> {
  const { storage, planId, signal } = options;
  const news = createNews((onNews) => watchKey(storage, headKey(planPrefix(planId)), onNews), signal);
  try {
    return await waitForOutcome(options, news);
  } finally {
    news.stop();
  }
}

/** The news start before the first read, so no change between a read and the next wait is missed. */
async function waitForOutcome(
  { storage, planId, principal, signal, live }: OutcomeOptions,
  news: News,
): Promise<PlanOutcome> {
  for (;;) {
    signal?.throwIfAborted();
    const here = live();
    const release = here && await untilReleased(here, signal);
    if (release === 'suspended') await Promise.resolve(); // it may be claimed again at once
    if (here && release === 'ended') return await endOf(here.state, { storage, planId });
    const { seq, state } = await readPlan(storage, planId, principal);
    if (state.status === 'waiting' && !live()) {
      const questions = await openQuestions(storage, planId);
      return { planId, state: 'suspended', questions, ...(state.dueAt !== undefined && { dueAt: state.dueAt }) };
    }
    if (state.status === 'waiting') continue;
    if (state.status !== 'running') return await readEnd(storage, planId, seq);
    if (!live()) await news.next();
  }
}

function untilReleased({ released }: LivePlan, signal: AbortSignal | undefined): Promise<Release | undefined> {
  return signal ? Promise.race([released, aborted(signal)]) : released;
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(undefined), { once: true }));
}

/** The end of a plan that this process has committed. */
async function endOf(
  { phase, result, cites, error, reason = '' }: PlanState,
  { storage, planId }: Pick<OutcomeOptions, 'storage' | 'planId'>,
): Promise<PlanOutcome> {
  if (phase === 'failed' && error) return { planId, state: 'failed', error };
  if (phase !== 'done') return { planId, state: 'cancelled', reason };
  const value = result?.ref ? await readValue(storage, planId, result.ref) : structuredClone(result?.value);
  return { planId, state: 'done', result: value, cites };
}

async function readEnd(storage: Storage, planId: string, seq: number): Promise<PlanOutcome> {
  const [last] = await readPlanEvents(storage, planId, seq - 1);
  const event = last?.event;
  if (event?.type === 'run.done') {
    const ref = refOf(event, 'result');
    const result = ref ? await readValue(storage, planId, ref) : event.result;
    return { planId, state: 'done', result, cites: event.cites };
  }
  if (event?.type === 'run.failed') return { planId, state: 'failed', error: event.error };
  return { planId, state: 'cancelled', reason: event?.type === 'run.cancelled' ? event.reason : '' };
}
