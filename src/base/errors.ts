/** What can go wrong, as one closed list of codes: the same on the wire, in logs and in tests. */

import './platform/required-features.ts';

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

/**
 * Every code of an HTTP problem and of an error of a client: an {@link ErrorCode}, or a finer one of the endpoint, which is also
 * `details.reason`. docs/errors.md lists each with its status and remedy.
 */
export type ProblemCode =
  | ErrorCode
  | 'already_decided'
  | 'approval_expired'
  | 'authentication_required'
  | 'body_not_allowed'
  | 'body_timeout'
  | 'body_too_large'
  | 'certificate_expired'
  | 'certificate_invalid'
  | 'certificate_malformed'
  | 'certificate_revoked'
  | 'certificate_untrusted'
  | 'component_missing'
  | 'content_encoding_not_allowed'
  | 'content_type_not_supported'
  | 'digest_mismatch'
  | 'digest_missing'
  | 'idempotency_key_malformed'
  | 'idempotency_key_missing'
  | 'idempotency_key_reused'
  | 'last_event_id_invalid'
  | 'method_not_allowed'
  | 'misdirected_request'
  | 'origin_not_allowed'
  | 'overloaded'
  | 'precondition_required'
  | 'replay_store_full'
  | 'run_expired'
  | 'run_in_progress'
  | 'signature_expired'
  | 'signature_from_future'
  | 'signature_invalid'
  | 'signature_malformed'
  | 'signature_missing'
  | 'signature_replayed'
  | 'token_expired'
  | 'token_invalid';

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
  /** Whether the same request may succeed later. Default: what the code says. */
  readonly retryable?: boolean;
  /** How long to wait before a retry. */
  readonly retryAfterMs?: number;
  /** Facts for callers, such as `reason`. They reach clients and logs: no secrets. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** The HTTP status, where the code alone does not say it. */
  readonly status?: number;
  /** What was thrown. It stays in the process. */
  readonly cause?: unknown;
}

/**
 * The one error class. Branch on `code`, never on the message.
 *
 * `code` is an {@link ErrorCode}, or one of the finer codes of {@link ProblemCode} (`signature_expired`), then with a `status`. Your
 * own causes go into `details.reason`. docs/errors.md lists every code.
 */
export class PinnaceError extends Error {
  override readonly name = 'PinnaceError';
  readonly code: ProblemCode;
  readonly retryable: boolean;
  readonly retryAfterMs?: number;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly status: number;

  constructor(code: ProblemCode, message: string, options: PinnaceErrorOptions = {}) {
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
    message: message.toWellFormed(), // that of a tool may be cut
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
  // safe: toData wrote it; another version may know a code that this union does not have, and branches on codes have a default
  return new PinnaceError(data.code as ProblemCode, data.message, data);
}

/** A problem answer (RFC 9457), ready for `application/problem+json`. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: ProblemCode;
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
    code: known.code,
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
