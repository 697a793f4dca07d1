/** One call of a model: its request, its retries, and its stream once there is output. */

import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { raceAbort } from '../../base/until-aborted.ts';
import type { Agent } from '../../base/schema.ts';
import type { Limits } from '../resolve/limits.ts';
import type { LoopSpans } from '../loop/loop-spans.ts';
import { cut, reportedError } from './model-error.ts';
import { createPartReader, type PartReader } from './part-reader.ts';
import { ReportedError, withModelRetries } from './retry.ts';
import { createSilenceWatch } from './silence.ts';

/** What a model is called with. */
export interface ModelCallOptions {
  readonly model: LanguageModelV4;
  readonly settings: Agent['modelSettings'];
  readonly limits: Pick<Limits, 'modelRetries' | 'outputTokens'>;
  readonly prompt: LanguageModelV4CallOptions['prompt'];
  readonly tools: LanguageModelV4CallOptions['tools'];
  /** Which tool must be called; any where absent. */
  readonly toolChoice?: LanguageModelV4CallOptions['toolChoice'];
  readonly responseFormat?: LanguageModelV4CallOptions['responseFormat'];
  /** Observes each try; its signal ends the call. */
  readonly clock: LoopSpans['clock'];
  /** Is called for each try that ends before any output. */
  readonly onFailedTry: (finishReason: 'error' | 'interrupted') => void;
}

/** A call that has output, or has ended. */
export interface OpenedCall extends PartReader<LanguageModelV4StreamPart> {
  /** From the request to the first output, of the try that succeeded. */
  readonly firstOutputMs: number | undefined;
}

/** Calls the model until a try has output or a regular end. Rejects with the last failure, or the reason of the clock's signal. */
export async function openCall(options: ModelCallOptions): Promise<OpenedCall> {
  const { limits: { modelRetries: retries }, clock: { signal } } = options;
  return await withModelRetries(() => tryCall(options), { retries, signal });
}

async function tryCall({ model, clock, onFailedTry, ...options }: ModelCallOptions): Promise<OpenedCall> {
  const { signal } = clock;
  signal.throwIfAborted();
  const startedAt = performance.now();
  const stream = await openStream(model, requestOf(options, signal));
  const reader = watched(createPartReader(stream, signal), clock);
  const held: LanguageModelV4StreamPart[] = [];
  for (;;) {
    const parts = await reader.read();
    held.push(...parts ?? []);
    const opening = parts ? openingOf(parts) : 'interrupted';
    if (opening === undefined) continue;
    if (opening === 'output') return { ...withHeld(reader, held), firstOutputMs: performance.now() - startedAt };
    if (opening === 'end') return { ...withHeld(reader, held), firstOutputMs: undefined };
    reader.cancel();
    const failure = opening === 'interrupted' ? cut() : new ReportedError(reportedIn(held));
    onFailedTry(opening === 'interrupted' ? 'interrupted' : 'error');
    throw failure;
  }
}

/** Each read restarts the time that the model may be silent. */
function watched(
  reader: PartReader<LanguageModelV4StreamPart>,
  clock: LoopSpans['clock'],
): PartReader<LanguageModelV4StreamPart> {
  const watch = createSilenceWatch(clock);
  return {
    cancel: () => reader.cancel(),
    async read() {
      const parts = await reader.read();
      if (parts) watch(parts);
      return parts;
    },
  };
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

/** How an answer begins: with output, with its end, or with a failure that may be retried. */
function openingOf(
  parts: readonly LanguageModelV4StreamPart[],
): 'output' | 'end' | 'error' | 'interrupted' | undefined {
  for (const part of parts) {
    if (isOutput(part)) return 'output';
    if (part.type === 'error') return 'error';
    if (part.type !== 'finish') continue;
    const { unified, raw } = part.finishReason;
    if (unified === 'error') return 'error';
    return unified === 'interrupted' || (unified === 'other' && raw === undefined) ? 'interrupted' : 'end';
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
export function isOutput(part: LanguageModelV4StreamPart): boolean {
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

function requestOf(
  { settings, limits, prompt, tools, toolChoice, responseFormat }: Omit<
    ModelCallOptions,
    'model' | 'clock' | 'onFailedTry'
  >,
  abortSignal: AbortSignal,
): LanguageModelV4CallOptions & { readonly abortSignal: AbortSignal } {
  const { toolChoice: _, ...calls } = settings ?? {}; // that of the first step is `toolChoice`
  const given = Object.entries(calls).filter(([, value]) => value !== undefined);
  const { maxOutputTokens } = calls;
  const { outputTokens } = limits;
  const most = outputTokens === undefined ? maxOutputTokens : Math.min(outputTokens, maxOutputTokens ?? outputTokens);
  return {
    ...Object.fromEntries(given), // of the same types; `undefined` would be sent as a setting of its own
    ...(most !== undefined && { maxOutputTokens: most }),
    prompt: [...prompt],
    ...(tools && { tools, toolChoice: toolChoice ?? { type: 'auto' } }),
    ...(responseFormat && { responseFormat }),
    abortSignal,
    includeRawChunks: false,
  };
}
