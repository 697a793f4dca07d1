/** What a failure of an activity means: its code, and whether and when trying again may help. */

import { type ErrorCode, type ErrorData, PinnaceError, toData } from '../base/errors.ts';
import { isNetworkError } from '../base/network.ts';

const retryableStatuses = new Set([408, 425, 429]);

/**
 * Gives the failure as data. Errors that carry an HTTP status are read by it (408, 425, 429 and 5xx may pass), network errors and
 * timeouts may pass, anything else is `internal` without its text.
 */
export function toFailure(error: unknown): ErrorData {
  if (error instanceof PinnaceError) return toData(error);
  if (typeof error !== 'object' || error === null) return toData(error);
  const { status, statusCode, name, retryAfterMs } = error as Readonly<Record<string, unknown>>; // every object has these, or not
  const found = typeof status === 'number' ? status : statusCode;
  if (typeof found === 'number') return ofStatus(found, retryAfterMs);
  if (name === 'TimeoutError') return failure('deadline_exceeded', 'The activity took too long', { retryable: true });
  if (name === 'AbortError') return failure('cancelled', 'The activity was stopped', { retryable: false });
  if (isNetworkError(error)) {
    return failure('unavailable', 'The network failed', { retryable: true, reason: 'network' });
  }
  return toData(error);
}

function ofStatus(status: number, retryAfterMs: unknown): ErrorData {
  const retryable = retryableStatuses.has(status) || status >= 500;
  const code = codes[status] ?? (status >= 500 ? 'unavailable' : 'invalid_argument');
  const after = typeof retryAfterMs === 'number' && retryAfterMs >= 0 ? { retryAfterMs } : {};
  return { ...failure(code, `The activity failed with status ${status}`, { retryable }), ...after };
}

const codes: Readonly<Record<number, ErrorCode>> = {
  401: 'unavailable',
  403: 'forbidden',
  404: 'not_found',
  408: 'deadline_exceeded',
  409: 'conflict',
  425: 'unavailable',
  429: 'rate_limited',
};

/** Gives an error as data. */
export function failure(
  code: ErrorCode,
  message: string,
  { retryable = false, reason }: { readonly retryable?: boolean; readonly reason?: string } = {},
): ErrorData {
  return toData(new PinnaceError(code, message, { retryable, ...(reason !== undefined && { details: { reason } }) }));
}

/** The error of an agent whose unsafe activities were under way when it ended. */
export function leavingDoubt({ code, message, details }: ErrorData, unknown: readonly string[]): ErrorData {
  return {
    code: 'outcome_unknown',
    message: `${message}; calls were under way, and whether they took effect is unknown`,
    retryable: false,
    details: { ...details, endedBy: code, unknown },
  };
}
