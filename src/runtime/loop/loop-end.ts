/** When and how the loop ends. */

import { PinnaceError, toData, toPinnaceError } from '../../base/errors.ts';
import type { Tool } from '../../tools/tool.ts';
import type { FinishReason, RunEnd } from '../log/run-end.ts';
import type { Limits } from '../resolve/limits.ts';
import type { LoopOptions } from './loop-options.ts';
import type { Settled } from './settle-calls.ts';
import type { Answer } from './step-content.ts';

/** The end of the run after a step; `undefined` where another step follows. */
export function endOf(
  answer: Answer<Tool>,
  { results, waiting }: Settled,
  { limits, usage, isEnough, output, steering, budget: { left } }: LoopOptions,
): RunEnd | undefined {
  const { finishReason, calls, isDeferred } = answer;
  const hasSteps = usage.steps < limits.steps;
  const hasRoom = hasSteps && left.tokens > 0 && left.cost > 0;
  const isSettled = waiting === 0 && results.length === calls.length;
  const hasMore = mayExecute(finishReason) && waiting === 0 && (isDeferred || (calls.length > 0 && isSettled));
  const isStopped = hasMore && isEnough?.(answer, results) === true;
  if (hasMore && hasSteps && !isStopped) return undefined; // unless it does not fit the budget
  if (steering?.continues(isSettled && hasRoom && !isStopped)) return undefined;
  if (waiting > 0) return { type: 'awaiting_approval', finishReason };
  if (isStopped) return { type: 'completed', finishReason };
  if (hasMore && output === undefined) return stopped(finishReason, stepLimit(limits));
  const isDropped = calls.length > 0 && !mayExecute(finishReason);
  const isSilent = finishReason === 'length' && answer.text === '';
  if (output === undefined && (isDropped || isSilent)) return stopped(finishReason, incomplete(answer));
  if (hasMore && finishReason === 'tool-calls') return stopped(finishReason, stepLimit(limits)); // what was said is no answer
  return { type: 'completed', finishReason }; // also where the calls that it announces never arrived
}

/** The error of an answer that ended before its calls could be made, or before it said anything. */
export function incomplete({ finishReason, calls }: Pick<Answer<unknown>, 'finishReason' | 'calls'>): PinnaceError {
  const lost = calls.length > 0 ? 'before its tool calls could be made' : 'before it said anything';
  const why = finishReason === 'length'
    ? 'it reached the limit of output tokens; raise "maxOutputTokens" or "outputTokens"'
    : finishReason === 'content-filter'
    ? 'the provider filtered it'
    : 'its end says that it is not complete';
  return new PinnaceError('budget_exceeded', `The model ended its answer ${lost}: ${why}`, {
    details: { reason: 'answer_incomplete' },
  });
}

/** The error of a run that may take no more steps. */
export function stepLimit({ steps }: Pick<Limits, 'steps'>): PinnaceError {
  const message = `The run was stopped at its limit of steps (${steps}), before an answer`;
  return new PinnaceError('budget_exceeded', message, { details: { reason: 'steps' } });
}

/** The end at a limit: what was said until then is valid. */
export function stopped(finishReason: FinishReason, error: PinnaceError): RunEnd {
  return { type: 'stopped', finishReason, error: toData(error) };
}

/** The end for what the loop threw. A step that does not fit a budget is not taken. */
export function endOfError(thrown: unknown, { usage: { steps } }: Pick<LoopOptions, 'usage'>): RunEnd {
  const error = toPinnaceError(thrown);
  if (error.code !== 'budget_exceeded') return failed(error);
  return stopped(steps > 0 ? 'tool-calls' : 'other', error);
}

/**
 * Whether the calls of an answer may be made: an answer that was filtered or became too long may lack parts of them. Servers have
 * names of their own for a regular end (`eos`, `end_turn`), which providers report as `other`.
 */
export function mayExecute(finishReason: string | undefined): boolean {
  return finishReason === 'tool-calls' || finishReason === 'stop' || finishReason === 'other';
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
