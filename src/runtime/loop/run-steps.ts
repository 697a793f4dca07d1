/** The loop of a run: call the model and settle its tool calls, until it has answered. */

import type { LanguageModelV4Message } from '@ai-sdk/provider';
import { type ErrorData, PinnaceError, toData } from '../../base/errors.ts';
import type { UIMessageChunk } from '../../contracts/ai-types.ts';
import { reportAt } from '../../events/report.ts';
import type { Tool } from '../../tools/tool.ts';
import { toolErrorPart } from '../../tools/call-ends.ts';
import type { RunEnd } from '../log/run-end.ts';
import { CallIds, callIdsIn } from '../messages/call-ids.ts';
import { toPrompt, toPromptTools } from '../messages/model-prompt.ts';
import { openCall } from '../model/model-call.ts';
import { endOf, endOfAbort, endOfError, mayExecute, stopped } from './loop-end.ts';
import type { LoopOptions } from './loop-options.ts';
import type { LoopSpans } from './loop-spans.ts';
import { settleCalls, unsettled } from './settle-calls.ts';
import { type Answer, createStepContent } from './step-content.ts';
import { definitionTokens } from './step-tools.ts';
import { requireChoice, toolChoiceOf } from './tool-choice.ts';
import { withOutput } from './with-output.ts';

/** A running loop. */
export interface Loop {
  read(): Promise<{ readonly chunks: readonly UIMessageChunk[] } | { readonly end: RunEnd }>;
}

/** Starts the loop. Model errors become an end with a code and a fixed text; nothing of the prompt is in it. */
export function startLoop(options: LoopOptions): Loop {
  const { signal, report, spans } = options;
  const { clock } = spans;
  const steps = runSteps(options);
  return {
    async read() {
      try {
        const { done, value } = await steps.next();
        return done ? { end: value } : { chunks: value };
      } catch (error) {
        if (signal.aborted) return { end: endOfAbort(signal) };
        if (!(error instanceof PinnaceError)) report(error, { kind: 'run', step: spans.step }); // a bug
        return { end: endOfError(clock.signal.aborted ? clock.signal.reason : error, options) };
      }
    },
  };
}

/** Runs steps until the run ends; each yield is one batch for the log. */
async function* runSteps(run: LoopOptions): AsyncGenerator<readonly UIMessageChunk[], RunEnd> {
  const prompt = toPrompt(run.agent.instructions, run.messages); // only `fit` replaces any
  const { step: first, shownIds: shown } = run.resumed ?? { step: 1 };
  const shownIds = new Set(shown);
  const { chat = [], otherCallIds = [] } = run;
  const callIds = new CallIds(() => [...otherCallIds, ...callIdsIn([...chat, ...run.messages])]);
  for (let step = first;; step++) {
    const arrived = run.steering?.deliver(prompt) ?? [];
    if (arrived.length > 0) yield arrived;
    const fitting = run.contextWindow.fit(prompt);
    if (fitting) yield* fitting;
    const { answer, spent } = yield* takeAnswer(run, { prompt, shownIds, callIds, step });
    prompt.push(answer.message);
    run.usage.steps += 1;
    run.contextWindow.learn(answer.usage.inputTokens.total);
    const settled = mayExecute(answer.finishReason) ? yield* settleCalls(answer.calls, run) : unsettled;
    if (settled.results.length > 0) prompt.push({ role: 'tool', content: [...settled.results] });
    yield [{ type: 'finish-step' }];
    const how = spent ? stopped(answer.finishReason, spent) : endOf(answer, settled, run);
    const end = yield* withOutput(how, { answer, prompt, run });
    if (end) return end;
  }
}

interface StepPlace {
  readonly prompt: LanguageModelV4Message[];
  readonly shownIds: Set<string>;
  readonly callIds: CallIds;
  readonly step: number;
}

interface TakenAnswer {
  readonly answer: Answer<Tool>;
  /** Where the budget has cut it short. */
  readonly spent: PinnaceError | undefined;
}

async function* takeAnswer(
  run: LoopOptions,
  { prompt, shownIds, callIds, step }: StepPlace,
): AsyncGenerator<readonly UIMessageChunk[], TakenAnswer> {
  const { agent: { modelSettings: settings }, models, budget, spans, limits } = run;
  const offered = run.tools.current();
  const tools = toPromptTools(offered);
  budget.requireRoom({ prompt, tools }, models.current.provider.prices);
  spans.startStep();
  countTools(run, offered);
  const toolChoice = toolChoiceOf(run, { offered, step });
  if (run.onPrompt) await run.onPrompt(prompt, step);
  const call = await openCall({
    models,
    budget,
    settings,
    limits,
    prompt,
    fit: run.contextWindow.fitTo,
    tools,
    toolChoice,
    responseFormat: run.output?.responseFormat,
    clock: spans.clock,
    report: reportAt(run.report, { step }),
    onRetry: run.onRetry,
  });
  const content = createStepContent<Tool>({
    step,
    shownIds,
    callIds,
    find: (name) => offered.find(({ definition }) => definition.name === name),
    missing: (name) => run.tools.missing(name),
    onInvalid: (invalid, error) => {
      emitRejected(error, spans);
      return [
        toolErrorPart({ toolCallId: invalid.toolCallId, tool: invalid.toolName, traceId: run.traceId }, toData(error)),
      ];
    },
  });
  yield [...call.fallback ? [{ type: 'data-model' as const, data: call.fallback }] : [], { type: 'start-step' }];
  for (let parts = await call.read(); parts; parts = await call.read()) {
    const chunks = content.take(parts);
    if (chunks.length > 0) yield run.files.shown(chunks);
    content.requireSound();
  }
  const answer = content.end();
  const spent = call.end(answer);
  requireChoice(toolChoice, answer);
  return { answer, spent };
}

/** Counts the tokens of the tools that the model may call in a step. */
function countTools({ allTools, usage }: LoopOptions, offered: readonly Tool[]): void {
  const tokens = definitionTokens(offered);
  usage.toolTokens += tokens;
  usage.toolTokensSaved += definitionTokens(allTools) - tokens;
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
