/** A plan as a stream of UI message chunks. */

import type { UIMessageChunk } from '../../contracts/ai-types.ts';
import type { PlanEnd } from '../../contracts/plans.ts';
import type { PlanHead } from '../journal/plan-record.ts';
import { type FollowedPlanOptions, followPlan } from './plan-updates.ts';

/** The plan to stream. */
export interface StreamedPlanOptions extends FollowedPlanOptions {
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
