/** Turns what a model call throws into a code and a fixed text. The AI SDK's errors hold the prompt, the answer and at times the key. */

import { isRecord } from '../../base/is-record.ts';
import { isErrorCode, PinnaceError } from '../../base/errors.ts';
import { isNetworkError } from '../../base/network/network-error.ts';

interface Cause {
  readonly name?: unknown;
  readonly code?: unknown;
  readonly statusCode?: unknown;
  readonly url?: unknown;
  readonly responseHeaders?: Readonly<Record<string, string>>;
  readonly responseBody?: unknown;
  readonly requestBodyValues?: unknown;
  readonly lastError?: unknown;
}

/** Returns the error to report for anything that ended a model call. The original stays as `cause`. */
export function toModelError(error: unknown): PinnaceError {
  if (error instanceof PinnaceError) return error;
  const cause: Cause = typeof error === 'object' && error !== null ? error : {};
  switch (cause.name) {
    case 'AI_RetryError':
      return toModelError(cause.lastError);
    case 'AI_APICallError':
      return toCallError(cause, error);
    case 'TimeoutError':
      return new PinnaceError('deadline_exceeded', 'The model did not answer in time', { cause });
    case 'AI_InvalidResponseDataError':
      return cut(cause);
    case 'AI_JSONParseError':
    case 'AI_TypeValidationError':
    case 'AI_EmptyResponseBodyError':
      return unavailable(
        'provider_invalid_response',
        'The model endpoint answered something else than a model does',
        cause,
      );
    case 'AI_StreamProviderError':
    case 'AI_NoOutputGeneratedError':
      return unavailable('provider_unavailable', 'The model endpoint reported an error in its answer', cause);
    default:
      return fromUnknown(error);
  }
}

/**
 * Returns the error for one that the model reported in its stream: an exception, or the payload of the provider, whose status says
 * what it is.
 */
export function toStreamError(error: unknown): PinnaceError {
  if (error instanceof Error || error === null) return toModelError(error);
  const outer = recordOf(error);
  if (typeof outer['name'] === 'string' && outer['name'].startsWith('AI_')) return toModelError(error);
  const inner = recordOf(outer['response'])['error'] ?? outer['error'];
  const status = statusOf(recordOf(inner)) ?? statusOf(outer);
  if (status !== undefined) return toCallError({ statusCode: status }, error);
  return unavailable('provider_unavailable', 'The model endpoint reported an error in its answer', error);
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}

function statusOf(
  { statusCode, status_code, status, code, message }: Readonly<Record<string, unknown>>,
): number | undefined {
  const given = [statusCode, status_code, status, code].map(Number).find((value) => value >= 400 && value < 600);
  if (given !== undefined) return given;
  return typeof message === 'string' && /overloaded|service unavailable/i.test(message) ? 503 : undefined;
}

const bugs: ReadonlySet<unknown> = new Set(['TypeError', 'ReferenceError', 'RangeError', 'SyntaxError']);

/** A model in another realm (a custom one behind a port) may throw an error that only looks like ours. */
function fromUnknown(error: unknown): PinnaceError {
  if (isNetworkError(error)) return unavailable('provider_unreachable', 'The model endpoint cannot be reached', error);
  const { code, name } = recordOf(error);
  if (isErrorCode(code)) {
    return new PinnaceError(code, 'The model call failed', { cause: error, details: { reason: 'model_failed' } });
  }
  if (!bugs.has(name)) {
    return new PinnaceError('internal', 'The model call failed', { cause: error, details: { reason: 'model_failed' } });
  }
  const message = 'The code of the model, or of its fetch, has a bug: the runtime passes the cause to its "onError"';
  return new PinnaceError('internal', message, { cause: error, details: { reason: 'model_code' } });
}

