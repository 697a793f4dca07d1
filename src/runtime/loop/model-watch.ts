/** Emits every try of a model call: the SDK retries by itself and does not report failed tries. */

import type { LanguageModel } from '../../contracts/ai-types.ts';
import { type PinnaceError, toData } from '../../base/errors.ts';
import type { Metrics } from '../../base/metrics.ts';
import { type Span, type SpanContext, type SpanEnd, statusOfError } from '../../events/span.ts';
import type { ModelClock } from './model-clock.ts';
import { cut, reportedError, toModelError } from './model-error.ts';

/** A model whose calls are observed. */
export interface ModelWatch {
  readonly model: LanguageModel;
  /** For the SDK, which calls it when a call is over, and before the tools that it asks for. */
  readonly onLanguageModelCallEnd: (call: EndedCall) => void;
}

/** What the SDK says of a call. */
interface EndedCall {
  readonly provider: string;
  readonly finishReason: string;
  readonly usage: {
    readonly inputTokens: number | undefined;
    readonly outputTokens: number | undefined;
    readonly totalTokens: number | undefined;
  };
  readonly performance: { readonly timeToFirstOutputMs: number | undefined };
}

/** Returns the model with its calls counted and emitted in a span context. A call that breaks off ends with its parent span. */
export function watchModel(
  model: LanguageModel,
  { place, metrics, clock }: {
    readonly place: () => SpanContext;
    readonly metrics: Metrics;
    /** Measures each request, from when it is sent until the model has said all. */
    readonly clock: Pick<ModelClock, 'requested' | 'saidAll'>;
  },
): ModelWatch {
  const { specificationVersion, provider, modelId } = model;
  let call: Span | undefined;
  const end = (how: SpanEnd): void => {
    metrics.count('pinnace_model_calls_total', { model: modelId, status: how.status });
    call?.end(how);
  };
  const begin = (): void => {
    call = place().start({ action: 'model.call', target: { type: 'model', id: modelId }, payload: { provider } });
  };
  return {
    model: {
      specificationVersion,
      provider,
      modelId,
      get supportedUrls() {
        return model.supportedUrls;
      },
      doGenerate: (options) => model.doGenerate(options),
      async doStream(options) {
        begin();
        clock.requested();
        try {
          return await model.doStream(options);
        } catch (thrown) {
          clock.saidAll(); // the pause before a retry is not the model's
          const error = toData(toModelError(thrown));
          end({ status: statusOfError(error), error });
          throw thrown;
        }
      },
    },
    onLanguageModelCallEnd({ finishReason, usage, performance }) {
      clock.saidAll();
      const { inputTokens, outputTokens, totalTokens } = usage;
      const firstChunkMs = performance.timeToFirstOutputMs;
      const failed = errorOfFinish(finishReason);
      countTokens(metrics, modelId, usage);
      if (firstChunkMs !== undefined) metrics.time('pinnace_first_chunk_seconds', firstChunkMs, { model: modelId });
      end({
        ...(failed ? { status: 'error', error: toData(failed) } : { status: 'ok' }),
        payload: { inputTokens, outputTokens, totalTokens, firstChunkMs, finishReason },
      });
    },
  };
}

function errorOfFinish(finishReason: string): PinnaceError | undefined {
  if (finishReason === 'interrupted') return cut();
  return finishReason === 'error' ? reportedError() : undefined;
}

function countTokens(
  metrics: Metrics,
  model: string,
  { inputTokens = 0, outputTokens = 0 }: Partial<EndedCall['usage']>,
): void {
  metrics.count('pinnace_tokens_total', { model, kind: 'input' }, inputTokens);
  metrics.count('pinnace_tokens_total', { model, kind: 'output' }, outputTokens);
}
