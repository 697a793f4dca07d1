/**
 * The loop of a run: call the model and settle its tool calls, until it has answered. What must hold:
 *
 * 1. Each batch that `read` returns is recorded before the loop goes on. So a call is made after the chunk that announces it, and
 *    `finish-step` comes behind what became of every call of its step.
 * 2. `read` never throws: every path is one `RunEnd`. What is not a `PinnaceError` is a bug, and is reported; its text is in no end.
 * 3. A step asks for room in the budget before its span opens and the model is called. The tools that it offers and those that it
 *    accepts are read once a step, before the call: what is loaded meanwhile is for the next step.
 * 4. Messages of a person come in before the prompt is fitted, so that they are fitted too. The prompt grows at its end, and
 *    only the context window replaces parts of it: else the provider's cache is lost.
 * 5. Calls are made only where the model has finished with them (`mayExecute`). Results stand in the order of the calls, whichever
 *    ends first; a call without a result waits for a person, and then the run ends there.
 * 6. A model that goes in circles is told so, and then stopped. What a person says starts the count anew (`stalls.ts`).
 * 7. A call that its provider makes itself, and asks about, waits for a person as any other. What was decided goes back as the answer to
 *    the provider's question; such a request is sent once.
 * 8. A rejected answer and its correction are no part of the chat, and the repair is tried once. So is an answer of thoughts alone, which
 *    is asked for again as often as a failed call.
 */

