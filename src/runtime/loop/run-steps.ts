/** The loop of a run: call the model, settle the calls that it asks for, and again until it has answered. */

import type { LanguageModelV4, LanguageModelV4Message, LanguageModelV4ToolResultPart } from '@ai-sdk/provider';
import type { JSONValue, UIMessageChunk } from '../../contracts/ai-types.ts';
import { type ErrorData, PinnaceError, toData } from '../../base/errors.ts';
import { raceAbort } from '../../base/until-aborted.ts';
import type { Agent } from '../../base/schema.ts';
import { type CallDescription, describedText } from '../../tools/approval.ts';
import type { Tool, ToolOutcome } from '../../tools/tool.ts';
import { outcomeChunks, toolErrorPart } from '../calls/call-chunks.ts';
import type { RunEnd } from '../log/run-end.ts';
import type { Limits } from '../resolve/limits.ts';
import type { LoopSpans } from './loop-spans.ts';
import { isOutput, openCall } from '../model/model-call.ts';
import { toModelError } from '../model/model-error.ts';
import type { ModelMessage } from '../messages/model-messages.ts';
import { toPrompt, toPromptTools } from '../messages/model-prompt.ts';
import type { ParsedCall } from './parse-call.ts';
import { type Answer, createStepContent } from './step-content.ts';
import { definitionTokens, type StepTools } from './step-tools.ts';

