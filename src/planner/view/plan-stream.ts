/** A plan as a stream of UI message chunks, from whichever instance: what its journal says, as it comes to be on record. */

import type { UIMessageChunk } from '../../contracts/ai-types.ts';
import { headKey } from '../../log/journal-record.ts';
import type { Storage, Watchable } from '../../contracts/storage.ts';
import { watchKey } from '../../log/news.ts';
import { type PlanOutcome, readOutcome } from './plan-outcome.ts';
import { planPrefix, readPlan, readPlanEvents } from '../journal/plan-record.ts';
import { viewOf } from './plan-view.ts';
import { readState } from '../journal/read-state.ts';
import { reduce } from '../fold/reduce.ts';

/** At most so often a second is the plan shown. */
const viewsPerSecond = 4;

/** What a stream is read from. */
export interface PlanStreamOptions {
  readonly storage: Storage & Partial<Watchable>;
  readonly planId: string;
  readonly tenant: string;
  /** Goes on while the plan is suspended: somebody waits for its end. */
  readonly throughWaits?: boolean | undefined;
  /** Ends the stream, not the plan. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Gives the chunks: `data-run`, then `data-plan` with every change, at most four a second, then the result as text. It ends once:
 * with `finish` when the plan is done or suspended, with `error` or `abort` when it has failed or was cancelled.
 */
export function streamPlan(options: PlanStreamOptions): ReadableStream<UIMessageChunk> {
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

async function* chunksOf(
  options: PlanStreamOptions & { readonly signal: AbortSignal },
): AsyncGenerator<UIMessageChunk, void> {
  const { storage, planId, tenant, signal } = options;
  const { state: { traceId } } = await readPlan(storage, planId, tenant);
  const facts = { runId: planId, traceId };
  yield { type: 'start', messageId: `msg_${planId.slice(5)}` };
  yield { type: 'data-run', id: planId, data: { ...facts, state: 'running' } };
  const news = createNews(options);
  try {
    yield* views(options, news);
  } finally {
    news.stop();
  }
  if (signal.aborted) return;
  yield* endOf(await readOutcome({ storage, planId, tenant, signal, live: () => undefined }), facts);
}

/** Shows the plan until it has ended or is suspended. */
async function* views(
  { storage, planId, tenant, signal, throughWaits = false }: PlanStreamOptions & { readonly signal: AbortSignal },
  news: News,
): AsyncGenerator<UIMessageChunk, void> {
  const read = await readState(storage, planId);
  const { state } = read;
  let shown = -1;
  for (let { seq } = read; !signal.aborted;) {
    const { seq: last, state: { status } } = await readPlan(storage, planId, tenant);
    while (seq < last) {
      const page = await readPlanEvents(storage, planId, seq);
      for (const { event } of page) reduce(state, event);
      state.fresh = [];
      seq = page.at(-1)?.seq ?? last;
    }
    const isLast = status !== 'running' && !(throughWaits && status === 'waiting');
    const view = seq === shown && !isLast ? undefined : viewOf(state, { seq, isSuspended: status === 'waiting' });
    if (view) yield { type: 'data-plan', id: planId, data: view };
    shown = seq;
    if (isLast) return;
    await news.next();
  }
}

interface News {
  /** Resolves when there may be something new, and enough time has passed since it last did. */
  next(): Promise<void>;
  stop(): void;
}

function createNews({ storage, planId, signal }: PlanStreamOptions & { readonly signal: AbortSignal }): News {
  let told = Promise.withResolvers<void>();
  const tell = (): void => told.resolve();
  const stop = watchKey(storage, headKey(planPrefix(planId)), tell);
  // Whoever has left reads no more: nobody may come to the end of the views, where the watch is stopped.
  const leave = (): void => {
    stop();
    tell();
  };
  signal.addEventListener('abort', leave, { once: true });
  return {
    async next() {
      await Promise.all([told.promise, pause(1000 / viewsPerSecond, signal)]);
      told = Promise.withResolvers();
      if (signal.aborted) tell();
    },
    stop() {
      stop();
      signal.removeEventListener('abort', leave);
    },
  };
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

function* endOf(
  outcome: PlanOutcome,
  facts: { readonly runId: string; readonly traceId: string },
): Generator<UIMessageChunk, void> {
  const run = (state: string, more: object = {}): UIMessageChunk => ({
    type: 'data-run',
    id: facts.runId,
    data: { ...facts, state, ...more },
  });
  switch (outcome.state) {
    case 'done': {
      const text = typeof outcome.result === 'string' ? outcome.result : JSON.stringify(outcome.result);
      yield { type: 'text-start', id: 'result' };
      yield { type: 'text-delta', id: 'result', delta: text };
      yield { type: 'text-end', id: 'result' };
      yield run('completed', { cites: outcome.cites.slice(0, 1000) });
      return yield { type: 'finish', finishReason: 'stop' };
    }
    case 'suspended':
      yield run('suspended');
      return yield { type: 'finish', finishReason: 'other' };
    case 'cancelled':
      yield run('cancelled');
      return yield { type: 'abort', reason: outcome.reason };
    case 'failed':
      yield run('failed', { error: outcome.error });
      return yield { type: 'error', errorText: `${outcome.error.code}: ${outcome.error.message}` };
    default:
      return outcome satisfies never;
  }
}
