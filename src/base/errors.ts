/** What can go wrong, as one closed list of codes: the same on the wire, in logs and in tests. */

import './platform/required-features.ts';

/** What a code says of an error that says nothing else: the HTTP status of its problem, and whether the same request may succeed later. */
type CodeRow = readonly [status: number, retry: 'retry' | 'final', title?: string];

/** Each code once. docs/errors.md has a row for each, with what to do. */
const runCodes = {
  invalid_argument: [400, 'final'],
  not_found: [404, 'final'],
  forbidden: [403, 'final'],
  conflict: [409, 'retry'],
  rate_limited: [429, 'retry', 'Too many requests'],
  internal: [500, 'final', 'Internal error'],
  unauthenticated: [401, 'final'],
  deadline_exceeded: [504, 'retry'],
  cancelled: [499, 'final'],
  unavailable: [503, 'retry'],
  approval_required: [403, 'final'],
  outcome_unknown: [409, 'final'],
  budget_exceeded: [429, 'final'],
} as const satisfies Readonly<Record<string, CodeRow>>;

const codes = {
  ...runCodes,
  already_decided: [409, 'final'],
  approval_expired: [410, 'final'],
  authentication_required: [401, 'final'],
  body_not_allowed: [400, 'final'],
  body_timeout: [408, 'retry'],
  body_too_large: [413, 'final'],
  certificate_expired: [401, 'retry'],
  certificate_invalid: [401, 'final'],
  certificate_malformed: [401, 'final'],
  certificate_revoked: [401, 'final'],
  certificate_untrusted: [401, 'final'],
  component_missing: [401, 'final'],
  content_encoding_not_allowed: [415, 'final'],
  content_type_not_supported: [415, 'final'],
  digest_mismatch: [400, 'final'],
  digest_missing: [400, 'final'],
  idempotency_key_malformed: [400, 'final'],
  idempotency_key_missing: [400, 'final'],
  idempotency_key_reused: [422, 'final'],
  last_event_id_invalid: [400, 'final'],
  method_not_allowed: [405, 'final'],
  misdirected_request: [421, 'final'],
  origin_not_allowed: [403, 'final'],
  overloaded: [503, 'retry'],
  precondition_required: [428, 'final'],
  replay_store_full: [503, 'retry'],
  run_expired: [410, 'final'],
  run_in_progress: [409, 'retry'],
  signature_expired: [401, 'retry'],
  signature_from_future: [401, 'retry'],
  signature_invalid: [401, 'final'],
  signature_malformed: [401, 'final'],
  signature_missing: [401, 'final'],
  signature_replayed: [401, 'retry'],
  token_expired: [401, 'final'],
  token_invalid: [401, 'final'],
} as const satisfies Readonly<Record<string, CodeRow>>;

/** Codes of outcomes and streams. Finer causes go into `details.reason`. */
export type ErrorCode = keyof typeof runCodes;

/**
 * Every code of an HTTP problem and of an error of a client: an {@link ErrorCode}, or a finer one of the endpoint, which is also
 * `details.reason`. docs/errors.md lists each with its status and remedy.
 */
export type ProblemCode = keyof typeof codes;

/** Every code of outcomes and streams. */
export const errorCodes: readonly ErrorCode[] = Object.keys(runCodes) as ErrorCode[]; // safe: the keys are the union

export const problemCodes: readonly ProblemCode[] = Object.keys(codes) as ProblemCode[]; // safe: the keys are the union

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
  /** The HTTP status. Default: what the code says. */
  readonly status?: number;
  /** What was thrown. It stays in the process. */
  readonly cause?: unknown;
}

/**
 * The one error class. Branch on `code`, never on the message.
 *
 * `code` is an {@link ErrorCode}, or one of the finer codes of {@link ProblemCode} (`signature_expired`). Your
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
    // Another version may know codes that the table does not have.
    const [status, retry] = codes[code] as CodeRow | undefined ?? [500, 'final'];
    this.code = code;
    this.retryable = options.retryable ?? retry === 'retry';
    this.status = options.status ?? status;
    if (options.retryAfterMs !== undefined) this.retryAfterMs = options.retryAfterMs;
    if (options.details !== undefined) this.details = options.details;
  }
}

/** Whether a text is one of the closed list of codes. */
export function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(runCodes, code);
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
    message: titleOf(code),
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
    title: titleOf(known.code),
    status: known.status,
    detail,
    ...data,
    code: known.code,
    ...(details && { details }),
    serverTime: new Date(now).toISOString(),
    traceId,
  };
}

/** The title of the table, or `signature_expired` -> `Signature expired`. */
function titleOf(code: string): string {
  const [, , title]: CodeRow = Object.hasOwn(runCodes, code) ? runCodes[code as ErrorCode] : [500, 'final']; // safe: it is a key
  if (title !== undefined) return title;
  const words = code.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