import type {
  LanguageModelV4Message,
  LanguageModelV4ToolApprovalResponsePart,
  LanguageModelV4ToolChoice,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider';
import { type ErrorData, PinnaceError, toData, toPinnaceError } from '../base/errors.ts';
import type { JSONValue, UIMessageChunk } from '../contracts/ai-types.ts';
import { reportAt } from '../events/report.ts';
import type { Tool, ToolOutcome } from '../tools/tool.ts';
import { toolErrorPart } from '../tools/call-ends.ts';
import type { FinishReason, Loop, RunEnd } from './run-record.ts';
import { CallIds, callIdsIn } from './call-ids.ts';
import { meantInput } from '../tools/as-meant.ts';
import { calledOfProvider } from '../tools/provider-tool.ts';
import { toolCallName } from '../discovery/discovery-tools.ts';
import { toPrompt, toPromptTools } from './model-prompt.ts';
import { originOf, withOrigin } from './message-parts.ts';
import { createCacheMarks } from './cache-marks.ts';
import { modelKey } from './prompt-chain.ts';
import { openCall } from './model-call.ts';
import { emptyAnswer, modelRetry } from './model-error.ts';
import type { LoopTerms, ResumedRun, RunContext } from './run-context.ts';
import type { Usage } from './model-budget.ts';
import type { Agent } from '../base/schema.ts';
import type { RunSpans } from './run-clock.ts';
import { type Answer, createStepContent, incomplete, mayExecute } from './step-content.ts';
import { definitionTokens } from './estimate-prompt.ts';
import { raceAbort } from '../base/until-aborted.ts';
import type { SettledCall } from '../tools/run-calls.ts';
import type { ParsedCall } from './model-stream.ts';
import type { Issue } from '../base/parse.ts';
import { RepeatedCalls, stallChunk, stalledRun, withStallLine } from './stalls.ts';
import type { Limits } from './limits.ts';

/**
 * The loop of a run. Each chunk batch that it yields is recorded before the loop goes on, so a call is made after it was announced.
 * Model errors become an end with a code and a fixed text; nothing of the prompt is in it.
 */
export class ModelLoop implements Loop {
  readonly #run: RunContext;
  readonly #terms: LoopTerms;
  readonly #mark: ReturnType<typeof createCacheMarks>;
  readonly #steps: AsyncGenerator<readonly UIMessageChunk[], RunEnd>;
  readonly #repeated: RepeatedCalls;
  /** Whether the next call lets the provider make calls that were approved: it is not tried again, for they might be made twice. */
  #isOnce: boolean;
  /** How often the model has answered without a word. */
  #silent = 0;
  /** Set once the run goes in circles. */
  #stalled: PinnaceError | undefined;

  constructor(run: RunContext, terms: LoopTerms) {
    this.#run = run;
    this.#terms = terms;
    const { principal: { tenant }, request: { chat } } = run;
    this.#mark = createCacheMarks({ tenant, agentId: terms.agent.id, chatId: chat.id });
    this.#repeated = new RepeatedCalls(run.limits.stallAfter);
    this.#isOnce = terms.approved.size > 0;
    this.#steps = this.#runSteps();
  }

  async read(): ReturnType<Loop['read']> {
    const { abort: { signal }, report, spans, usage } = this.#run;
    try {
      const { done, value } = await this.#steps.next();
      return done ? { end: value } : { chunks: value };
    } catch (error) {
      if (signal.aborted) return { end: endOfAbort(signal) };
      if (!(error instanceof PinnaceError)) report(error, { kind: 'run', step: spans.step }); // a bug
      return { end: endOfError(spans.clock.signal.aborted ? spans.clock.signal.reason : error, usage) };
    }
  }

  /** Runs steps until the run ends; each yield is one batch for the log. */
  async *#runSteps(): AsyncGenerator<readonly UIMessageChunk[], RunEnd> {
    const { request: { chat }, resolution: { resumed }, steering, usage, limits } = this.#run;
    if (usage.steps >= limits.steps) return stopped('tool-calls', stepLimit(limits)); // by an earlier owner of the run
    const { agent, messages, contextWindow, otherCallIds } = this.#terms;
    const prompt = toPrompt(agent.instructions, messages); // only the context window replaces any
    await contextWindow.restore(prompt);
    if (resumed) this.#goOn(resumed, prompt);
    const shownIds = new Set(resumed?.shownIds);
    const callIds = new CallIds(() => [...otherCallIds, ...callIdsIn([...chat.messages, ...messages])]);
    for (let step = resumed?.step ?? 1;; step++) {
      const arrived = steering.deliver(prompt);
      if (arrived.length > 0) {
        this.#repeated.restart();
        yield arrived;
      }
      const fitting = contextWindow.fit(prompt);
      if (fitting) yield* fitting;
      const needsAnswer = !hasSaid(prompt);
      const { answer, spent } = yield* this.#takeAnswer({ prompt, shownIds, callIds, step, needsAnswer });
      prompt.push(answer.message);
      usage.steps += 1;
      contextWindow.learn(answer.usage.inputTokens.total);
      const settled = mayExecute(answer.finishReason) ? yield* this.#settleCalls(answer.calls) : unsettled;
      if (settled.results.length > 0) prompt.push({ role: 'tool', content: [...settled.results] });
      yield [{ type: 'finish-step' }];
      const isSilent = needsAnswer && isEmpty(answer);
      if (isSilent && !spent && this.#mayAskAgain(answer)) {
        prompt.pop();
        yield [{ type: 'reset-step' }];
        continue;
      }
      const how = spent ? stopped(answer.finishReason, spent) : this.#endOf(answer, { ...settled, isSilent });
      const end = yield* this.#readOutput(how, { answer, prompt });
      if (end) return end;
    }
  }

  /** An answer of thoughts alone cannot be taken for another try, for they were shown. It is asked for again as a step. */
  #mayAskAgain({ finishReason }: Answer<Tool>): boolean {
    const { limits, usage } = this.#run;
    const { models, output, onRetry } = this.#terms;
    const attempt = ++this.#silent + 1;
    if (attempt > limits.modelRetries + 1 || output || !mayExecute(finishReason) || usage.steps >= limits.steps) {
      return false;
    }
    const next = { attempt, of: limits.modelRetries + 1, delayMs: 0 };
    onRetry(modelRetry(emptyAnswer(), { ...next, model: models.current }));
    return true;
  }

  /** What the steps before have issued belongs to the answer, and what they sent is the beginning of the next call. */
  #goOn({ answerId, isExact }: ResumedRun, prompt: readonly LanguageModelV4Message[]): void {
    const { agent, chain, messageId, models } = this.#terms;
    const by = { messageId, agentId: agent.id, model: modelKey(models.current) };
    for (const message of prompt) if (originOf(message)?.id === answerId) chain.issued(message, by);
    if (isExact) chain.goOnFrom(prompt);
  }

  async *#takeAnswer(
    { prompt, shownIds, callIds, step, needsAnswer }: StepPlace,
  ): AsyncGenerator<readonly UIMessageChunk[], TakenAnswer> {
    const { budget, spans, limits, files, resolution: { stepTools, continues } } = this.#run;
    const { agent, models, contextWindow, chain, output, onPrompt, onBreak, onRetry } = this.#terms;
    const { modelSettings: settings } = agent;
    const offered = stepTools.current();
    const find = stepTools.callable();
    const tools = toPromptTools(offered);
    budget.requireRoom({ prompt, tools }, models.current.provider.prices);
    spans.startStep();
    this.#countTools(offered);
    const toolChoice = toolChoiceOf(settings?.toolChoice, { offered, isFirst: step === 1 && continues === undefined });
    if (onPrompt) await onPrompt(prompt, step);
    const isOnce = this.#isOnce;
    this.#isOnce = false;
    const call = await openCall({
      models,
      budget,
      settings,
      limits: isOnce ? { ...limits, modelRetries: 0 } : limits,
      prompt,
      fit: contextWindow.fitTo,
      tools,
      definitionOf: stepTools.definitionOf,
      toolChoice,
      responseFormat: output?.responseFormat,
      chain,
      onBreak,
      mark: this.#mark,
      clock: spans.clock,
      needsAnswer,
      report: reportAt(this.#run.report, { step }),
      onRetry,
    });
    const content = this.#contentOf({ step, shownIds, callIds }, { find, offered });
    yield [...call.fallback ? [{ type: 'data-model' as const, data: call.fallback }] : [], { type: 'start-step' }];
    for (let parts = await call.read(); parts; parts = await call.read()) {
      const chunks = content.take(parts);
      if (chunks.length > 0) yield files.shown(chunks);
      content.requireSound();
    }
    const answer = content.end();
    const spent = call.end(answer);
    chain.issued(answer.message, {
      messageId: this.#terms.messageId,
      agentId: agent.id,
      model: modelKey(models.current),
    });
    requireChoice(toolChoice, answer);
    return { answer, spent };
  }

  #contentOf(
    place: Omit<StepPlace, 'prompt' | 'needsAnswer'>,
    { find, offered }: { readonly find: (name: string) => Tool | undefined; readonly offered: readonly Tool[] },
  ): ReturnType<typeof createStepContent<Tool>> {
    const { spans, traceId, resolution: { stepTools } } = this.#run;
    return createStepContent<Tool>({
      ...place,
      find,
      meant: meantInput,
      approved: this.#terms.approved,
      findAsked: (name) => calledOfProvider(offered, name),
      isWrapping: find(toolCallName) !== undefined,
      missing: (name) => stepTools.missing(name),
      onInvalid: ({ toolCallId, toolName: tool }, error) => {
        emitRejected(error, spans);
        return [toolErrorPart({ toolCallId, tool, traceId }, toData(error))];
      },
    });
  }

  /** Counts the tokens of the tools that the model may call in a step. */
  #countTools(offered: readonly Tool[]): void {
    const { usage, resolution: { toolSet } } = this.#run;
    const tokens = definitionTokens(offered);
    usage.toolTokens += tokens;
    usage.toolTokensSaved += definitionTokens(toolSet.tools) - tokens;
  }

  /** Makes the calls at once, and yields what becomes of each as it ends. */
  async *#settleCalls(calls: readonly ParsedCall<Tool>[]): AsyncGenerator<readonly UIMessageChunk[], Settled> {
    const results: (Settled['results'][number] | undefined)[] = calls.map(() => undefined);
    this.#repeated.startStep();
    const ready: UIMessageChunk[] = [];
    let wake = Promise.withResolvers<void>();
    let failure: { readonly error: unknown } | undefined;
    let [open, waiting] = [calls.length, 0];
    const settleAt = async (call: ParsedCall<Tool>, at: number): Promise<void> => {
      try {
        const settled = await this.#settle(call);
        ready.push(...settled.chunks);
        if (settled.outcome) {
          const times = this.#timesOf(call, settled);
          const output = await this.#outputOf(settled.outcome);
          results[at] = call.providerApprovalId === undefined
            ? resultOf(call, times === undefined ? output : withStallLine(output, times))
            : this.#refusalOf({ ...call, providerApprovalId: call.providerApprovalId }, settled.outcome);
          if (times !== undefined) ready.push(stallChunk(call.toolCallId, times));
        } else waiting += 1;
      } catch (error) {
        failure ??= { error };
      }
      open -= 1;
      wake.resolve();
    };
    for (const [at, call] of calls.entries()) void settleAt(call, at);
    while (open > 0) {
      await raceAbort(wake.promise, this.#run.spans.clock.signal);
      wake = Promise.withResolvers();
      if (failure) throw failure.error;
      if (ready.length > 0) yield ready.splice(0);
    }
    if (ready.length > 0) yield ready.splice(0);
    return { results: results.filter((result) => result !== undefined), waiting };
  }

  /** What becomes of a call: an outcome, or an approval that a person must give. */
  async #settle(
    { tool, toolCallId, toolName, input, error, providerMetadata, providerApprovalId }: ParsedCall<Tool>,
  ): Promise<SettledCall> {
    const { calls, spans, resolution: { stepTools } } = this.#run;
    if (error || !tool) {
      return { chunks: [], outcome: { ok: false, error: toData(error ?? stepTools.missing(toolName)) } };
    }
    const call = providerApprovalId === undefined
      ? calls.open(tool, input, toolCallId)
      : calls.openAsked(tool, input, { toolCallId, providerApprovalId });
    const { chunks, outcome } = await calls.askOrSettle(call, spans.clock.signal);
    const [shown, ...rest] = chunks;
    if (!outcome) return { chunks };
    const { hasAsked } = call;
    const first = shown && providerMetadata ? { ...shown, providerMetadata } as UIMessageChunk : shown; // an end of a call has the field
    return { chunks: first ? [first, ...rest] : rest, outcome, hasAsked };
  }

  /** The answer to a provider whose call no person may approve. The next turns of the chat send it as well. */
  #refusalOf(
    { toolCallId, toolName, input, providerApprovalId }: ParsedCall<Tool> & { readonly providerApprovalId: string },
    outcome: ToolOutcome,
  ): LanguageModelV4ToolApprovalResponsePart {
    const { agent, chain, messageId, models } = this.#terms;
    const reason = outcome.ok ? undefined : outcome.error.message;
    const by = { messageId, agentId: agent.id, model: modelKey(models.current) };
    chain.answered({ toolCallId, toolName, input, providerApprovalId, approved: false, reason }, by);
    return responseTo(providerApprovalId, { approved: false, reason });
  }

  /** How often the call had this outcome, where that is too often. */
  #timesOf(call: ParsedCall<Tool>, { outcome, hasAsked }: SettledCall): number | undefined {
    if (hasAsked) this.#repeated.restart();
    const times = outcome && this.#repeated.count(call, outcome);
    if (times === undefined) return undefined;
    const isOver = this.#repeated.isOver(times);
    if (isOver) this.#stalled ??= stalledRun(call.toolName, times);
    if (isOver || this.#repeated.isFirst(times)) {
      const target = { type: 'tool', id: call.tool?.definition.id ?? 'unknown' };
      const payload = { toolCallId: call.toolCallId, times };
      this.#run.spans.current.emit({ action: 'run.stall', target, status: isOver ? 'error' : 'ok', payload });
    }
    return times;
  }

  #outputOf(outcome: ToolOutcome): Output | Promise<Output> {
    if (!outcome.ok) return { type: 'error-text', value: outcome.error.message };
    const { output } = outcome;
    if (typeof output === 'string') return { type: 'text', value: output };
    return this.#run.files.result(output) ?? { type: 'json', value: (output ?? null) as JSONValue }; // safe: `invokeTool` made it JSON
  }

  /** The end of the run after a step; `undefined` where another step follows. */
  #endOf(
    answer: Answer<Tool>,
    { results, waiting, isSilent }: Settled & { readonly isSilent: boolean },
  ): RunEnd | undefined {
    const { limits, usage, steering, budget: { left } } = this.#run;
    const { isEnough, output } = this.#terms;
    const { finishReason, calls, isDeferred } = answer;
    const hasSteps = usage.steps < limits.steps;
    const hasRoom = hasSteps && left.tokens > 0 && left.cost > 0;
    const isSettled = waiting === 0 && results.length === calls.length;
    const hasMore = mayExecute(finishReason) && waiting === 0 && (isDeferred || (calls.length > 0 && isSettled));
    const isStopped = hasMore && isEnough?.(answer, results.filter((result) => result.type === 'tool-result')) === true;
    const stalled = hasMore && !isStopped ? this.#stalled : undefined;
    this.#stalled = undefined;
    if (stalled && !steering.continues(hasRoom)) return stopped(finishReason, stalled);
    if (hasMore && hasSteps && !isStopped) return undefined; // unless it does not fit the budget
    if (steering.continues(isSettled && hasRoom && !isStopped)) return undefined;
    if (waiting > 0) return { type: 'awaiting_approval', finishReason };
    if (isStopped) return { type: 'completed', finishReason };
    if (hasMore && output === undefined) return stopped(finishReason, stepLimit(limits));
    const isDropped = calls.length > 0 && !mayExecute(finishReason);
    const isCut = !mayExecute(finishReason) && answer.text === '';
    if (output === undefined && (isDropped || isCut)) return stopped(finishReason, incomplete(answer));
    if (output === undefined && isSilent) return failed(emptyAnswer());
    if (hasMore && finishReason === 'tool-calls') return stopped(finishReason, stepLimit(limits)); // what was said is no answer
    return { type: 'completed', finishReason }; // also where the calls that it announces never arrived
  }

  /**
   * Returns the end with the answer read: yields its data where it is valid. The first invalid answer is removed from the stream, and
   * the model answers once more, in a step that counts.
   */
  async *#readOutput(
    end: RunEnd | undefined,
    { answer: { finishReason, calls, text, isDeferred }, prompt }: {
      readonly answer: Answer<Tool>;
      readonly prompt: LanguageModelV4Message[];
    },
  ): AsyncGenerator<readonly UIMessageChunk[], RunEnd | undefined> {
    const { limits, usage } = this.#run;
    const { output } = this.#terms;
    if (!output || end?.type !== 'completed') return end;
    if (finishReason === 'length') return truncated();
    if (finishReason === 'content-filter') return failed(refused());
    const said = await output.read(text);
    if (said.ok) {
      yield [output.chunk(said.data)];
      return end;
    }
    const isCutShort = calls.length > 0 || isDeferred; // what was said is no answer that could be repaired
    if (isCutShort) return usage.steps >= limits.steps ? stopped(finishReason, stepLimit(limits)) : failed(missing());
    if (output.isRepaired || usage.steps >= limits.steps) return failed(invalid(said.issues));
    output.isRepaired = true;
    yield [{ type: 'reset-step' }];
    const rejected = prompt.at(-1);
    if (rejected) prompt[prompt.length - 1] = withOrigin({ ...rejected }, repair); // no part of the chat
    prompt.push(withOrigin(output.correction(said.issues), repair));
    return undefined;
  }
}

