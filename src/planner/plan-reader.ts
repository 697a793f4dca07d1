/** Follows a plan from any instance: yields what its journal records. */

import type { PlanOutcome, PlanStep, PlanView } from './planner.ts';
import type { Principal } from '../base/principal.ts';
import type { UIMessageChunk } from '../contracts/ai-types.ts';
import type { FollowOptions, PlanCallFacts, PlanEnd } from '../contracts/plans.ts';
import type { Storage, Watchable } from '../contracts/storage.ts';
import type { Label } from '../permission/label.ts';
import { headKey } from '../log/journal-record.ts';
import { createNews, type News, watchKey } from '../log/bulletin.ts';
import type { LivePlan, Release } from './live-plan.ts';
import { type PlanHead, planPrefix, readPlan, readPlanEvents, readValue } from './plan-record.ts';
import { type PlanEvent, refOf } from './plan-event.ts';
import { createPlanState, type PlanState } from './plan-state.ts';
import { openQuestions, viewOf } from './plan-view.ts';
import { reduce } from './reduce.ts';
import { readState } from './snapshots.ts';

/** The most views per second. */
const viewsPerSecond = 4;

/** The plan to follow. */
interface FollowedPlanOptions extends FollowOptions {
  readonly storage: Storage & Partial<Watchable>;
  readonly planId: string;
  readonly principal: Principal;
}

/** Yields the plan with every change, at most four times a second, then its end. After an abort it yields nothing more. */
export async function* followPlan(options: FollowedPlanOptions): AsyncGenerator<PlanStep, void> {
  const { storage, planId, principal, signal = new AbortController().signal } = options;
  const following = { ...options, signal };
  const unknownCalls: PlanCallFacts[] = [];
  const news = createNews((onNews) => watchKey(storage, headKey(planPrefix(planId)), onNews), signal);
  try {
    const read = yield* views(following, { news, unknownCalls });
    if (signal.aborted) return;
    const outcome = await readOutcome({ storage, planId, principal, signal, live: () => undefined });
    yield { type: 'end', end: toEnd(outcome, unknownCalls), read };
  } finally {
    news.stop();
  }
}

type Following = FollowedPlanOptions & { readonly signal: AbortSignal };

/** Yields the plan as it began, however late its reader comes, then views until it has ended or is suspended. */
async function* views(
  { storage, planId, principal, signal, throughWaits = false }: Following,
  { news, unknownCalls }: { readonly news: News; readonly unknownCalls: PlanCallFacts[] },
): AsyncGenerator<PlanStep, Label> {
  const read = await readState(storage, planId);
  const { state } = read;
  let shown = -1;
  for (let { seq } = read; !signal.aborted;) {
    const { seq: last, state: { status } } = await readPlan(storage, planId, principal);
    const first = shown < 0 ? await firstView(storage, planId) : undefined;
    if (first) yield { type: 'view', view: first };
    shown = first?.seq ?? shown;
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
    if (isLast) break;
    await pause(1000 / viewsPerSecond, signal);
    await news.next();
  }
  return state.read;
}

/** The plan as it began. A reader who comes late sees it too, so that it has a history. */
async function firstView(storage: Storage, planId: string): Promise<PlanView | undefined> {
  const state = createPlanState();
  for (const { seq, event } of await readPlanEvents(storage, planId, 0)) {
    reduce(state, event);
    const view = viewOf(state, { seq });
    if (view) return view;
  }
  return undefined;
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

/** The plan to stream. */
interface StreamedPlanOptions extends FollowedPlanOptions {
  /** Finds it for its reader. */
  readonly find: () => Promise<PlanHead>;
}

/**
 * Returns the chunks: `data-run`, then `data-plan` with every change, at most four a second, then the result as text. The last chunk
 * is `finish` for a plan that is done or suspended, `error` for a failed one and `abort` for a cancelled one.
 */
export function streamPlan(options: StreamedPlanOptions): ReadableStream<UIMessageChunk> {
  const stop = new AbortController();
  const chunks = chunksOf({
    ...options,
    signal: options.signal ? AbortSignal.any([options.signal, stop.signal]) : stop.signal,
  });
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: () => stop.abort(),
  }, { highWaterMark: 0 });
}

async function* chunksOf(options: StreamedPlanOptions): AsyncGenerator<UIMessageChunk, void> {
  const { planId } = options;
  const { traceId } = await options.find();
  const facts = { runId: planId, traceId };
  yield { type: 'start', messageId: `msg_${planId.slice(5)}` };
  yield { type: 'data-run', id: planId, data: { ...facts, state: 'running' } };
  for await (const update of followPlan(options)) {
    if (update.type === 'view') yield { type: 'data-plan', id: planId, data: update.view };
    else yield* endChunks(update.end, facts);
  }
}

function* endChunks(
  end: PlanEnd,
  facts: { readonly runId: string; readonly traceId: string },
): Generator<UIMessageChunk, void> {
  const run = (more: object = {}): UIMessageChunk => ({
    type: 'data-run',
    id: facts.runId,
    data: { ...facts, state: end.state, ...more },
  });
  switch (end.state) {
    case 'completed':
      yield { type: 'text-start', id: 'result' };
      yield { type: 'text-delta', id: 'result', delta: end.text };
      yield { type: 'text-end', id: 'result' };
      yield run({ cites: end.cites });
      return yield { type: 'finish', finishReason: 'stop' };
    case 'suspended':
      yield run();
      return yield { type: 'finish', finishReason: 'other' };
    case 'cancelled':
      yield run();
      return yield { type: 'abort', reason: end.reason };
    case 'failed':
      yield run({ error: end.error });
      return yield { type: 'error', errorText: `${end.error.code}: ${end.error.message}` };
    default:
      return end satisfies never;
  }
}

/** Returns the calls that may have acted when this event ends their agent. The state is that before the event. */
function callsLeftOpen(state: PlanState, event: PlanEvent): readonly PlanCallFacts[] {
  if (event.type !== 'agent.cancelled' && event.type !== 'agent.failed') return [];
  const calls = state.agents.get(event.id)?.calls?.values() ?? [];
  return [...calls].filter(({ started }) => started).map(({ id, spec: { tool, input } }) => ({ id, tool, input }));
}

/** Where to look. */
interface OutcomeOptions {
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
