/** Observes the calls of a model, each try as a span of its own. */

import type { LanguageModelV4, LanguageModelV4Usage } from '@ai-sdk/provider';
import { type PinnaceError, toData } from '../../base/errors.ts';
import type { Metrics } from '../../base/metrics.ts';
import { type Span, type SpanContext, type SpanEnd, statusOfError } from '../../events/span.ts';
import type { ModelClock } from './model-clock.ts';
import { cut, reportedError, toModelError } from './model-error.ts';

/** A model whose calls are observed. */
export interface ModelWatch {
  readonly model: LanguageModelV4;
  /** Ends the span of the current attempt, before the requested tools are called. Does nothing without one. */
  readonly endCall: (call: EndedCall) => void;
}

/** How a try ended. */
export interface EndedCall {
  readonly finishReason: string;
  readonly usage: LanguageModelV4Usage | undefined;
  readonly firstOutputMs: number | undefined;
  /** Why it failed, where its finish reason does not say it. */
  readonly error?: PinnaceError;
}

/** Returns the model with its calls counted and measured. The span of a call that is stopped ends with the span that it is in. */
export function watchModel(
  model: LanguageModelV4,
  { spanContext, metrics, clock }: {
    readonly spanContext: () => SpanContext;
    readonly metrics: Metrics;
    /** Measures each request, from when it is sent until the model has said all. */
    readonly clock: Pick<ModelClock, 'requested' | 'saidAll'>;
  },
): ModelWatch {
  const { provider, modelId } = model;
  let call: { readonly span: Span } | undefined;
  const end = (how: SpanEnd): void => {
    metrics.count('pinnace_model_calls_total', { model: modelId, status: how.status });
    call?.span.end(how);
    call = undefined;
  };
  return {
    model: {
      specificationVersion: 'v4',
      provider,
      modelId,
      get supportedUrls() {
        return model.supportedUrls;
      },
      doGenerate: (options) => model.doGenerate(options),
      async doStream(options) {
        const target = { type: 'model', id: modelId };
        const own = { span: spanContext().start({ action: 'model.call', target, payload: { provider } }) };
        call = own;
        clock.requested();
        try {
          return await model.doStream(options);
        } catch (thrown) {
          if (call !== own) throw thrown; // the attempt was abandoned: another model may have been called since
          clock.saidAll(); // the pause before a retry is not the model's
          const error = toData(toModelError(thrown));
          end({ status: statusOfError(error), error });
          throw thrown;
        }
      },
    },
    endCall({ finishReason, usage, firstOutputMs, error }) {
      if (!call) return;
      clock.saidAll();
      const [inputTokens, outputTokens] = [usage?.inputTokens.total, usage?.outputTokens.total];
      const totalTokens = (inputTokens ?? 0) + (outputTokens ?? 0);
      const failed = error ?? errorOfFinish(finishReason);
      metrics.count('pinnace_tokens_total', { model: modelId, kind: 'input' }, inputTokens ?? 0);
      metrics.count('pinnace_tokens_total', { model: modelId, kind: 'output' }, outputTokens ?? 0);
      if (firstOutputMs !== undefined) metrics.time('pinnace_first_chunk_seconds', firstOutputMs, { model: modelId });
      end({
        ...(failed ? { status: 'error', error: toData(failed) } : { status: 'ok' }),
        payload: { inputTokens, outputTokens, totalTokens, firstChunkMs: firstOutputMs, finishReason },
      });
    },
  };
}

function errorOfFinish(finishReason: string): PinnaceError | undefined {
  if (finishReason === 'interrupted') return cut();
  return finishReason === 'error' ? reportedError() : undefined;
}