/** The origin of a rejected answer and its correction. */
const repair = { id: '', kind: 'repair', isPinned: false } as const;

interface StepPlace {
  readonly prompt: LanguageModelV4Message[];
  readonly shownIds: Set<string>;
  readonly callIds: CallIds;
  readonly step: number;
  /** Whether an answer without a word is none. */
  readonly needsAnswer: boolean;
}

interface TakenAnswer {
  readonly answer: Answer<Tool>;
  /** Where the budget has cut it short. */
  readonly spent: PinnaceError | undefined;
}

/** Whether the model has spoken since a person did: then it may end without a word, when its tools have done the rest. */
function hasSaid(prompt: readonly LanguageModelV4Message[]): boolean {
  const asked = prompt.findLastIndex(({ role }) => role === 'user');
  return prompt.slice(asked + 1).some(({ role, content }) =>
    role === 'assistant' && content.some((part) => part.type === 'text' && part.text.trim() !== '')
  );
}

function isEmpty({ message: { content }, text }: Answer<unknown>): boolean {
  return text.trim() === '' &&
    [content].flat().every((part) => typeof part === 'string' || ['text', 'reasoning', 'custom'].includes(part.type));
}

/** Emits only an error event for a call that never started. The name that the model gave may be anything. */
function emitRejected(error: PinnaceError, { current }: RunSpans): void {
  const { code, message, retryable }: ErrorData = toData(error);
  current.emit({
    action: 'error',
    target: { type: 'tool', id: 'unknown' },
    status: 'error',
    error: { code, message, retryable },
  });
}

