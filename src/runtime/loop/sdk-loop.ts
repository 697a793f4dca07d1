/** The AI SDK's loop: the one file that loads the SDK. It calls the model, hands tool calls on, and gives UI message chunks. */

import {
  experimental_streamTextLowMemory as streamText,
  isStepCount,
  jsonSchema,
  NoSuchToolError,
  type Schema,
  type StopCondition,
  type TextStreamPart,
  tool as sdkTool,
  type ToolSet as SdkToolSet,
  toUIMessageChunk,
  type UIMessageChunk,
} from 'ai';
import type { LanguageModel } from '../../contracts/ai-types.ts';
import { type ErrorData, fromData, PinnaceError, toData } from '../../base/errors.ts';
import type { Agent } from '../../base/schema.ts';
import { type CallDescription, describedText } from '../../tools/approval.ts';
import { failureOf, toolFailure } from '../../tools/failure.ts';
import type { Tool, ToolOutcome } from '../../tools/tool.ts';
import { toolErrorPart } from '../calls/call-chunks.ts';
import { definitionTokens, type StepTools } from './step-tools.ts';
import type { Limits } from '../resolve/limits.ts';
import type { LoopSpans } from './loop-spans.ts';
import type { ModelMessage } from './model-messages.ts';
import { cut, reportedError, toModelError } from './model-error.ts';
import type { RunEnd } from '../log/run-end.ts';

/** What the loop needs. */
export interface LoopOptions {
  readonly agent: Agent;
  readonly model: LanguageModel;
  /** Emits the steps. */
  readonly spans: LoopSpans;
  readonly messages: readonly ModelMessage[];
  readonly tools: StepTools;
  /** All tools that the run may use, to count what discovery saved. */
  readonly allTools: readonly Tool[];
  readonly limits: Limits;
  /** The tokens that the run may use in all. */
  readonly tokenBudget: number | undefined;
  readonly signal: AbortSignal;
  readonly traceId: string;
  /** Is counted up as the run goes on. */
  readonly usage: Usage;
  /** Calls a tool; never throws. */
  readonly approvals: LoopApprovals;
  readonly invoke: (
    tool: Tool,
    input: unknown,
    call: { toolCallId: string; signal: AbortSignal },
  ) => Promise<ToolOutcome>;
}

/** How the loop requests approvals. */
export interface LoopApprovals {
  /** Prepares the call. Resolves to whether a person must approve it; an invalid or denied call needs no approval. */
  needed(tool: Tool, input: unknown, toolCallId: string): Promise<boolean>;
  /** Requests the approval of a call for which it is `needed`. */
  request(
    tool: Tool,
    input: unknown,
    toolCallId: string,
  ): Promise<{ readonly id: string; readonly description: CallDescription | undefined }>;
}

/** What a run has used so far. */
export interface Usage {
  inputTokens: number;
  outputTokens: number;
  totalTokens: number;
  steps: number;
  /** About how much of the input the definitions of tools were, over all steps. */
  toolTokens: number;
  /** How much more it would have been without discovery. */
  toolTokensSaved: number;
}

/** A running loop. It starts when made, and `read` gives what came of it. */
export interface Loop {
  read(): Promise<{ readonly chunks: readonly UIMessageChunk[] } | { readonly end: RunEnd }>;
}

/** Starts the loop. Model errors become an end with a code and a fixed text; nothing of the prompt is in it. */
export function startLoop(options: LoopOptions): Loop {
  const { usage } = options;
  const tools: SdkToolSet = {};
  const reader = callModel(options, tools).getReader();
  let asked = 0;
  return {
    async read() {
      const { done, value: part } = await reader.read();
      if (done) return { end: failed(new PinnaceError('internal', 'The model call ended without a result')) };
      if (isOutput(part)) options.spans.clock.heard();
      const end = endOf(part, { signal: options.signal, clock: options.spans.clock.signal, asked });
      if (end) return { end };
      if (part.type === 'tool-approval-request') {
        asked += 1;
        return { chunks: [await askApproval(part, options)] };
      }
      if (part.type === 'finish-step') addUsage(usage, part.usage);
      return { chunks: toChunks(part, options, tools) };
    },
  };
}

function callModel(options: LoopOptions, tools: SdkToolSet): ReadableStream<TextStreamPart<SdkToolSet>> {
  const { agent: { instructions, modelSettings }, model, spans, messages, limits, tokenBudget, usage } = options;
  const budgetSpent: StopCondition<SdkToolSet> = () => usage.totalTokens >= (tokenBudget ?? Infinity);
  return streamText({
    ...callSettings(modelSettings, limits),
    model,
    ...(instructions !== '' && { instructions }),
    messages: [...messages],
    tools,
    // The SDK reads `tools` again for each step.
    prepareStep: () => {
      spans.startStep();
      takeStepTools(tools, options);
      return undefined;
    },
    // Repairs nothing: it gives the error our words, for the model too. The SDK's would list every tool, or quote the engine.
    experimental_repairToolCall: ({ toolCall, error }) => {
      error.message = refusedCall(error, () => options.tools.missing(toolCall.toolName)).message;
      return Promise.resolve(null);
    },
    toolApproval: async ({ toolCall }) => await approvalOf(toolCall, options),
    stopWhen: [isStepCount(limits.steps), budgetSpent, ({ steps }) => !mayExecute(steps.at(-1)?.finishReason)],
    abortSignal: spans.clock.signal,
    onLanguageModelCallEnd: spans.onLanguageModelCallEnd,
  }).stream;
}

