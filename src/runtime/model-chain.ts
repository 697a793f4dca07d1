/** The models of an agent: the one that answers, and the fallbacks that take over when it cannot. */

import type { ModelClock } from './run-clock.ts';
import { raceAbort } from '../base/until-aborted.ts';
import { PinnaceError, toData } from '../base/errors.ts';
import type { Metrics } from '../base/metrics.ts';
import { type Span, type SpanContext, type SpanEnd, statusOfError } from '../events/span.ts';
import { type FallbackModel, ModelThrough, type ResolvedModel } from './provider-model.ts';
import { cut, reportedError, toModelError } from './model-error.ts';
import { requirePrice } from './model-budget.ts';
import type { LanguageModelV4, LanguageModelV4Usage } from '@ai-sdk/provider';

/** A model that is being used, with the record of its provider. */
interface ModelInUse extends ModelWatch, Pick<ResolvedModel, 'provider'> {
  readonly resolved: ResolvedModel;
}

/** The models of one run. A model that has taken over stays. */
export interface ModelChain {
  readonly current: ModelInUse;
  /** The fallbacks that were not tried. */
  readonly left: readonly FallbackModel[];
  /**
   * Makes the next model that can be used the current one, after `prepare`: a model for which that rejects is skipped. Rejects with the
   * error of the last model where none is left, or none may take over.
   */
  fallBack(thrown: unknown, prepare: (model: ResolvedModel) => Promise<void>): Promise<void>;
}

/** What a chain needs. */
export interface ModelChainOptions {
  readonly first: ResolvedModel;
  /** Each is resolved when it is needed. */
  readonly fallbacks: readonly FallbackModel[];
  /** Is called before a model is used. */
  readonly onResolved: (model: ResolvedModel) => void;
  readonly spanContext: () => SpanContext;
  readonly metrics: Metrics;
  readonly clock: ModelClock;
  /** The budget that the prices of a fallback must suit. */
  readonly cost: { readonly currency?: string | undefined } | undefined;
}

/** What became of a model, in `details.tried`. */
interface Tried {
  readonly providerId: string;
  readonly modelId?: string | undefined;
  readonly code: string;
  readonly reason?: unknown;
}

/** Creates the chain of a run. The first model is the current one. */
export function createModelChain(options: ModelChainOptions): ModelChain {
  return new RunModels(options);
}

class RunModels implements ModelChain {
  readonly left: FallbackModel[];
  readonly #options: ModelChainOptions;
  readonly #tried: Tried[] = [];
  #current: ModelInUse;

  constructor(options: ModelChainOptions) {
    this.#options = options;
    this.left = [...options.fallbacks];
    this.#current = inUse(options.first, options);
  }

  get current(): ModelInUse {
    return this.#current;
  }