/** What became of the calls of a step. */
interface Settled {
  /** In the order of the calls. */
  readonly results: readonly (LanguageModelV4ToolResultPart | LanguageModelV4ToolApprovalResponsePart)[];
  /** How many calls wait for a person. */
  readonly waiting: number;
}

/** A step whose calls may not be made. */
const unsettled: Settled = { results: [], waiting: 0 };

/** What a provider receives that has asked about a call. */
function responseTo(
  approvalId: string,
  { approved, reason }: { readonly approved: boolean; readonly reason: string | undefined },
): LanguageModelV4ToolApprovalResponsePart {
  return { type: 'tool-approval-response', approvalId, approved, ...(reason !== undefined && { reason }) };
}

/** The result of a call as the model receives it; it has the metadata of the call. */
function resultOf(
  { toolCallId, toolName, providerMetadata }: ParsedCall<Tool>,
  output: Output,
): LanguageModelV4ToolResultPart {
  const options = providerMetadata === undefined ? {} : { providerOptions: providerMetadata };
  return { type: 'tool-result', toolCallId, toolName, output, ...options };
}

type Output = LanguageModelV4ToolResultPart['output'];

/**
 * Returns the choice of the coming step: that of the agent's settings in the first step of an answer, `undefined` in all others.
 *
 * @throws PinnaceError `invalid_argument` with the reason `tool_choice` where no tool of the step can fulfill it.
 */