function toCallError(facts: Cause, cause: unknown): PinnaceError {
  const status = typeof facts.statusCode === 'number' ? facts.statusCode : undefined;
  if (status === undefined) {
    return unavailable('provider_unreachable', `The model endpoint${hostOf(facts)} cannot be reached`, cause);
  }
  if (status === 401 || status === 403) {
    return new PinnaceError('unavailable', `The model endpoint refused the key (status ${status})`, {
      cause,
      retryable: false,
      details: { reason: 'provider_auth', status },
    });
  }
  if (status === 429) return rateLimited(facts, cause);
  if (status === 408 || status >= 500) {
    return new PinnaceError('unavailable', `The model endpoint failed (status ${status})`, {
      cause,
      details: { reason: 'provider_unavailable' },
      ...retryAfter(facts.responseHeaders),
    });
  }
  if (status < 400) return cut(cause);
  const parameter = parameterIn(facts);
  const why = parameter !== undefined
    ? ` because of ${
      JSON.stringify(parameter)
    }: remove it from "modelSettings", or list it in the provider's "unsupportedParameters"`
    : status === 400 || status === 422
    ? ': "onError" receives its words'
    : ': check its base URL and model';
  return new PinnaceError('invalid_argument', `The model endpoint refused the request (status ${status})${why}`, {
    cause,
    details: { reason: 'provider_invalid_request', status, ...(parameter !== undefined && { parameter }) },
  });
}

/** The parameter that the endpoint's error names, by its name in the request: nothing else of the error is repeated. */
function parameterIn({ responseBody, requestBodyValues }: Cause): string | undefined {
  if (typeof responseBody !== 'string') return undefined;
  const names = Object.keys(recordOf(requestBodyValues)).filter((name) => /^[a-z_]+$/.test(name) && !content.has(name));
  return names.toSorted((a, b) => b.length - a.length)
    .find((name) => new RegExp(`(?<![a-z0-9_])${name}(?![a-z0-9_])`).test(responseBody.slice(0, 65_536)));
}

/** What every request has: an error that names it is not about a setting. */
const content: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'stream',
  'tools',
  'system',
  'prompt',
  'contents',
  'input',
]);

/** The host comes from the provider's record: it is configuration, and no part of a prompt. */
function hostOf({ url }: Cause): string {
  const host = typeof url === 'string' ? URL.parse(url)?.host : undefined;
  return host === undefined ? '' : ` at ${JSON.stringify(host)}`;
}

function rateLimited({ responseHeaders }: Cause, cause: unknown): PinnaceError {
  return new PinnaceError('rate_limited', 'The model endpoint takes no more requests for now', {
    cause,
    details: { reason: 'provider_rate_limited' },
    ...retryAfter(responseHeaders),
  });
}

function retryAfter(headers: Cause['responseHeaders']): { readonly retryAfterMs?: number } {
  const ms = retryAfterIn(headers);
  return ms === undefined ? {} : { retryAfterMs: Math.round(ms) };
}

/**
 * The pause that a provider asks for: `retry-after-ms`, or `retry-after` as seconds or as an HTTP date (RFC 9110, section 10.2.3).
 * `undefined` where no header has a usable value.
 */
export function retryAfterIn(headers: Readonly<Record<string, string>> = {}): number | undefined {
  const after = headers['retry-after']?.trim() ?? '';
  const ms = numberIn(headers['retry-after-ms']) ?? scaled(numberIn(after), 1000) ?? untilDate(after);
  return ms !== undefined && ms >= 0 ? ms : undefined;
}

function numberIn(text = ''): number | undefined {
  return /^\d+(?:\.\d+)?$/.test(text.trim()) ? Number(text) : undefined;
}

function scaled(value: number | undefined, factor: number): number | undefined {
  return value === undefined ? undefined : value * factor;
}

/** Dates name their month, so that no other text is taken for one. */
function untilDate(text: string): number | undefined {
  const at = /^[a-z]{3,9},? .*\d\d:\d\d:\d\d/i.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(at) ? undefined : at - Date.now();
}

/** The error of an answer that ended without a completion signal. */
export function cut(cause?: unknown): PinnaceError {
  return unavailable('provider_stream_cut', 'The model endpoint ended its answer in the middle', cause);
}

/** The error of an answer whose finish says that there was one. */
export function reportedError(): PinnaceError {
  return unavailable('provider_unavailable', 'The model endpoint reported an error', undefined);
}

function unavailable(reason: string, message: string, cause: unknown): PinnaceError {
  return new PinnaceError('unavailable', message, { cause, details: { reason } });
}
