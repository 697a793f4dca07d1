/** One call of a model: its request, its retries, and its stream once there is output. */

import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Message,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';
import { PinnaceError } from '../base/errors.ts';
import { raceAbort } from '../base/until-aborted.ts';
import type { Agent } from '../base/schema.ts';
import type { Report } from '../events/report.ts';
import type { Limits } from './limits.ts';
import { type Answer, endOf, mayExecute } from './step-content.ts';
import { leaveProvider } from './model-prompt.ts';
import { addTools, type DefinitionOf, nativeFormOf, refusesAdditions, wrapCalls } from './wrapped-calls.ts';
import { requireProviderTools } from '../tools/availability.ts';
import { charactersPerToken } from '../base/text.ts';
import type { CallHold, ModelBudget } from './model-budget.ts';
import type { ModelChain } from './model-chain.ts';
import type { ModelClock } from './run-clock.ts';
import {
  cut,
  emptyAnswer,
  isUnknownEvent,
  type ModelRetry,
  modelRetry,
  ReportedError,
  reportedError,
  toModelError,
  toStreamError,
  withModelRetries,
} from './model-error.ts';
import { createPartReader, createSilenceWatch, type PartReader } from './model-stream.ts';
import { type createCacheMarks, refusesMarks } from './cache-marks.ts';
import type { FitPrompt } from './estimate-prompt.ts';
import type { OnBreak, PromptChain } from './prompt-chain.ts';

/** What a model is called with. */
export interface ModelCallOptions {
  readonly models: ModelChain;
  readonly budget: ModelBudget;
  readonly settings: Agent['modelSettings'];
  readonly limits: Pick<Limits, 'modelRetries' | 'outputTokens'>;
  /** Loses the parts of a provider that cannot answer when another one takes over. */
  readonly prompt: LanguageModelV4CallOptions['prompt'];
  /** Makes the prompt fit a model that takes over. @throws PinnaceError when it does not: the model is skipped. */
  readonly fit?: FitPrompt | undefined;
  readonly tools: LanguageModelV4CallOptions['tools'];
  /** The definitions of what may be loaded, for providers that take them in the middle of a chat. */
  readonly definitionOf?: DefinitionOf | undefined;
  /** Which tool must be called; any where absent. */
  readonly toolChoice?: LanguageModelV4CallOptions['toolChoice'];
  readonly responseFormat?: LanguageModelV4CallOptions['responseFormat'];
  /** Compares each try with the call before, where the call is one of a chat. */
  readonly chain?: PromptChain | undefined;
  readonly onBreak?: OnBreak | undefined;
  /** Places marks and keys for the cache of the provider. */
  readonly mark?: ReturnType<typeof createCacheMarks> | undefined;
  /** Observes each try; its signal ends the call. */
  readonly clock: ModelClock;
  /** Whether an end without a word is a failure that may be retried. */
  readonly needsAnswer?: boolean;
  /** Receives the cause of each failed try, and of an answer that breaks off. */
  readonly report: Report;
  /** Is called before the delay of each retry, and before a fallback is called. */
  readonly onRetry?: ((retry: ModelRetry) => void) | undefined;
}

/** A call that has output, or has ended. */
export interface OpenedCall extends PartReader<LanguageModelV4StreamPart> {
  /** The model that has taken over in this call. */
  readonly fallback: { readonly providerId: string; readonly modelId: string } | undefined;
  /**
   * Ends the call's span and counts what it used. Call it once, when all is read. Returns the error of an answer that is incomplete
   * because the budget left no more for it.
   */
  end(answer: Pick<Answer<unknown>, 'finishReason' | 'usage' | 'message'>): PinnaceError | undefined;
}

/**
 * Calls the model until a try has output or a regular end, and then its fallbacks.
 *
 * @throws PinnaceError for the last failure, as `read` does; `budget_exceeded` when a try does not fit the budget. The reason of the
 * clock's signal.
 */
export async function openCall(options: ModelCallOptions): Promise<OpenedCall> {
  const failures = createModelFailures(options);
  return failures.observeReads(await failures.translate(() => openAny(options, failures)));
}