function toolChoiceOf(
  given: NonNullable<Agent['modelSettings']>['toolChoice'],
  { offered, isFirst }: { readonly offered: readonly Tool[]; readonly isFirst: boolean },
): LanguageModelV4ToolChoice | undefined {
  if (given === undefined || !isFirst) return undefined;
  const choice: LanguageModelV4ToolChoice = typeof given === 'string' ? { type: given } : given;
  const isPossible = choice.type === 'tool'
    ? offered.some(({ definition: { name } }) => name === choice.toolName)
    : choice.type !== 'required' || offered.length > 0;
  if (isPossible) return choice;
  throw new PinnaceError(
    'invalid_argument',
    'Cannot call the model: the "toolChoice" of the agent needs a tool that this run does not have; list it in "entryTools"',
    { details: { reason: 'tool_choice' } },
  );
}

/** @throws PinnaceError `unavailable` with the reason `tool_choice` for a complete answer that ignores the choice. */
function requireChoice(choice: LanguageModelV4ToolChoice | undefined, answer: Answer<Tool>): void {
  if (choice === undefined || isFollowed(choice, answer)) return;
  throw new PinnaceError(
    'unavailable',
    'The model ignored the "toolChoice" of the agent: use a model that supports it, or remove the setting',
    { details: { reason: 'tool_choice' } },
  );
}

