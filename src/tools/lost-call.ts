/** Calls that ended without a result: which of them may have acted, and the error that says so. */

import { type ErrorData, PinnaceError } from '../base/errors.ts';
import type { ToolDefinition } from '../base/schema.ts';

/** Whether a call of the tool may change something: the tool does not declare that it only reads. */
export function mayAct({ annotations }: Pick<ToolDefinition, 'annotations'>): boolean {
  return annotations?.readOnlyHint !== true;
}

/**
 * Whether the effect of a started call without a result is unknown. A call that carries its own key of an idempotent tool is
 * safe to repeat, so nothing about it needs a person.
 */
export function leavesDoubt(definition: Pick<ToolDefinition, 'annotations'>, input: unknown): boolean {
  return mayAct(definition) && !(definition.annotations?.idempotentHint === true && hasOwnKey(input));
}

function hasOwnKey(input: unknown): boolean {
  if (typeof input !== 'object' || input === null || !('idempotencyKey' in input)) return false;
  return typeof input.idempotencyKey === 'string' && input.idempotencyKey !== '';
}

/** Why a call ended without a result. */
export type Loss = 'tool_timeout' | 'run_timeout' | 'cancelled' | 'run_failed' | 'worker_lost';

const whys: Readonly<Record<Loss, string>> = {
  tool_timeout: 'its time was over',
  run_timeout: 'the time of the run was over',
  cancelled: 'the run was cancelled',
  run_failed: 'the run ended',
  worker_lost: 'the instance that executed the run was lost',
};

/** The error of a call that may have acted. Repeating it could act twice, so it is not retryable. */
export function outcomeUnknown(toolId: string, loss: Loss, cause?: unknown): PinnaceError {
  const message = `The outcome of tool "${toolId}" is unknown: ${whys[loss]} before its result arrived. ` +
    'It may have taken effect; check before calling it again';
  return new PinnaceError('outcome_unknown', message, { cause, details: { reason: loss } });
}

/** The error of a call that was stopped and has changed nothing. */
export function stoppedCall(toolId: string, loss: Loss): PinnaceError {
  const code = loss === 'run_timeout' || loss === 'tool_timeout' ? 'deadline_exceeded' : 'cancelled';
  return new PinnaceError(code, `Tool "${toolId}" was stopped: ${whys[loss]}`, { details: { reason: loss } });
}

/** Why a run's signal stopped its calls. */
export function lossOfSignal({ reason }: AbortSignal): Loss {
  if (reason instanceof PinnaceError) return reason.code === 'deadline_exceeded' ? 'run_timeout' : 'run_failed';
  return reason === 'run_ended' ? 'run_failed' : 'cancelled';
}

/** Why an error left a call without a result, our own stops and a tool's alike; `undefined` for an error that is a result. */
export function lossOfError({ code, details }: Pick<ErrorData, 'code' | 'details'>): Loss | undefined {
  if (code !== 'deadline_exceeded' && code !== 'cancelled') return undefined;
  const reason = details?.['reason'];
  if (isLoss(reason)) return reason;
  return code === 'cancelled' ? 'cancelled' : 'tool_timeout';
}

function isLoss(reason: unknown): reason is Loss {
  return typeof reason === 'string' && Object.hasOwn(whys, reason);
}
