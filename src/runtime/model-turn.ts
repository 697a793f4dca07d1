/** One call of a model, for callers such as plans that make the requested tool calls themselves. */

import type { LanguageModelV4FinishReason, LanguageModelV4Message } from '@ai-sdk/provider';
import { PinnaceError, toPinnaceError } from '../base/errors.ts';
import type { Metrics } from '../base/metrics.ts';
import type { Agent, ToolDefinition } from '../base/schema.ts';
import type { Report } from '../events/report.ts';
import type { SpanContext } from '../events/span.ts';
import type { Limits } from './limits.ts';
import { type ModelCallOptions, openCall, type OpenedCall } from './model-call.ts';
import type { ModelBudget } from './model-budget.ts';
import { createModelChain, type ModelChainOptions } from './model-chain.ts';
import { ModelClock } from './run-clock.ts';
import { CallIds, callIdsIn } from './call-ids.ts';
import { toolCallName } from '../discovery/discovery-tools.ts';
import { meantInput } from '../tools/as-meant.ts';
import type { Tool } from '../tools/tool.ts';
import { leaveProvider, toPromptTools } from './model-prompt.ts';
import type { ParsedCall } from './model-stream.ts';
import { createStepContent, incomplete, mayExecute } from './step-content.ts';
import { isRecord } from '../base/is-record.ts';
import type { ModelMessage } from '../contracts/ai-types.ts';
import type { FallbackModel, ResolvedModel } from './provider-model.ts';
import type { FitPrompt } from './estimate-prompt.ts';

/** The text of the model and the tool calls that it requests. */
export interface ModelTurn {
  readonly text: string;
  readonly calls: readonly ModelCall[];
  readonly finishReason: LanguageModelV4FinishReason['unified'];
  /** The model that has taken over in this call. */
  readonly fallback: OpenedCall['fallback'];
  /** The answer as the next call of the model must have it. */
  readonly message: LanguageModelV4Message;
}

/** A tool call that the model requests. */
export interface ModelCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
  /** Why it cannot be made: there is no such tool, or the input is not JSON. */
  readonly error?: PinnaceError;
}

/** What one call of a model needs. */
export interface ModelTurnOptions {
  readonly agent: Agent;
  /** The model that answers, and its fallbacks. */
  readonly models: Pick<ModelChainOptions, 'first' | 'fallbacks' | 'onResolved'>;
  readonly budget: ModelBudget;
  readonly limits: Limits;
  readonly signal: AbortSignal;
  /** The span that the call is in. */
  readonly spanContext: SpanContext;
  readonly metrics: Metrics;
  readonly report: Report;
  /** Loses the parts of a provider that cannot answer. */
  readonly prompt: LanguageModelV4Message[];
  readonly fit?: FitPrompt;
  readonly onRetry?: ModelCallOptions['onRetry'];
  readonly responseFormat?: ModelCallOptions['responseFormat'];
  /** Is called with the text so far, as it grows. */
  readonly onText?: (text: string) => void;
  readonly tools: readonly Pick<ToolDefinition, 'name' | 'description' | 'paramsSchema'>[];
  /** Returns the tool of a name, also of one that was loaded. */
  readonly callable?: (name: string) => Tool | undefined;
}

/** Calls the model once. @throws PinnaceError as a run ends, `cancelled` when the signal aborts. */
export async function callModelOnce(options: ModelTurnOptions): Promise<ModelTurn> {
  const { signal, limits } = options;
  const clock = new ModelClock({ ...limits, stepMs: Math.min(limits.stepMs, limits.totalMs) }, signal);
  clock.startStep();
  try {
    return await readTurn(options, clock);
  } catch (error) {
    if (signal.aborted) throw new PinnaceError('cancelled', 'The model was stopped');
    throw toPinnaceError(clock.signal.aborted ? clock.signal.reason : error);
  } finally {
    clock.stop();
  }
}

async function readTurn(
  options: ModelTurnOptions,
  clock: ModelClock,
): Promise<ModelTurn> {
  const { agent, limits, tools, spanContext, metrics, report, budget, prompt, fit, onText, onRetry } = options;
  const { cost } = budget.terms;
  const call = await openCall({
    models: createModelChain({ ...options.models, spanContext: () => spanContext, metrics, clock, cost }),
    budget,
    settings: agent.modelSettings,
    limits,
    prompt,
    fit,
    tools: toPromptTools(tools.map((definition) => ({ definition }))),
    responseFormat: options.responseFormat,
    clock,
    report,
    onRetry,
  });
  const names = new Set(tools.map(({ name }) => name));
  const content = createStepContent<string>({
    step: 1,
    shownIds: new Set(),
    callIds: new CallIds(() => callIdsIn(prompt)),
    find: (name) => names.has(name) || options.callable?.(name) ? name : undefined,
    meant: (name, input, text) => meantInput(options.callable?.(name), input, text),
    isWrapping: names.has(toolCallName),
    missing: () => new PinnaceError('not_found', 'Cannot call the tool: no tool of this agent has this name'),
  });
  let text = '';
  for (let parts = await call.read(); parts; parts = await call.read()) {
    for (const chunk of content.take(parts)) {
      if (chunk.type !== 'text-delta') continue;
      text += chunk.delta;
      onText?.(text);
    }
    content.requireSound();
  }
  const answer = content.end();
  const spent = call.end(answer);
  if (spent) throw spent;
  const { finishReason, message, calls } = answer;
  if (calls.length > 0 && !mayExecute(finishReason)) throw incomplete(answer);
  return { text, calls: calls.map(toModelCall), fallback: call.fallback, finishReason, message };
}

function toModelCall({ toolCallId, toolName, input, error }: ParsedCall<string>): ModelCall {
  return error ? { toolCallId, toolName, input: {}, error } : { toolCallId, toolName, input };
}

/** A fallback that has taken over. */
interface TakenOver {
  readonly providerId: string;
  readonly modelId: string;
}

/** What a task keeps of its model calls. */
interface TaskHistory {
  readonly messages: ModelMessage[];
  readonly model?: TakenOver | undefined;
}

/** Reads what `writeTaskHistory` returned, which was stored as JSON. */
export function readTaskHistory(history: unknown): TaskHistory {
  const { messages, model } = isRecord(history) ? history : { messages: history ?? [], model: undefined };
  return { messages: [...messages as ModelMessage[]], model: model as TakenOver | undefined }; // ours of the last step
}

/** The history of a task that is with its first model is its messages, as earlier versions wrote it. */
export function writeTaskHistory({ messages, model }: TaskHistory): unknown {
  return model ? { messages, model } : messages;
}

/** Returns the models for the next step. Without the fallback of the last one, its parts leave the messages. */
export async function taskModels(
  { messages, model }: TaskHistory,
  { first, fallbacks, spanContext }: Pick<ModelChainOptions, 'fallbacks'> & {
    readonly first: ResolvedModel;
    readonly spanContext: SpanContext;
  },
): Promise<Pick<ModelChainOptions, 'first' | 'fallbacks'> & { readonly isOther: boolean }> {
  if (!model) return { first, fallbacks, isOther: false };
  const at = fallbacks.findIndex((fallback) => isSame(fallback, model));
  const resolved = await fallbacks[at]?.resolve(spanContext).catch(() => undefined);
  if (resolved) return { first: resolved, fallbacks: fallbacks.slice(at + 1), isOther: true };
  leaveProvider(messages);
  return { first, fallbacks, isOther: false };
}

function isSame({ providerId, model }: FallbackModel, last: TakenOver): boolean {
  return providerId === last.providerId && (model === undefined || model === last.modelId);
}