function isFollowed(choice: LanguageModelV4ToolChoice, { finishReason, message }: Answer<Tool>): boolean {
  const parts = typeof message.content === 'string' ? [] : message.content;
  const called = parts.flatMap((part) => part.type === 'tool-call' ? [part.toolName] : []);
  if (choice.type === 'none') return called.length === 0;
  if (finishReason !== 'stop' && finishReason !== 'tool-calls') return true; // cut or filtered: not the model's choice
  if (choice.type === 'required') return called.length > 0;
  return choice.type !== 'tool' || (called.length > 0 && called.every((name) => name === choice.toolName));
}

function truncated(): RunEnd {
  const error = new PinnaceError(
    'budget_exceeded',
    'The answer is not complete: it reached the limit of output tokens; raise "maxOutputTokens" or "outputTokens"',
    { details: { reason: 'output_truncated' } },
  );
  return { type: 'stopped', finishReason: 'length', error: toData(error) };
}

function refused(): PinnaceError {
  return new PinnaceError('unavailable', 'The provider filtered the answer, so there is no data to read', {
    retryable: false,
    details: { reason: 'output_refused' },
  });
}

function missing(): PinnaceError {
  return new PinnaceError(
    'unavailable',
    'The run ended before the answer that "output" asks for: it was stopped while the model called tools',
    { retryable: false, details: { reason: 'output_missing' } },
  );
}

