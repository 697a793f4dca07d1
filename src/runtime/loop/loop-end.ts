/** When and how the loop ends. */

import { PinnaceError, toData } from '../../base/errors.ts';
import type { Tool } from '../../tools/tool.ts';
import type { RunEnd } from '../log/run-end.ts';
import { toModelError } from '../model/model-error.ts';
import type { LoopOptions } from './loop-options.ts';
import type { Settled } from './settle-calls.ts';
import type { Answer } from './step-content.ts';

/** The end of the run after a step; `undefined` where another step follows. */
export function endOf(
  answer: Answer<Tool>,
  { results, waiting }: Settled,
  { limits, tokenBudget = Infinity, usage, isEnough, steering }: LoopOptions,
): RunEnd | undefined {
  const { finishReason, calls, isDeferred } = answer;
  const hasRoom = usage.steps < limits.steps && usage.totalTokens < tokenBudget;
  const isSettled = waiting === 0 && results.length === calls.length;
  const hasMore = mayExecute(finishReason) && waiting === 0 && (isDeferred || (calls.length > 0 && isSettled));
  const isStopped = hasMore && isEnough?.(answer, results) === true;
  if (hasMore && hasRoom && !isStopped) return undefined;
  if (steering?.continues(isSettled && hasRoom && !isStopped)) return undefined;
  if (waiting > 0) return { type: 'awaiting_approval', finishReason };
  if (isStopped) return { type: 'completed', finishReason };
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
