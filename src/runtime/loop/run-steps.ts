/** The loop of a run: call the model, settle the calls that it asks for, and again until it has answered. */

import type { LanguageModelV4Message } from '@ai-sdk/provider';
import { type ErrorData, type PinnaceError, toData } from '../../base/errors.ts';
import type { UIMessageChunk } from '../../contracts/ai-types.ts';
import type { Tool } from '../../tools/tool.ts';
import { toolErrorPart } from '../calls/call-chunks.ts';
import type { RunEnd } from '../log/run-end.ts';
import { toPrompt, toPromptTools } from '../messages/model-prompt.ts';
import { openCall } from '../model/model-call.ts';
import { endOf, endOfAbort, failed, mayExecute } from './loop-end.ts';
import type { LoopOptions, Usage } from './loop-options.ts';
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
  const prompt = toPrompt(run.agent.instructions, run.messages); // only `fit` replaces any
  const shownIds = new Set<string>();
  for (let step = 1;; step++) {
    const arrived = run.steering?.deliver(prompt) ?? [];
    if (arrived.length > 0) yield arrived;
    yield* run.contextWindow.fit(prompt);
    const answer = yield* takeAnswer(run, { prompt, shownIds, step });
    prompt.push(answer.message);
    addUsage(run.usage, answer);
    run.contextWindow.learn(answer.usage.inputTokens.total);
    const settled = mayExecute(answer.finishReason) ? yield* settleCalls(answer.calls, run) : unsettled;
    if (settled.results.length > 0) prompt.push({ role: 'tool', content: [...settled.results] });
    yield [{ type: 'finish-step' }];
    const end = yield* withOutput(endOf(answer, settled, run), { answer, prompt, run });
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
  const toolChoice = toolChoiceOf(run, { offered, step });
  const call = await openCall({
    model,
    settings: agent.modelSettings,
    limits,
    prompt: [...prompt],
    tools: toPromptTools(offered.map(({ definition }) => definition)),
    toolChoice,
    responseFormat: run.output?.responseFormat,
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
    const chunks = content.take(parts);
    if (chunks.length > 0) yield run.files.shown(chunks);
    content.requireSound();
  }
  const answer = content.end();
  const { finishReason, usage } = answer;
  spans.endCall({ finishReason, usage, firstOutputMs: call.firstOutputMs });
  requireChoice(toolChoice, answer);
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