async function openAny(options: ModelCallOptions, failures: ModelFailures): Promise<OpenedCall> {
  const { models, prompt, fit, limits: { modelRetries: retries }, clock, onRetry } = options;
  const attempt = (number: number) => failures.observe(() => tryCall(options), number);
  const emit = (error: unknown, next: Pick<ModelRetry, 'attempt' | 'delayMs' | 'isFallback'>): void =>
    onRetry?.(modelRetry(error, { ...next, of: retries + 1, model: models.current }));
  let fallback: OpenedCall['fallback'];
  for (;;) {
    try {
      const call = await withModelRetries(attempt, { retries, signal: clock.signal, onRetry: emit });
      return { ...call, fallback };
    } catch (thrown) {
      await models.fallBack(thrown, async ({ contextTokens, model }) => {
        requireProviderTools(options.tools, model); // it is skipped
        leaveProvider(prompt);
        await fit?.(prompt, contextTokens);
      });
      const { provider, model } = models.current;
      fallback = { providerId: provider.id, modelId: model.modelId };
      emit(thrown, { attempt: 1, delayMs: 0, isFallback: true });
    }
  }
}

async function tryCall(options: ModelCallOptions): Promise<Omit<OpenedCall, 'fallback'>> {
  const { models: { current }, clock, budget, prompt, tools: given, chain, onBreak } = options;
  const { signal } = clock;
  const { provider, provider: { prices } } = current;
  signal.throwIfAborted();
  const room = budget.requireRoom({ prompt, tools: given }, prices);
  const wanted = nativeFormOf(provider, current.model);
  const form = chain ? chain.formFor(wanted, current) : wanted;
  let request = requestOf(options, { form, room: room?.tokens });
  const { tools } = request;
  const most = { output: request.maxOutputTokens ?? usualOutputTokens, provider };
  const hold = budget.hold && await budget.hold({ prompt: request.prompt, tools }, most);
  if (hold) request = { ...request, maxOutputTokens: hold.outputTokens };
  const sent = chain?.follow({ ...request, tools, form, provider, model: current.model });
  if (sent?.break) onBreak?.(sent.break, { id: current.model.modelId });
  const cacheableTokens = sent?.cacheableTokens;
  const startedAt = performance.now();
  let stream: Awaited<ReturnType<typeof openMarked>>;
  try {
    stream = await openMarked({ ...request, abortSignal: signal }, options, sent?.shared ?? 0);
  } catch (thrown) {
    if (!form || signal.aborted || !refusesAdditions(thrown, provider)) throw thrown;
    return await tryCall(options); // by `tool_call`
  }
  const reader = observed(createPartReader(stream, signal), { clock, hold });
  const held: LanguageModelV4StreamPart[] = [];
  const count = (usage: LanguageModelV4Usage | undefined, message?: LanguageModelV4Message): void =>
    budget.add({ prompt: request.prompt, tools, usage, message, prices }, hold);
  try {
    const firstOutputMs = await readOpening(reader, held, options) ? performance.now() - startedAt : undefined;
    return {
      ...withHeld(reader, held),
      end({ finishReason, usage, message }) {
        current.endCall({ finishReason, usage, firstOutputMs, cacheableTokens });
        if (chain) chain.cacheableTokens += cacheableTokens ?? 0;
        count(usage, message);
        if (finishReason !== 'length') return undefined;
        if (hold?.cut) return hold.cut;
        return room && room.tokens === request.maxOutputTokens ? budget.exceeded(room.limitedBy) : undefined;
      },
    };
  } catch (failure) {
    reader.cancel();
    count(usageIn(held));
    if (signal.aborted) throw failure; // the span of a call that is stopped ends with the span that it is in
    const error = failure instanceof ReportedError ? toStreamError(failure.cause) : toModelError(failure);
    const finishReason = error.details?.['reason'] === 'provider_stream_cut' ? 'interrupted' : 'error';
    current.endCall({ finishReason, usage: usageIn(held), firstOutputMs: undefined, error });
    throw failure;
  }
}