  async fallBack(thrown: unknown, prepare: (model: ResolvedModel) => Promise<void>): Promise<void> {
    const { fallbacks, clock } = this.#options;
    if (fallbacks.length === 0) throw thrown;
    const error = toModelError(thrown);
    if (!mayFallBack(error) || !mayGoOn(clock)) throw thrown;
    const { provider, model } = this.#current;
    this.#current.endCall({ finishReason: 'error', usage: undefined, firstOutputMs: undefined, error });
    this.#tried.push(triedOf(provider.id, model.modelId, error));
    const next = await nextOf(this.left, this.#tried, { ...this.#options, prepare });
    if (!next) throw exhausted(error, this.#tried);
    this.#current = next;
    report(error, { from: { provider, model }, to: next }, this.#options);
  }
}

/** The first chunk of a model may be late; whatever else stops the clock stops the run. */
function mayGoOn(clock: ModelClock): boolean {
  return !clock.signal.aborted || clock.restart();
}

function mayFallBack({ code, details }: PinnaceError): boolean {
  if (details?.['reason'] === 'budget_unavailable') return false; // no other model could be paid either
  return code === 'unavailable' || code === 'rate_limited' || details?.['reason'] === 'first_chunk_timeout';
}

async function nextOf(
  left: FallbackModel[],
  tried: Tried[],
  { prepare, ...options }: ModelChainOptions & { readonly prepare: (model: ResolvedModel) => Promise<void> },
): Promise<ModelInUse | undefined> {
  for (let fallback = left.shift(); fallback; fallback = left.shift()) {
    try {
      const resolved = await raceAbort(fallback.resolve(options.spanContext()), options.clock.signal);
      requirePrice(resolved.provider, options.cost);
      options.onResolved(resolved);
      await prepare(resolved);
      return inUse(resolved, options);
    } catch (error) {
      options.clock.signal.throwIfAborted();
      tried.push(triedOf(fallback.providerId, fallback.model, toModelError(error)));
    }
  }
  return undefined;
}

function inUse(resolved: ResolvedModel, options: ModelChainOptions): ModelInUse {
  const { model, provider } = resolved;
  return { ...watchModel(model, options), provider, resolved };
}

function triedOf(providerId: string, modelId: string | undefined, { code, details }: PinnaceError): Tried {
  const reason = details?.['reason'];
  return { providerId, ...(modelId !== undefined && { modelId }), code, ...(reason !== undefined && { reason }) };
}

function exhausted(last: PinnaceError, tried: readonly Tried[]): PinnaceError {
  const { code, message, retryable, retryAfterMs, details } = last;
  return new PinnaceError(code, `${message}; no fallback of the agent could answer either`, {
    cause: last,
    retryable,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    details: { ...details, tried: [...tried] },
  });
}

type Side = Pick<ModelInUse, 'provider' | 'model'>;

function report(
  { code, details }: PinnaceError,
  { from, to }: { readonly from: Side; readonly to: Side },
  { spanContext, metrics }: ModelChainOptions,
): void {
  const { modelId } = to.model;
  metrics.count('pinnace_model_fallbacks_total', { from: from.model.modelId, model: modelId, code });
  spanContext().emit({
    action: 'model.fallback',
    target: { type: 'model', id: modelId },
    status: 'ok',
    payload: {
      provider: to.provider.id,
      fromProvider: from.provider.id,
      fromModel: from.model.modelId,
      code,
      reason: typeof details?.['reason'] === 'string' ? details['reason'] : undefined,
    },
  });
}

/** A model whose calls are observed. */
interface ModelWatch {
  readonly model: LanguageModelV4;
  /** Ends the span of the current attempt, before the requested tools are called. Does nothing without one. */
  readonly endCall: (call: EndedCall) => void;
}

/** No provider caches a shorter prompt. */
const leastCached = 1_024;

/** How a try ended. */
interface EndedCall {
  readonly finishReason: string;
  readonly usage: LanguageModelV4Usage | undefined;
  readonly firstOutputMs: number | undefined;
  /** About how many tokens of its prompt a cache may have. */
  readonly cacheableTokens?: number | undefined;
  /** Why it failed, where its finish reason does not say it. */
  readonly error?: PinnaceError;
}

/** Returns the model with its calls counted and measured. The span of a call that is stopped ends with the span that it is in. */
function watchModel(
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
    model: new ModelThrough(model, {
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
    }),
    endCall({ finishReason, usage, firstOutputMs, cacheableTokens, error }) {
      if (!call) return;
      clock.saidAll();
      const failed = error ?? errorOfFinish(finishReason);
      const counted = countTokens(usage, { modelId, metrics, cacheableTokens });
      if (firstOutputMs !== undefined) metrics.time('pinnace_first_chunk_seconds', firstOutputMs, { model: modelId });
      end({
        ...(failed ? { status: 'error', error: toData(failed) } : { status: 'ok' }),
        payload: { ...counted, firstChunkMs: firstOutputMs, finishReason },
      });
    },
  };
}

/** Counts the tokens of a call, and returns them for its span. */
function countTokens(
  usage: LanguageModelV4Usage | undefined,
  { modelId, metrics, cacheableTokens = 0 }: {
    readonly modelId: string;
    readonly metrics: Metrics;
    readonly cacheableTokens: number | undefined;
  },
): Readonly<Record<string, number | boolean | undefined>> {
  const { inputTokens: input, outputTokens: output } = usage ?? {};
  const tokens = {
    input: input?.total,
    output: output?.total,
    cached: input?.cacheRead,
    cache_write: input?.cacheWrite,
  };
  for (const [kind, count] of Object.entries(tokens)) {
    const isShown = kind === 'input' || kind === 'output' || count;
    if (isShown) metrics.count('pinnace_tokens_total', { model: modelId, kind }, count ?? 0);
  }
  return {
    inputTokens: tokens.input,
    outputTokens: tokens.output,
    totalTokens: (tokens.input ?? 0) + (tokens.output ?? 0),
    cachedTokens: tokens.cached,
    cacheWriteTokens: tokens.cache_write,
    cacheableTokens: cacheableTokens || undefined,
    missed: (tokens.cached === 0 && cacheableTokens >= leastCached) || undefined,
  };
}

function errorOfFinish(finishReason: string): PinnaceError | undefined {
  if (finishReason === 'interrupted') return cut();
  return finishReason === 'error' ? reportedError() : undefined;
}