function invalid(issues: readonly Issue[]): PinnaceError {
  const [first] = issues;
  const where = first?.path ? `"${first.path}" ` : 'it ';
  return new PinnaceError(
    'unavailable',
    `The answer of the model does not fit the JSON Schema of "output": ${where}${first?.message ?? 'is not valid'}`,
    { details: { reason: 'output_invalid', issues: issues.slice(0, 20) } },
  );
}

/** The error of a run that may take no more steps. */
export function stepLimit({ steps }: Pick<Limits, 'steps'>): PinnaceError {
  const message = `The run was stopped at its limit of steps (${steps}), before an answer`;
  return new PinnaceError('budget_exceeded', message, { details: { reason: 'steps' } });
}

/** The end at a limit: what was said until then is valid. */
function stopped(finishReason: FinishReason, error: PinnaceError): RunEnd {
  return { type: 'stopped', finishReason, error: toData(error) };
}

/** The end for what the loop threw. A step that does not fit a budget is not taken. */
function endOfError(thrown: unknown, { steps }: Pick<Usage, 'steps'>): RunEnd {
  const error = toPinnaceError(thrown);
  if (error.code !== 'budget_exceeded') return failed(error);
  return stopped(steps > 0 ? 'tool-calls' : 'other', error);
}

/** The end for a signal that aborted: by the run's own deadline, or by its caller. */
export function endOfAbort({ reason }: AbortSignal): RunEnd {
  if (reason instanceof PinnaceError) {
    return reason.code === 'budget_exceeded' ? stopped('other', reason) : failed(reason);
  }
  return { type: 'cancelled', reason: typeof reason === 'string' ? reason.slice(0, 100).toWellFormed() : 'cancelled' };
}

/** The end for an error of the model or the loop. What is not a `PinnaceError` is a bug. */
export function failed(error: unknown): RunEnd {
  return { type: 'failed', error: toData(error) };
}