/** Calls the model with the marks of its cache, and without them where it refuses them. */
async function openMarked(
  request: LanguageModelV4CallOptions & { readonly abortSignal: AbortSignal },
  { models: { current: { model, provider } }, mark }: Pick<ModelCallOptions, 'models' | 'mark'>,
  shared: number,
): ReturnType<typeof openStream> {
  const marked = mark?.(request, { provider, model, shared });
  if (!marked) return await openStream(model, request);
  try {
    return await openStream(model, { ...marked, abortSignal: request.abortSignal });
  } catch (thrown) {
    if (request.abortSignal.aborted || !refusesMarks(thrown, provider)) throw thrown;
    return await openStream(model, request);
  }
}

/** Reads until the model has said something, or all. Resolves to whether it has said something; throws a failure that may be retried. */
async function readOpening(
  reader: PartReader<LanguageModelV4StreamPart>,
  held: LanguageModelV4StreamPart[],
  { needsAnswer = false }: Pick<ModelCallOptions, 'needsAnswer'>,
): Promise<boolean> {
  for (;;) {
    const parts = await reader.read();
    held.push(...parts ?? []);
    const opening = parts ? openingOf(parts) : 'interrupted';
    const isBegun = held.some(({ type }) => type === 'tool-input-start');
    if (opening === 'empty' && needsAnswer && !isBegun) throw emptyAnswer();
    if (opening === 'output' || opening === 'end' || opening === 'empty') return opening === 'output';
    if (opening === 'interrupted') throw cut();
    if (opening === 'error') throw new ReportedError(reportedIn(held));
  }
}

function usageIn(parts: readonly LanguageModelV4StreamPart[]): LanguageModelV4Usage | undefined {
  return parts.find((part) => part.type === 'finish')?.usage;
}

/** How long an answer may be that is paid from a budget of a period, where nothing else limits it. */
const usualOutputTokens = 8_192;

/** Each read restarts the time that the model may be silent, and counts what a call has said that is paid for. */
function observed(
  reader: PartReader<LanguageModelV4StreamPart>,
  { clock, hold }: { readonly clock: ModelClock; readonly hold: CallHold | undefined },
): PartReader<LanguageModelV4StreamPart> {
  const watch = createSilenceWatch(clock);
  return {
    cancel: () => reader.cancel(),
    async read() {
      for (;;) {
        const parts = await reader.read();
        if (!parts) return undefined;
        watch(parts);
        if (hold) hold.said += saidIn(parts);
        const known = parts.filter((part) => part.type !== 'error' || !isUnknownEvent(part.error));
        if (known.length > 0) return known;
      }
    },
  };
}

function saidIn(parts: readonly LanguageModelV4StreamPart[]): number {
  let characters = 0;
  for (const part of parts) if ('delta' in part) characters += part.delta.length;
  return characters / charactersPerToken;
}

/** Calls the model until the signal aborts. An answer that arrives after that is canceled: it has no reader. */
async function openStream(
  model: LanguageModelV4,
  request: LanguageModelV4CallOptions & { readonly abortSignal: AbortSignal },
): Promise<ReadableStream<LanguageModelV4StreamPart>> {
  const answering = Promise.resolve(model.doStream(request)).then(({ stream }) => stream);
  try {
    return await raceAbort(answering, request.abortSignal);
  } catch (error) {
    void answering.then((stream) => stream.cancel(error)).catch(() => undefined);
    throw error;
  }
}

/** The start of an answer: output, its end, or a failure that may be retried. */
function openingOf(
  parts: readonly LanguageModelV4StreamPart[],
): 'output' | 'end' | 'empty' | 'error' | 'interrupted' | undefined {
  for (const part of parts) {
    if (isOutput(part)) return 'output';
    if (part.type === 'error') return 'error';
    if (part.type !== 'finish') continue;
    const unified = endOf(part.finishReason);
    if (unified === 'error') return 'error';
    if (unified === 'interrupted' || (unified === 'other' && part.finishReason.raw === undefined)) return 'interrupted';
    return mayExecute(unified) ? 'empty' : 'end';
  }
  return undefined;
}

function reportedIn(parts: readonly LanguageModelV4StreamPart[]): unknown {
  for (const part of parts) {
    if (part.type === 'error') return part.error;
  }
  return reportedError();
}