/** What the loop needs. */
export interface LoopOptions {
  readonly agent: Agent;
  readonly model: LanguageModelV4;
  /** Observes steps, model calls and their times. */
  readonly spans: LoopSpans;
  readonly messages: readonly ModelMessage[];
  readonly tools: StepTools;
  /** All tools of the run, to count what discovery saves. */
  readonly allTools: readonly Tool[];
  readonly limits: Limits;
  /** The tokens that the run may use in all. */
  readonly tokenBudget: number | undefined;
  readonly signal: AbortSignal;
  readonly traceId: string;
  /** Is added to as the run goes on. */
  readonly usage: Usage;
  readonly approvals: LoopApprovals;
  /** Calls a tool; never throws. */
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

/** A running loop. */
export interface Loop {
  read(): Promise<{ readonly chunks: readonly UIMessageChunk[] } | { readonly end: RunEnd }>;
}

/** Starts the loop. Model errors become an end with a code and a fixed text; nothing of the prompt is in it. */
export function startLoop(options: LoopOptions): Loop {
  const { signal, spans: { clock } } = options;
  const steps = runSteps(options);
  return {
    async read() {
      try {
        const { done, value } = await steps.next();
        return done ? { end: value } : { chunks: value };
      } catch (error) {
        if (signal.aborted) return { end: endOfAbort(signal) };
        return { end: failed(clock.signal.aborted ? clock.signal.reason : error) };
      }
    },
  };
}

/** Runs steps until the run ends; each yield is one batch for the log. */
async function* runSteps(run: LoopOptions): AsyncGenerator<readonly UIMessageChunk[], RunEnd> {
  const prompt = toPrompt(run.agent.instructions, run.messages); // only appended to
  const shownIds = new Set<string>();
  for (let step = 1;; step++) {
    const answer = yield* takeAnswer(run, { prompt, shownIds, step });
    prompt.push(answer.message);
    addUsage(run.usage, answer);
    const settled = mayExecute(answer.finishReason) ? yield* settleCalls(answer.calls, run) : unsettled;
    if (settled.results.length > 0) prompt.push({ role: 'tool', content: [...settled.results] });
    yield [{ type: 'finish-step' }];
    const end = endOf(answer, settled, run);
    if (end) return end;
  }
}

interface StepPlace {
  readonly prompt: readonly LanguageModelV4Message[];
  readonly shownIds: Set<string>;
  readonly step: number;
}

async function* takeAnswer(
  run: LoopOptions,
  { prompt, shownIds, step }: StepPlace,
): AsyncGenerator<readonly UIMessageChunk[], Answer<Tool>> {
  const { agent, model, spans, limits } = run;
  spans.startStep();
  const offered = offeredTools(run);
  const call = await openCall({
    model,
    settings: agent.modelSettings,
    limits,
    prompt: [...prompt],
    tools: toPromptTools(offered.map(({ definition }) => definition)),
    clock: spans.clock,
    onFailedTry: (finishReason) => spans.endCall({ finishReason, usage: undefined, firstOutputMs: undefined }),
  });
  const content = createStepContent<Tool>({
    step,
    shownIds,
    find: (name) => offered.find(({ definition }) => definition.name === name),
    missing: (name) => run.tools.missing(name),
    onInvalid: (invalid, error) => {
      emitRejected(error, spans);
      return [
        toolErrorPart({ toolCallId: invalid.toolCallId, tool: invalid.toolName, traceId: run.traceId }, toData(error)),
      ];
    },
  });
  yield [{ type: 'start-step' }];
  for (let parts = await call.read(); parts; parts = await call.read()) {
    if (parts.some(isOutput)) spans.clock.heard();
    const chunks = content.take(parts);
    if (chunks.length > 0) yield chunks;
    content.requireSound();
  }
  const answer = content.end();
  const { finishReason, usage } = answer;
  spans.endCall({ finishReason, usage, firstOutputMs: call.firstOutputMs });
  return answer;
}

/** The tools that the model may call in the coming step; counts their tokens. */
function offeredTools({ tools, allTools, usage }: LoopOptions): readonly Tool[] {
  const current = tools.current();
  const tokens = definitionTokens(current);
  usage.toolTokens += tokens;
  usage.toolTokensSaved += definitionTokens(allTools) - tokens;
  return current;
}

interface Settled {
  /** In the order of the calls. */
  readonly results: readonly LanguageModelV4ToolResultPart[];
  /** How many calls wait for a person. */
  readonly waiting: number;
}

const unsettled: Settled = { results: [], waiting: 0 };

/** Makes the calls at once, and yields what becomes of each as it ends. */
async function* settleCalls(
  calls: readonly ParsedCall<Tool>[],
  run: LoopOptions,
): AsyncGenerator<readonly UIMessageChunk[], Settled> {
  const results: (LanguageModelV4ToolResultPart | undefined)[] = calls.map(() => undefined);
  const ready: UIMessageChunk[] = [];
  let wake = Promise.withResolvers<void>();
  let failure: { readonly error: unknown } | undefined;
  let [open, waiting] = [calls.length, 0];
  const settleAt = async (call: ParsedCall<Tool>, at: number): Promise<void> => {
    try {
      const settled = await settle(call, run);
      if (settled.outcome) results[at] = resultOf(call, settled.outcome);
      else waiting += 1;
      ready.push(...settled.chunks);
    } catch (error) {
      failure ??= { error };
    }
    open -= 1;
    wake.resolve();
  };
  for (const [at, call] of calls.entries()) void settleAt(call, at);
  while (open > 0) {
    await raceAbort(wake.promise, run.spans.clock.signal);
    wake = Promise.withResolvers();
    if (failure) throw failure.error;
    if (ready.length > 0) yield ready.splice(0);
  }
  if (ready.length > 0) yield ready.splice(0);
  return { results: results.filter((result) => result !== undefined), waiting };
}

/** What becomes of a call: an outcome, or an approval that a person must give. */
async function settle(
  { tool, toolCallId, toolName, input, error, providerMetadata }: ParsedCall<Tool>,
  run: LoopOptions,
): Promise<{ readonly chunks: readonly UIMessageChunk[]; readonly outcome?: ToolOutcome }> {
  const { approvals, invoke, spans, traceId } = run;
  if (error || !tool) {
    return { chunks: [], outcome: { ok: false, error: toData(error ?? run.tools.missing(toolName)) } };
  }
  if (await approvals.needed(tool, input, toolCallId)) {
    const { id: approvalId, description } = await approvals.request(tool, input, toolCallId);
    const facts = description && { reason: describedText(description), approvalDescriptor: description };
    return { chunks: [{ type: 'tool-approval-request', approvalId, toolCallId, ...facts }] };
  }
  const outcome = await invoke(tool, input, { toolCallId, signal: spans.clock.signal });
  const [shown, ...rest] = outcomeChunks(tool, outcome, { toolCallId, traceId });
  const first = shown && providerMetadata ? { ...shown, providerMetadata } as UIMessageChunk : shown; // an end of a call has the field
  return { chunks: first ? [first, ...rest] : rest, outcome };
}

/** The result of a call as the model receives it; it has the metadata of the call. */
function resultOf(
  { toolCallId, toolName, providerMetadata }: ParsedCall<Tool>,
  outcome: ToolOutcome,
): LanguageModelV4ToolResultPart {
  const options = providerMetadata === undefined ? {} : { providerOptions: providerMetadata };
  return { type: 'tool-result', toolCallId, toolName, output: outputOf(outcome), ...options };
}

function outputOf(outcome: ToolOutcome): LanguageModelV4ToolResultPart['output'] {
  if (!outcome.ok) return { type: 'error-text', value: outcome.error.message };
  const { output } = outcome;
  if (typeof output === 'string') return { type: 'text', value: output };
  return { type: 'json', value: (output ?? null) as JSONValue }; // safe: `invokeTool` made it JSON
}

/** The end of the run after a step; `undefined` where another step follows. */
function endOf(
  { finishReason, calls, isDeferred }: Answer<Tool>,
  { results, waiting }: Settled,
  { limits, tokenBudget = Infinity, usage }: LoopOptions,
): RunEnd | undefined {
  if (waiting > 0) return { type: 'awaiting_approval', finishReason };
  const hasMore = mayExecute(finishReason) && (isDeferred || (calls.length > 0 && results.length === calls.length));
  if (hasMore && usage.steps < limits.steps && usage.totalTokens < tokenBudget) return undefined;
  if (finishReason !== 'tool-calls') return { type: 'completed', finishReason };
  const error = new PinnaceError(
    'budget_exceeded',
    'The run was stopped at its limit of steps or tokens, before an answer',
    {
      details: { reason: 'steps_or_tokens' },
    },
  );
  return { type: 'stopped', finishReason, error: toData(error) };
}

/** Whether the calls of an answer may be made: an answer that was cut, filtered or became too long may lack parts of them. */
export function mayExecute(finishReason: string | undefined): boolean {
  return finishReason === 'tool-calls' || finishReason === 'stop';
}

/** The end for a signal that aborted: by the run's own deadline, or by its caller. */
export function endOfAbort({ reason }: AbortSignal): RunEnd {
  if (reason instanceof PinnaceError) return failed(reason);
  return { type: 'cancelled', reason: typeof reason === 'string' ? reason.slice(0, 100) : 'cancelled' };
}

/** The end for an error of the model or the loop. */
export function failed(error: unknown): RunEnd {
  return { type: 'failed', error: toData(toModelError(error)) };
}

function addUsage(usage: Usage, { usage: { inputTokens, outputTokens } }: Answer<Tool>): void {
  const [input, output] = [inputTokens.total ?? 0, outputTokens.total ?? 0];
  usage.inputTokens += input;
  usage.outputTokens += output;
  usage.totalTokens += input + output;
  usage.steps += 1;
}

/** Emits only an error event for a call that never started. The name that the model gave may be anything. */
function emitRejected(error: PinnaceError, { current }: LoopSpans): void {
  const { code, message, retryable }: ErrorData = toData(error);
  current.emit({
    action: 'error',
    target: { type: 'tool', id: 'unknown' },
    status: 'error',
    error: { code, message, retryable },
  });
}
