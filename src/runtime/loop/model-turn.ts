/** One model call, for callers that make the tool calls themselves. */

import {
  experimental_streamTextLowMemory as streamText,
  isStepCount,
  jsonSchema,
  type TextStreamPart,
  type ToolSet as SdkToolSet,
} from 'ai';
import { PinnaceError } from '../../base/errors.ts';
import type { Metrics } from '../../base/metrics.ts';
import type { ToolDefinition } from '../../base/schema.ts';
import type { SpanContext } from '../../events/span.ts';
import { createModelClock, type ModelClock } from './model-clock.ts';
import { cut, reportedError, toModelError } from './model-error.ts';
import type { ModelMessage } from './model-messages.ts';
import { watchModel } from './model-watch.ts';
import { callSettings, isCut, isOutput, type LoopOptions, mayExecute, refusedCall } from './sdk-loop.ts';
import { createTurnContent } from './turn-content.ts';

/** What the model says, and which calls it asks for. */
export interface ModelTurn {
  readonly text: string;
  readonly calls: readonly ModelCall[];
  readonly tokens: number;
  /** The answer as the next call of the model must have it. */
  readonly message: ModelMessage;
}

/** A call that the model asks for. */
export interface ModelCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
  /** Why it cannot be made: there is no such tool, or the input is not JSON. */
  readonly error?: PinnaceError;
}

/** What one call of a model needs. */
export interface ModelTurnOptions extends Pick<LoopOptions, 'agent' | 'model' | 'limits' | 'signal'> {
  /** What the call is within. */
  readonly place: SpanContext;
  readonly metrics: Metrics;
  readonly instructions: string;
  /** Is called with the text so far, as it grows. */
  readonly onText?: (text: string) => void;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly Pick<ToolDefinition, 'name' | 'description' | 'paramsSchema'>[];
}

/** Calls the model once. @throws PinnaceError as the loop ends, `cancelled` when the signal aborts. */
export async function callModelOnce(options: ModelTurnOptions): Promise<ModelTurn> {
  const { tools, signal, limits } = options;
  const clock = createModelClock({ ...limits, stepMs: Math.min(limits.stepMs, limits.totalMs) }, signal);
  const set: SdkToolSet = {}; // without `execute`: the SDK stops at their calls
  for (const { name, description, paramsSchema } of tools) {
    set[name] = { description, inputSchema: jsonSchema(paramsSchema) };
  }
  try {
    return await readTurn(streamOnce(options, set, clock), { signal, clock, onText: options.onText });
  } catch (error) {
    throw toModelError(error); // a stream that breaks rejects with whatever broke it
  } finally {
    clock.stop();
  }
}

async function readTurn(
  stream: ReadableStream<TextStreamPart<SdkToolSet>>,
  { signal, clock, onText }: {
    readonly signal: AbortSignal;
    readonly clock: ModelClock;
    readonly onText: ModelTurnOptions['onText'];
  },
): Promise<ModelTurn> {
  let text = '';
  let tokens = 0;
  const calls: ModelCall[] = [];
  const content = createTurnContent();
  for await (const part of stream) {
    if (isOutput(part)) clock.heard();
    content.add(part);
    if (part.type === 'text-delta') {
      text += part.text;
      onText?.(text);
    }
    if (part.type === 'tool-call') calls.push(toModelCall(part));
    if (part.type === 'finish-step') tokens += part.usage.totalTokens ?? 0;
    if (part.type === 'finish' && isCut(part)) throw cut();
    if (part.type === 'finish' && part.finishReason === 'error') throw reportedError();
    if (part.type === 'finish' && calls.length > 0 && !mayExecute(part.finishReason)) throw incomplete();
    if (part.type === 'error') throw toModelError(part.error);
    if (part.type === 'abort') throw stopped(signal, clock);
  }
  return { text, calls, tokens, message: content.message() };
}

function stopped(signal: AbortSignal, clock: ModelClock): PinnaceError {
  return signal.aborted ? new PinnaceError('cancelled', 'The model was stopped') : toModelError(clock.signal.reason);
}

/** Calls are made only of answers that were meant to end so. */
function incomplete(): PinnaceError {
  return new PinnaceError(
    'budget_exceeded',
    'The model ended its answer before its tool calls could be made: raise "maxOutputTokens" or "outputTokens"',
    { details: { reason: 'answer_incomplete' } },
  );
}

function streamOnce(
  options: ModelTurnOptions,
  tools: SdkToolSet,
  clock: ModelClock,
): ReadableStream<TextStreamPart<SdkToolSet>> {
  const { agent: { modelSettings }, place, metrics, limits, messages, instructions } = options;
  const { model, onLanguageModelCallEnd } = watchModel(options.model, { place: () => place, metrics, clock });
  clock.startStep();
  return streamText({
    ...callSettings(modelSettings, limits),
    model,
    onLanguageModelCallEnd,
    ...(instructions !== '' && { instructions }),
    messages: [...messages],
    tools,
    stopWhen: isStepCount(1),
    abortSignal: clock.signal,
  }).stream;
}

function toModelCall(
  { toolCallId, toolName, input, ...call }: Extract<TextStreamPart<SdkToolSet>, { type: 'tool-call' }>,
): ModelCall {
  if (call.invalid !== true) return { toolCallId, toolName, input };
  return {
    toolCallId,
    toolName,
    input: {},
    error: refusedCall(
      call.error,
      () => new PinnaceError('not_found', 'Cannot call the tool: no tool of this agent has this name'),
    ),
  };
}