/** Whether the model has said something. */
export function isOutput(part: TextStreamPart<SdkToolSet>): boolean {
  switch (part.type) {
    case 'text-delta':
    case 'reasoning-delta':
      return part.text !== '';
    case 'tool-input-delta':
      return part.delta !== '';
    case 'file':
    case 'tool-call':
      return true;
    default:
      return false;
  }
}

/** The settings of every model call except its time limits. */
export function callSettings(settings: Agent['modelSettings'], { modelRetries, outputTokens }: Limits) {
  return {
    ...definedOnly(settings),
    maxRetries: modelRetries,
    ...(outputTokens !== undefined && {
      maxOutputTokens: Math.min(outputTokens, settings?.maxOutputTokens ?? outputTokens),
    }),
    telemetry: { isEnabled: false },
    onError: () => undefined, // the error is a part of the stream; the default would print it, with the prompt
  };
}

/** `undefined` would be sent to the provider as a setting of its own. */
function definedOnly(settings: Agent['modelSettings']): Record<string, number> {
  const entries = Object.entries(settings ?? {}).filter((entry): entry is [string, number] => entry[1] !== undefined);
  return Object.fromEntries(entries);
}

/** The SDK does not check inputs by these: `invoke` does, and says what is wrong in our words. */
const schemas = new WeakMap<Tool, Schema<Record<string, unknown>>>();

function schemaOf(tool: Tool): Schema<Record<string, unknown>> {
  const schema = schemas.get(tool) ?? jsonSchema<Record<string, unknown>>(tool.definition.paramsSchema);
  schemas.set(tool, schema);
  return schema;
}

/** Makes the set hold what the model may call in the coming step, and counts what that costs. */
function takeStepTools(set: SdkToolSet, { tools, allTools, invoke, usage }: LoopOptions): void {
  const current = tools.current();
  const left = new Set(Object.keys(set));
  for (const tool of current) {
    const { name } = tool.definition;
    if (!left.delete(name)) set[name] = toSdkTool(tool, invoke);
  }
  for (const name of left) delete set[name];
  const tokens = definitionTokens(current);
  usage.toolTokens += tokens;
  usage.toolTokensSaved += definitionTokens(allTools) - tokens;
}

function toSdkTool(tool: Tool, invoke: LoopOptions['invoke']): SdkToolSet[string] {
  return sdkTool({
    description: tool.definition.description,
    inputSchema: schemaOf(tool),
    async execute(input, { toolCallId, abortSignal }) {
      const outcome = await invoke(tool, input, { toolCallId, signal: abortSignal ?? new AbortController().signal });
      if (outcome.ok) return outcome.output;
      throw fromData(outcome.error);
    },
  });
}

type SdkCall = { readonly toolCallId: string; readonly toolName: string; readonly input: unknown };

/** A tool that was offered at the start of the step may be inactive now. The call is still valid. */
function findTool({ tools, allTools }: LoopOptions, { toolName }: SdkCall): Tool | undefined {
  const isIt = ({ definition }: Tool): boolean => definition.name === toolName;
  return tools.current().find(isIt) ?? allTools.find(isIt);
}

/** The SDK only stops at such calls: it neither stores nor checks decisions. */
async function approvalOf(call: SdkCall, options: LoopOptions): Promise<'user-approval' | 'not-applicable'> {
  const tool = findTool(options, call);
  if (!tool) return 'not-applicable';
  return await options.approvals.needed(tool, call.input, call.toolCallId) ? 'user-approval' : 'not-applicable';
}

async function askApproval({ toolCall }: { toolCall: SdkCall }, options: LoopOptions): Promise<UIMessageChunk> {
  const tool = findTool(options, toolCall);
  if (!tool) throw new PinnaceError('internal', 'Cannot ask about a tool that is not there');
  const { toolCallId, input } = toolCall;
  // The SDK's own id is made with `Math.random`; ours names a record.
  const { id: approvalId, description } = await options.approvals.request(tool, input, toolCallId);
  const facts = description && { reason: describedText(description), approvalDescriptor: description };
  return { type: 'tool-approval-request', approvalId, toolCallId, ...facts };
}

