/** Turns what a model call throws into a code and a fixed text. The AI SDK's errors hold the prompt, the answer and at times the key. */

import { untrustedCertificate } from '../base/certificate.ts';
import { isRecord } from '../base/is-record.ts';
import { isErrorCode, PinnaceError } from '../base/errors.ts';
import { isNetworkError } from '../base/network.ts';
import { readRetryAfter } from '../base/with-retries.ts';
import type { PinnaceDataParts } from './message-parts.ts';

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
  if (isNetworkError(error)) return unreached(error);
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

function unreached(error: unknown, host = ''): PinnaceError {
  const server = { action: 'Cannot call the model', host: `its endpoint${host}`, isListed: true };
  return untrustedCertificate(error, server) ??
    unavailable('provider_unreachable', `The model endpoint${host} cannot be reached`, error);
}

function toCallError(facts: Cause, cause: unknown): PinnaceError {
  const status = typeof facts.statusCode === 'number' ? facts.statusCode : undefined;
  if (status === undefined) {
    return unreached(cause, hostOf(facts));
  }
  const said = String(facts.responseBody ?? (cause as { message?: unknown } | null)?.message).slice(0, 65_536);
  if (status === 401 || status === 403 || (status === 400 && badKey.test(said))) {
    const what = status === 403 ? 'access: the key may lack a right, or its region is not served' : 'the key';
    return new PinnaceError('unavailable', `The model endpoint refused ${what} (status ${status})`, {
      cause,
      retryable: false,
      details: { reason: 'provider_auth', status },
    });
  }
  if (status === 402 || (status === 429 && outOfCredit.test(said))) {
    return new PinnaceError('unavailable', `The account at the model endpoint has no credit left (status ${status})`, {
      cause,
      retryable: false,
      details: { reason: 'provider_quota', status },
    });
  }
  if (status === 429 && !oneTooLarge.test(said)) return rateLimited(facts, cause);
  if (status === 413 || status === 429 || tooLong.test(said)) return promptTooLong(cause, status);
  if (passing.has(status) || status >= 500) {
    return new PinnaceError('unavailable', `The model endpoint failed (status ${status})`, {
      cause,
      details: { reason: 'provider_unavailable' },
      ...retryAfter(facts),
    });
  }
  if (status < 400) return cut(cause);
  const parameter = parameterIn(facts);
  const why = noTools.test(said)
    ? ': it takes no tools; choose a model that calls tools, or start its server with them enabled'
    : parameter !== undefined
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

/** Conflicts, timeouts and requests that were ended by the server: another try may succeed. */
const passing: ReadonlySet<number> = new Set([408, 409, 425, 498, 499]);

/** How servers refuse a key with the status 400. */
const badKey =
  /API_KEY_INVALID|api.?key (?:is )?(?:not valid|invalid|incorrect|expired)|(?:invalid|incorrect) api.?key/i;

/** How servers say that a model calls no tools. */
const noTools =
  /not support (?:tools?|tool.?(?:use|calling)|functions?|function.?calling)\b|support tool use|enable-auto-tool-choice|tools? (?:is|are) not supported/i;

/** How servers say that a prompt does not fit, with the status 400, 422 or 500. */
const tooLong = new RegExp(
  [
    'context_length_exceeded|exceed_context_size|string_above_max_length|context shift is disabled',
    '(?:maximum|available) context (?:length|size|window)|context[ _]?(?:length|size|window|limit)[^.]{0,40}exceed',
    "exceeds?[^.]{0,60}context|exceed(?:s|ed)? (?:the )?(?:model(?:'s)? )?token limit|context the overflows",
    '(?:prompt|input|messages?|conversation) (?:is |are )?too (?:long|large)|too many tokens|request too large for model',
    '(?:prompt|input|request|token)s? (?:token )?(?:length|size|count|tokens)[^.]{0,60} exceed',
    '(?:longer|larger|greater) than the (?:model|context|maximum (?:model|context|input|prompt))',
    'maximum (?:allowed )?(?:prompt|input|sequence|model) length|max_(?:model|seq|input|prompt)_(?:len|tokens)',
    'range of input length|reduce the length of (?:the |your )?(?:messages|prompt|input|conversation)',
    '`?inputs`? (?:tokens \\+|must have less than)|(?:prompt|输入|上下文|长度)[^。]{0,20}(?:超长|过长|超过|超出)',
  ].join('|'),
  'i',
);

function promptTooLong(cause: unknown, status: number): PinnaceError {
  return new PinnaceError(
    'invalid_argument',
    `The prompt is longer than the model takes (status ${status}): set "contextTokens" of the provider to what its server takes, or start a new chat`,
    { cause, details: { reason: 'provider_context_length', status } },
  );
}

/** One request that is above the limit of a minute: no pause makes it fit. */
const oneTooLarge = /request too large/i;

/** What a later try cannot change, though servers answer 429. */
const outOfCredit = /insufficient_(?:quota|balance|credits?)|credit_balance|billing_(?:hard_limit|not_active)/i;

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

function rateLimited(facts: Cause, cause: unknown): PinnaceError {
  return new PinnaceError('rate_limited', 'The model endpoint takes no more requests for now', {
    cause,
    details: { reason: 'provider_rate_limited' },
    ...retryAfter(facts),
  });
}

function retryAfter(facts: Cause): { readonly retryAfterMs?: number } {
  const ms = retryAfterIn(facts);
  return ms === undefined ? {} : { retryAfterMs: Math.round(ms) };
}

/**
 * The pause that a provider asks for: `retry-after-ms`, or `retry-after` as seconds or as an HTTP date (RFC 9110, section 10.2.3); else
 * what its error says. `undefined` where nothing has a usable value.
 */
function retryAfterIn({ responseHeaders: headers = {}, responseBody }: Cause): number | undefined {
  const ms = numberIn(headers['retry-after-ms']) ??
    readRetryAfter(headers['retry-after'], { date: headers['date'], now: Date.now() }) ??
    (typeof responseBody === 'string' ? pauseIn(responseBody.slice(0, 65_536)) : undefined) ??
    durationIn(headers['x-ratelimit-reset-requests'] ?? headers['x-ratelimit-reset-tokens']);
  return ms !== undefined && ms >= 0 ? ms : undefined;
}

/** The pause in an error: `"retryDelay": "34s"` (Google), "try again in 7m12.5s", or a time since 1970 in milliseconds (OpenRouter). */
function pauseIn(text: string): number | undefined {
  const [, reset] = /"x-ratelimit-reset":\s*"?(\d{13})\b/i.exec(text) ?? [];
  const [, delay] = /"retry_?delay":\s*"([\d.]+s)"|$/i.exec(text) ?? [];
  const [, words] = /\b(?:try again|retry) (?:in|after) ((?:\d+h ?)?(?:\d+m(?!s) ?)?(?:[\d.]+ ?m?s)?)/i.exec(text) ??
    [];
  return durationIn(delay) ?? durationIn(words) ?? (reset === undefined ? undefined : Number(reset) - Date.now());
}

function durationIn(text = ''): number | undefined {
  const pieces = [...text.matchAll(/([\d.]+) ?(ms|h|m|s)/gi)].map(([, value, unit = '']) =>
    Number(value) * { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }[unit.toLowerCase() as 'ms' | 's' | 'm' | 'h'] // as matched
  );
  return pieces.length === 0 || pieces.some(Number.isNaN) ? undefined : pieces.reduce((sum, ms) => sum + ms, 0);
}

function numberIn(text = ''): number | undefined {
  return /^\d+(?:\.\d+)?$/.test(text.trim()) ? Number(text) : undefined;
}

const eventsOfMessages =
  /^(?:message_(?:start|delta|stop)|content_block_(?:start|delta|stop)|error|text|thinking|redacted_thinking|tool_use|(?:text|input_json|thinking|signature|citations)_delta)$/;

/** Whether a package could not read an event of Anthropic's form for its kind alone: servers send kinds that are newer than it is. */
export function isUnknownEvent(error: unknown): boolean {
  const { name, value } = recordOf(error);
  if (name !== 'AI_TypeValidationError') return false;
  const { type, content_block: block, delta } = recordOf(value);
  const kind = recordOf(block ?? delta)['type'] ?? type;
  return typeof type === 'string' && !type.includes('.') && typeof kind === 'string' && !eventsOfMessages.test(kind);
}

/** The error of an answer that ended without a completion signal. */
export function cut(cause?: unknown): PinnaceError {
  return unavailable('provider_stream_cut', 'The model endpoint ended its answer in the middle', cause);
}

/** The error of an answer that ended as it should, without a word or a call. */
export function emptyAnswer(): PinnaceError {
  return unavailable(
    'provider_empty_answer',
    'The model ended its answer without saying anything: ask again, in other words, or choose another model',
    undefined,
  );
}

/** The error of an answer whose finish says that there was one. */
export function reportedError(): PinnaceError {
  return unavailable('provider_unavailable', 'The model endpoint reported an error', undefined);
}

function unavailable(reason: string, message: string, cause: unknown): PinnaceError {
  return new PinnaceError('unavailable', message, { cause, details: { reason } });
}

const firstDelayMs = 2_000;
/** Longer pauses are not waited for: the call fails. */
const longestPauseMs = 60_000;

/** How often a model call is tried, and how its delays are made. */
interface ModelRetryOptions {
  /** Retries after the first try. */
  readonly retries: number;
  readonly signal: AbortSignal;
  /** Between 0 and 1. */
  readonly random?: () => number;
  /** Is called before each delay, with the number of the try that follows it. */
  readonly onRetry?: (error: unknown, retry: { readonly attempt: number; readonly delayMs: number }) => void;
}

/** An error that the model reported in its stream, before any output. */
export class ReportedError extends Error {
  constructor(cause: unknown) {
    super('The model reported an error', { cause });
  }
}

/**
 * Returns the result of the first try that succeeds; rejects with the last failure. `attempt` gets the number of the try, from 1.
 * Retried are what the provider's error calls retryable, a connection that could not be made, and an answer that failed or was cut
 * before any output. The delay is 2 s, then 4 s, up to a quarter shorter; a `retry-after` of the provider below 60 s is followed
 * exactly.
 */
export async function withModelRetries<T>(
  attempt: (number: number) => Promise<T>,
  { retries, signal, random = Math.random, onRetry }: ModelRetryOptions,
): Promise<T> {
  for (let retried = 0;; retried++) {
    try {
      return await attempt(retried + 1);
    } catch (thrown) {
      signal.throwIfAborted();
      const error = thrown instanceof ReportedError ? toStreamError(thrown.cause) : thrown;
      if (retried >= retries || !mayRetry(thrown)) throw error;
      const ownMs = firstDelayMs * 2 ** retried * (1 - random() / 4);
      const delayMs = retryAfterOf(thrown instanceof ReportedError ? thrown.cause : thrown, ownMs) ?? ownMs;
      onRetry?.(error, { attempt: retried + 2, delayMs });
      await pause(delayMs, signal);
    }
  }
}

interface Failure extends Cause {
  readonly isRetryable?: unknown;
}

function mayRetry(thrown: unknown): boolean {
  if (thrown instanceof ReportedError) return toStreamError(thrown.cause).retryable;
  if (thrown instanceof PinnaceError) {
    return ['provider_stream_cut', 'provider_empty_answer'].some((reason) => thrown.details?.['reason'] === reason);
  }
  const { name, isRetryable } = failureOf(thrown);
  if (name === 'AI_APICallError') return isRetryable === true && toModelError(thrown).retryable;
  return isNetworkError(thrown) && toModelError(thrown).retryable;
}

/** The pause that the provider requests, if runs wait that long. */
function retryAfterOf(error: unknown, delayMs: number): number | undefined {
  const pauseMs = retryAfterIn(failureOf(error));
  return pauseMs !== undefined && (pauseMs < longestPauseMs || pauseMs < delayMs) ? pauseMs : undefined;
}

function failureOf(error: unknown): Failure {
  return typeof error === 'object' && error !== null ? error : {};
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const stop = (): void => reject(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  const timer = setTimeout(resolve, ms);
  return promise.finally(() => {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  });
}

/** A try that follows a failure. */
export type ModelRetry = Omit<PinnaceDataParts['retry'], 'retryAt'>;

/** Describes the try that follows the error: codes and configuration, and nothing that the provider wrote. */
export function modelRetry(
  error: unknown,
  { model: { provider, model }, ...next }: Pick<ModelRetry, 'attempt' | 'of' | 'delayMs' | 'isFallback'> & {
    readonly model: { readonly provider: { readonly id: string }; readonly model: { readonly modelId: string } };
  },
): ModelRetry {
  const { code, details } = toModelError(error);
  const reason = details?.['reason'];
  const known = { code, ...(typeof reason === 'string' && { reason }) };
  return { ...next, delayMs: Math.round(next.delayMs), providerId: provider.id, modelId: model.modelId, ...known };
}