/** Whether the model has said something. */
function isOutput(part: LanguageModelV4StreamPart): boolean {
  switch (part.type) {
    case 'text-delta':
    case 'reasoning-delta':
    case 'tool-input-delta':
      return part.delta !== '';
    case 'file':
    case 'reasoning-file':
    case 'source':
    case 'tool-call':
    case 'tool-result':
      return true;
    default:
      return false;
  }
}

function withHeld(
  reader: PartReader<LanguageModelV4StreamPart>,
  held: readonly LanguageModelV4StreamPart[],
): PartReader<LanguageModelV4StreamPart> {
  let first: readonly LanguageModelV4StreamPart[] | undefined = held;
  return {
    cancel: () => reader.cancel(),
    async read() {
      if (!first) return await reader.read();
      [first] = [undefined];
      return held;
    },
  };
}

/** The request, with an answer of at most `room` tokens. */
function requestOf(
  {
    settings,
    limits: { outputTokens = Infinity },
    definitionOf = () => undefined,
    toolChoice,
    responseFormat,
    clock,
    prompt: said,
    tools: offered,
  }: ModelCallOptions,
  { form, room = Infinity }: { readonly form: string | undefined; readonly room: number | undefined },
): LanguageModelV4CallOptions {
  const { toolChoice: _, ...calls } = settings ?? {}; // that of the first step is `toolChoice`
  const own = Object.entries(calls).filter(([, value]) => value !== undefined);
  const { prompt, tools } = form === undefined
    ? { prompt: wrapCalls(said, offered), tools: offered }
    : addTools({ prompt: said, tools: offered }, { form, definitionOf });
  const most = Math.min(room, outputTokens, calls.maxOutputTokens ?? Infinity);
  return {
    ...Object.fromEntries(own), // of the same types; `undefined` would be sent as a setting of its own
    ...(most !== Infinity && { maxOutputTokens: most }),
    prompt,
    ...(tools && { tools, toolChoice: toolChoice ?? { type: 'auto' } }),
    ...(responseFormat && { responseFormat }),
    abortSignal: clock.signal,
    includeRawChunks: false,
  };
}

/** What observes the failures of a call. Nothing is a failure once the signal has aborted. */
interface ModelFailures {
  /** Does a try; reports what it throws. */
  observe<T>(work: () => Promise<T>, attempt: number): Promise<T>;
  /** Does all tries. @throws PinnaceError for what they throw. */
  translate<T>(work: () => Promise<T>): Promise<T>;
  /** Reports what breaks the answer off. @throws PinnaceError for it. */
  observeReads<Reader extends PartReader<LanguageModelV4StreamPart>>(reader: Reader): Reader;
}

/** Creates the failures of a call that has had none. */
function createModelFailures(
  { models, report, clock }: {
    readonly models: { readonly current: { readonly model: Pick<LanguageModelV4, 'modelId'> } };
    readonly report: Report;
    readonly clock: { readonly signal: AbortSignal };
  },
): ModelFailures {
  let attempt = 1;
  const failed = (error: unknown): void => {
    const isLimit = error instanceof PinnaceError && error.code === 'budget_exceeded'; // no try was made
    if (!clock.signal.aborted && !isLimit) report(error, { kind: 'model', id: models.current.model.modelId, attempt });
  };
  const asError = (error: unknown): unknown => clock.signal.aborted ? error : toModelError(error);
  return {
    async observe(work, number) {
      attempt = number;
      try {
        return await work();
      } catch (thrown) {
        failed(thrown instanceof ReportedError ? thrown.cause : thrown);
        throw thrown;
      }
    },
    async translate(work) {
      try {
        return await work();
      } catch (thrown) {
        throw asError(thrown);
      }
    },
    observeReads(reader) {
      return {
        ...reader,
        async read() {
          try {
            const parts = await reader.read();
            for (const part of parts ?? []) if (part.type === 'error') failed(part.error);
            return parts;
          } catch (thrown) {
            failed(thrown);
            throw asError(thrown);
          }
        },
      };
    },
  };
}