/** The end of the run, when this part is one. */
function endOf(
  part: TextStreamPart<SdkToolSet>,
  { signal, clock, asked }: { signal: AbortSignal; clock: AbortSignal; asked: number },
): RunEnd | undefined {
  switch (part.type) {
    case 'error':
      return failed(part.error);
    case 'abort':
      // Without an abort of the run, a time limit of the model has passed.
      return signal.aborted ? endOfAbort(signal) : failed(clock.reason);
    case 'finish':
      if (isCut(part)) return failed(cut());
      return asked > 0 && mayExecute(part.finishReason)
        ? { type: 'awaiting_approval', finishReason: part.finishReason }
        : endOfFinish(part.finishReason);
    default:
      return undefined;
  }
}

/**
 * Whether the answer ended without a completion signal. Providers say `interrupted` then; where they say nothing at all, the SDK
 * says `other`, for no reason of the provider's.
 */
export function isCut(
  { finishReason, rawFinishReason }: Pick<
    Extract<TextStreamPart<SdkToolSet>, { type: 'finish' }>,
    'finishReason' | 'rawFinishReason'
  >,
): boolean {
  return finishReason === 'interrupted' || (finishReason === 'other' && rawFinishReason === undefined);
}

/** Whether the calls of an answer may be made: one that was cut, filtered or became too long was not meant so. */
export function mayExecute(finishReason: string | undefined): boolean {
  return finishReason === 'tool-calls' || finishReason === 'stop';
}

/** The end for an aborted signal: by the run's deadline or its caller. */
export function endOfAbort({ reason }: AbortSignal): RunEnd {
  if (reason instanceof PinnaceError) return failed(reason);
  return { type: 'cancelled', reason: typeof reason === 'string' ? reason.slice(0, 100) : 'cancelled' };
}

function endOfFinish(finishReason: Extract<TextStreamPart<SdkToolSet>, { type: 'finish' }>['finishReason']): RunEnd {
  if (finishReason === 'error') return failed(reportedError());
  if (finishReason !== 'tool-calls') return { type: 'completed', finishReason };
  const error = toData(
    new PinnaceError('budget_exceeded', 'The run was stopped at its limit of steps or tokens, before an answer', {
      details: { reason: 'steps_or_tokens' },
    }),
  );
  return { type: 'stopped', finishReason, error };
}

/** The end for an error of the model or the loop. */
export function failed(error: unknown): RunEnd {
  return { type: 'failed', error: toData(toModelError(error)) };
}

function addUsage(
  usage: Usage,
  step: { inputTokens: number | undefined; outputTokens: number | undefined; totalTokens: number | undefined },
): void {
  usage.inputTokens += step.inputTokens ?? 0;
  usage.outputTokens += step.outputTokens ?? 0;
  usage.totalTokens += step.totalTokens ?? 0;
  usage.steps += 1;
}

function toChunks(
  part: TextStreamPart<SdkToolSet>,
  options: LoopOptions,
  tools: SdkToolSet,
): readonly UIMessageChunk[] {
  const { traceId, spans, tools: stepTools } = options;
  if (part.type === 'start') return []; // ours was sent before
  if (part.type === 'tool-error' && !(part.error instanceof PinnaceError)) return []; // shown with the call, as invalid
  const missing = (): PinnaceError => stepTools.missing('toolName' in part ? part.toolName : '');
  const chunk = toUIMessageChunk(part, { tools, onError: (error) => refusedCall(error, missing).message });
  if (!chunk) return [];
  const error = errorOfCall(part, missing) ?? errorOfResult(part, options);
  if (!error || !('toolCallId' in part)) return [chunk];
  if (part.type === 'tool-call') emitRejected(error, spans);
  return [chunk, toolErrorPart({ toolCallId: part.toolCallId, tool: part.toolName, traceId }, error)];
}

/** The error of a call whose result says that it failed. */
function errorOfResult(part: TextStreamPart<SdkToolSet>, options: LoopOptions): ErrorData | undefined {
  if (part.type !== 'tool-result') return undefined;
  const tool = findTool(options, part);
  return tool && failureOf(tool, { ok: true, output: part.output }) ? toolFailure : undefined;
}

/** Emit only an error event for calls that never started. The model chose the name, so it is not in the event. */
function emitRejected({ code, message, retryable }: ErrorData, { current }: LoopSpans): void {
  current.emit({
    action: 'error',
    target: { type: 'tool', id: 'unknown' },
    status: 'error',
    error: { code, message, retryable },
  });
}

/** The error of a call that failed or could not even be made. */
function errorOfCall(part: TextStreamPart<SdkToolSet>, missing: () => PinnaceError): ErrorData | undefined {
  const invalid = part.type === 'tool-call' && part.invalid === true;
  return invalid || part.type === 'tool-error' ? toData(refusedCall(part.error, missing)) : undefined;
}

/** The SDK refuses calls of unknown tools and inputs that are no JSON; its text quotes them. */
export function refusedCall(error: unknown, missing: () => PinnaceError): PinnaceError {
  if (error instanceof PinnaceError) return error;
  return NoSuchToolError.isInstance(error)
    ? missing()
    : new PinnaceError('invalid_argument', 'Cannot call the tool: its input is not JSON');
}
