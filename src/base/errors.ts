/** What can go wrong, as one closed list of codes: the same on the wire, in logs and in tests. */

/** Codes of outcomes and streams. Finer causes go into `details.reason`. */
export type ErrorCode =
  | 'invalid_argument'
  | 'not_found'
  | 'forbidden'
  | 'conflict'
  | 'rate_limited'
  | 'internal'
  | 'unauthenticated'
  | 'deadline_exceeded'
  | 'cancelled'
  | 'unavailable'
  | 'approval_required'
  | 'outcome_unknown'
  | 'budget_exceeded';

interface CodeFacts {
  /** The HTTP status of a problem answer with this code. */
  readonly status: number;
  /** Whether the same request may succeed later, unless the error says otherwise. */
  readonly retryable: boolean;
  /** The title of a problem answer with this code. */
  readonly title: string;
}

const facts: Record<ErrorCode, CodeFacts> = {
  invalid_argument: { status: 400, retryable: false, title: 'Invalid argument' },
  not_found: { status: 404, retryable: false, title: 'Not found' },
  forbidden: { status: 403, retryable: false, title: 'Forbidden' },
  conflict: { status: 409, retryable: true, title: 'Conflict' },
  rate_limited: { status: 429, retryable: true, title: 'Too many requests' },
  internal: { status: 500, retryable: false, title: 'Internal error' },
  unauthenticated: { status: 401, retryable: false, title: 'Unauthenticated' },
  deadline_exceeded: { status: 504, retryable: true, title: 'Deadline exceeded' },
  cancelled: { status: 499, retryable: false, title: 'Cancelled' },
  unavailable: { status: 503, retryable: true, title: 'Unavailable' },
  approval_required: { status: 403, retryable: false, title: 'Approval required' },
  outcome_unknown: { status: 409, retryable: false, title: 'Outcome unknown' },
  budget_exceeded: { status: 429, retryable: false, title: 'Budget exceeded' },
};

/** Every code of outcomes and streams. */
export const errorCodes: readonly ErrorCode[] = Object.keys(facts) as ErrorCode[]; // safe: the keys are the union

/** An error as data: what crosses a worker boundary, a stream and a tool call. */
export interface ErrorData {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
  readonly retryAfterMs?: number;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** What an error may carry besides its code and message. */
export interface PinnaceErrorOptions {
  readonly retryable?: boolean;
  readonly retryAfterMs?: number;
  readonly details?: Readonly<Record<string, unknown>>;
  /** The HTTP status, where the code alone does not say it. */
  readonly status?: number;
  readonly cause?: unknown;
}

/**
 * The one error class. Branch on `code`, never on the message.
 *
 * `code` is one of {@link ErrorCode}; an HTTP edge may use a finer one of its own (`signature_expired`), then with a `status`.
 */
export class PinnaceError extends Error {
  override readonly name = 'PinnaceError';
  readonly code: string;
  readonly retryable: boolean;
  readonly retryAfterMs?: number;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly status: number;

  constructor(code: string, message: string, options: PinnaceErrorOptions = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : {});
    const known = isErrorCode(code) ? facts[code] : undefined;
    this.code = code;
    this.retryable = options.retryable ?? known?.retryable ?? false;
    this.status = options.status ?? known?.status ?? 500;
    if (options.retryAfterMs !== undefined) this.retryAfterMs = options.retryAfterMs;
    if (options.details !== undefined) this.details = options.details;
  }
}

/** Whether a text is one of the closed list of codes. */
export function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(facts, code);
}

/** Returns the error as a `PinnaceError`; whatever is not one becomes `internal` with a fixed text and the original as `cause`. */
export function toPinnaceError(error: unknown): PinnaceError {
  if (error instanceof PinnaceError) return error;
  return new PinnaceError('internal', 'An internal error occurred', { cause: error });
}

/** Returns the error as data. What is not a `PinnaceError` says nothing of itself: its text may hold a secret. */
export function toData(error: unknown): ErrorData {
  const { code, message, retryable, retryAfterMs, details } = toPinnaceError(error);
  return {
    code,
    message,
    retryable,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(details !== undefined && { details }),
  };
}

/** Returns what may be logged of an error: its code and the reason, and of its text nothing that a tool or a caller wrote. */
export function toLoggable({ code, retryable, retryAfterMs, details }: ErrorData): ErrorData {
  const reason = details?.['reason'];
  return {
    code,
    message: isErrorCode(code) ? facts[code].title : titleOf(code),
    retryable,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(typeof reason === 'string' && /^[a-z_]{1,64}$/.test(reason) && { details: { reason } }),
  };
}

/** Returns the error that {@link toData} described. */
export function fromData(data: ErrorData): PinnaceError {
  return new PinnaceError(data.code, data.message, data);
}

/** A problem answer (RFC 9457), ready for `application/problem+json`. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly retryable: boolean;
  readonly retryAfterMs?: number;
  readonly serverTime: string;
  readonly traceId: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Returns the problem answer for an error, without stack, cause or any value that the caller sent. */
export function toProblem(error: unknown, { traceId, now }: { traceId: string; now: number }): Problem {
  const known = toPinnaceError(error);
  const { message: detail, ...data } = toData(known);
  // A code of the edge's own is the cause itself.
  const details = isErrorCode(known.code) ? data.details : { reason: known.code, ...data.details };
  return {
    type: `urn:pinnace:problem:${known.code}`,
    title: isErrorCode(known.code) ? facts[known.code].title : titleOf(known.code),
    status: known.status,
    detail,
    ...data,
    ...(details && { details }),
    serverTime: new Date(now).toISOString(),
    traceId,
  };
}

/** `signature_expired` -> `Signature expired`. */
function titleOf(code: string): string {
  const words = code.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
