/** One call of a model, for whoever makes the calls that it asks for in a way of its own. */

import {
  experimental_streamTextLowMemory as streamText,
  isStepCount,
  jsonSchema,
  type TextStreamPart,
  type ToolSet as SdkToolSet,
} from 'ai';
import { PinnaceError } from '../errors.ts';
import type { Metrics } from '../metrics.ts';
import type { ToolDefinition } from '../schema.ts';
import type { Place } from '../span.ts';
import { toModelError } from './model-error.ts';
import type { ModelMessage } from './model-messages.ts';
import { watchModel } from './model-watch.ts';
import { callSettings, cut, isCut, type LoopOptions, refusedCall, reportedError } from './run.ts';

/** What the model says, and which calls it asks for. */
export interface ModelTurn {
  readonly text: string;
  readonly calls: readonly ModelCall[];
  readonly tokens: number;
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
  readonly place: Place;
  readonly metrics: Metrics;
  readonly instructions: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly Pick<ToolDefinition, 'name' | 'description' | 'paramsSchema'>[];
}

/** Calls the model once. @throws PinnaceError as the loop ends, `cancelled` when the signal aborts. */
export async function callModelOnce(options: ModelTurnOptions): Promise<ModelTurn> {
  const { tools, signal } = options;
  const set: SdkToolSet = {}; // without `execute`: the SDK stops at their calls
  for (const { name, description, paramsSchema } of tools) {
    set[name] = { description, inputSchema: jsonSchema(paramsSchema) };
  }
  try {
    return await readTurn(streamOnce(options, set), signal);
  } catch (error) {
    throw toModelError(error); // a stream that breaks rejects with whatever broke it
  }
}

async function readTurn(stream: ReadableStream<TextStreamPart<SdkToolSet>>, signal: AbortSignal): Promise<ModelTurn> {
  let text = '';
  let tokens = 0;
  const calls: ModelCall[] = [];
  for await (const part of stream) {
    if (part.type === 'text-delta') text += part.text;
    if (part.type === 'tool-call') calls.push(toModelCall(part));
    if (part.type === 'finish-step') tokens += part.usage.totalTokens ?? 0;
    if (part.type === 'finish' && isCut(part)) throw cut();
    if (part.type === 'finish' && part.finishReason === 'error') throw reportedError();
    if (part.type === 'error') throw toModelError(part.error);
    if (part.type === 'abort') {
      throw new PinnaceError(signal.aborted ? 'cancelled' : 'deadline_exceeded', 'The model was stopped');
    }
  }
  return { text, calls, tokens };
}

function streamOnce(options: ModelTurnOptions, tools: SdkToolSet): ReadableStream<TextStreamPart<SdkToolSet>> {
  const { agent: { modelSettings }, place, metrics, limits, signal, messages, instructions } = options;
  const { totalMs, stepMs, firstChunkMs, chunkMs } = limits;
  const { model, onLanguageModelCallEnd } = watchModel(options.model, { place: () => place, metrics });
  return streamText({
    ...callSettings(modelSettings, limits),
    timeout: { totalMs, stepMs, firstChunkMs, chunkMs },
    model,
    onLanguageModelCallEnd,
    ...(instructions !== '' && { instructions }),
    messages: [...messages],
    tools,
    stopWhen: isStepCount(1),
    abortSignal: signal,
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
