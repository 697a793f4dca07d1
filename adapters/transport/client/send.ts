/** Sends signed requests, and retries those that may be sent again. */

import { PinnaceError, type ProblemCode } from '../../../src/base/errors.ts';
import { readRetryAfter } from '../../../src/base/with-retries.ts';
import { scheme } from '../signed/profile.ts';
import { createContentDigest, signRequest } from '../signed/signature.ts';
import type { Authorized } from './client-credentials.ts';

/** One request, before it is signed. */
interface Call {
  readonly method: string;
  readonly url: URL;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as they are, instead of `body`. */
  readonly bytes?: Uint8Array<ArrayBuffer>;
  /** The media type of the bytes. */
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** Sends a request and returns its successful response. Rejects with a `PinnaceError`, or with the reason of an abort. */
export type Send = (call: Call) => Promise<Response>;

interface SendOptions extends Authorized {
  readonly fetch: (request: Request) => Promise<Response>;
  readonly now: () => number;
  readonly wait: Wait;
  readonly backoff: Backoff;
  readonly silenceMs: number;
}

/** A longer `Retry-After` is an error for the caller to handle. */
const longestPauseMs = 60_000;

/** A clock that follows the endpoint's clock where the two differ. */
interface Clock {
  offsetMs: number;
}

/**
 * Creates the function that sends. Every attempt has its own time, nonce and signature, and the same body and headers. Network
 * errors and responses of requests that were not served are retried with full jitter, or after `Retry-After`. A signature or
 * certificate that was rejected for its time is renewed once, by the endpoint's clock, and a token that was refused once.
 */
export function createSend(options: SendOptions): Send {
  const { wait, backoff } = options;
  const clock: Clock = { offsetMs: 0 };
  return async (call) => {
    const json = call.body === undefined ? undefined : new TextEncoder().encode(JSON.stringify(call.body));
    const body = call.bytes ?? json;
    let signedAnew = false;
    let renewed: string | undefined;
    for (let failures = 1;;) {
      const token = renewed ?? await options.bearer?.();
      const outcome = await attempt(call, { ...options, clock, body, token });
      if (!('error' in outcome)) return outcome; // not by its class: servers for Node replace `Response`
      const { error } = outcome;
      if (!signedAnew && adapt(outcome, { ...options, clock })) {
        signedAnew = true;
        continue;
      }
      renewed = signedAnew || error.status !== 401 || token === undefined ? undefined : await options.bearer?.(token);
      if (renewed !== undefined && renewed !== token) {
        signedAnew = true;
        continue;
      }
      const pause = error.retryAfterMs ?? pauseMs(failures - 1, backoff);
      if (!isTransient(error) || failures++ >= backoff.attempts || pause > longestPauseMs) {
        throw namingSkew(outcome, options.now());
      }
      await wait(pause, call.signal);
    }
  };
}

interface Attempt extends SendOptions {
  readonly clock: Clock;
  readonly body: Uint8Array<ArrayBuffer> | undefined;
  readonly token: string | undefined;
}

async function attempt(call: Call, options: Attempt): Promise<Response | Refused> {
  const { signal } = call;
  signal.throwIfAborted();
  const dead = new AbortController();
  const request = await toRequest(call, options, AbortSignal.any([signal, dead.signal]));
  try {
    const response = await within(options.fetch(request), options.silenceMs, options.wait);
    if (response === undefined) {
      dead.abort();
      return { error: unreachable(call.url) };
    }
    return response.ok ? response : await readRefusal(response, options.now());
  } catch (error) {
    signal.throwIfAborted();
    return { error: unreachable(call.url, error) };
  }
}

async function toRequest(
  call: Call,
  { credentials, usualHeaders, sendsCookies, now, clock, body, token }: Attempt,
  signal: AbortSignal,
): Promise<Request> {
  const { method, url } = call;
  const nowSeconds = Math.floor((now() + clock.offsetMs) / 1000);
  const headers = await usualHeaders();
  for (const [name, value] of Object.entries(call.headers ?? {})) headers.set(name, value);
  if (body !== undefined) headers.set('content-type', call.type ?? 'application/json');
  if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
  if (credentials) {
    const credential = await credentials.current(nowSeconds);
    headers.set('authorization', `${scheme} ${credential.certificate}`);
    if (body !== undefined) headers.set('content-digest', await createContentDigest(body));
    const signed = await signRequest({ method, url, headers }, { ...credential, nowSeconds, nonce: createNonce() });
    for (const [name, value] of new Headers(signed)) headers.set(name, value);
  }
  return new Request(url, {
    method,
    headers,
    signal,
    redirect: 'manual', // a signature is valid for one address
    credentials: sendsCookies ? 'include' : 'omit',
    cache: 'no-store',
    ...(body !== undefined && { body }),
  });
}

/** 128 random bits as base64url. */
function createNonce(): string {
  const bits = String.fromCharCode(...crypto.getRandomValues(new Uint8Array(16)));
  return btoa(bits).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

/** Errors that a new signature can fix, and whether the clock or the certificate is the cause. */
const curable: Readonly<Record<string, 'clock' | 'certificate' | 'nonce'>> = {
  certificate_expired: 'certificate',
  signature_expired: 'clock',
  signature_from_future: 'clock',
  signature_replayed: 'nonce',
};

/** Adjusts the clock or the certificate after an error. Returns whether a new signature may now pass. */
function adapt({ error, serverTime }: Refused, { clock, now, credentials }: SendOptions & { clock: Clock }): boolean {
  const cause = error.status === 401 && Object.hasOwn(curable, error.code) ? curable[error.code] : undefined;
  if (cause === undefined) return false;
  if (cause !== 'nonce' && serverTime !== undefined) clock.offsetMs = serverTime - now();
  if (cause === 'certificate') credentials?.renew();
  return true;
}

/** Adds the difference of the clocks to an error that may be due to it. */
function namingSkew({ error, serverTime }: Refused, now: number): PinnaceError {
  const { code, status, retryable, retryAfterMs, details } = error;
  const skewMs = serverTime === undefined || typeof details?.['serverTime'] !== 'string' ? 0 : now - serverTime;
  if (Math.abs(skewMs) < noticeableSkewMs) return error;
  const apart = `${Math.round(Math.abs(skewMs) / 1000)} s ${skewMs > 0 ? 'ahead of' : 'behind'} that of the endpoint`;
  return new PinnaceError(code, `${error.message}. The clock of this client is ${apart}`, {
    status,
    retryable,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    details: { ...details, clockSkewMs: skewMs },
    cause: error,
  });
}

/** Smaller differences come from the network, or do not matter. */
const noticeableSkewMs = 5_000;

export function unexpected(what: string): PinnaceError {
  return new PinnaceError('internal', `Cannot read the answer of the endpoint: ${what}`);
}

interface Refused {
  readonly error: PinnaceError;
  /** The time of the endpoint, in milliseconds. */
  readonly serverTime?: number;
}

/** Statuses of requests that were not served: they may be sent again. */
const transient: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** Reads an error response. `details.location` is its `Location`. */
async function readRefusal(response: Response, now: number): Promise<Refused> {
  const { status, headers } = response;
  const problem = await readObject(response);
  const text = (name: string): string | undefined => typeof problem[name] === 'string' ? problem[name] : undefined;
  const date = headers.get('date');
  const retryAfterMs = readRetryAfter(headers.get('retry-after'), { date, now }) ?? numberOf(problem['retryAfterMs']);
  const location = headers.get('location');
  const details = { ...recordOf(problem['details']), ...(location !== null && { location }) };
  // safe: an endpoint sends these codes; one of another version may have a code that this union does not
  const code = text('code') as ProblemCode | undefined ?? codeOf(status);
  const error = new PinnaceError(
    code,
    text('detail') ?? `The endpoint answered ${status}; check that "url" is its address`,
    {
      status,
      retryable: typeof problem['retryable'] === 'boolean' ? problem['retryable'] : transient.has(status),
      details,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    },
  );
  const serverTime = Date.parse(text('serverTime') ?? headers.get('date') ?? '');
  return { error, ...(Number.isFinite(serverTime) && { serverTime }) };
}

/** Whether the same request may be sent again as it is, with a new signature. */
function isTransient({ status, retryable }: PinnaceError): boolean {
  return retryable && transient.has(status);
}

/** The error of a request without a response. In a page the cause is often a missing origin, which no script can see. */
export function unreachable(url?: URL, cause?: unknown): PinnaceError {
  // Node's fetch repeats a request after a 421, sometimes without its body.
  if (String((cause as Error | undefined)?.cause).startsWith('RequestContentLength')) {
    return new PinnaceError('misdirected_request', 'Cannot reach this host: use one of its "authorities"', {
      cause,
    });
  }
  const page = globalThis.location?.origin;
  const origins = page && page !== url?.origin ? `, and that its "origins" list "${page}"` : '';
  const message = `Cannot reach ${url?.origin ?? 'the endpoint'}: check its address, and that it runs${origins}`;
  return new PinnaceError('unavailable', message, { details: { reason: 'network' }, cause });
}

async function readObject(response: Response): Promise<Readonly<Record<string, unknown>>> {
  if (!/[/+]json\b/.test(response.headers.get('content-type') ?? '')) {
    await response.body?.cancel();
    return {};
  }
  return recordOf(await response.json().catch(() => undefined));
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? value as Readonly<Record<string, unknown>> : {}; // safe: an object
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 ? value : undefined;
}

function codeOf(status: number): ProblemCode {
  if (status === 429) return 'rate_limited';
  if (status === 404) return 'not_found';
  return transient.has(status) ? 'unavailable' : 'internal';
}

/** Resolves after a time; rejects with the signal's reason as soon as it aborts. */
export type Wait = (ms: number, signal: AbortSignal) => Promise<void>;

export function platformWait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(reasonOf(signal));
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(reasonOf(signal));
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal.addEventListener('abort', onAbort, { once: true });
  });
}

function reasonOf(signal: AbortSignal): Error {
  return signal.reason as Error; // passed on, never read
}

/** Returns the result of the work, or `undefined` when it takes longer. The work itself continues. */
export async function within<T>(work: Promise<T>, ms: number, waitFor: Wait): Promise<T | undefined> {
  const done = new AbortController();
  try {
    return await Promise.race([work, waitFor(ms, done.signal).then(() => undefined)]);
  } finally {
    done.abort();
  }
}

export interface Backoff {
  readonly attempts: number;
  readonly baseMs: number;
  readonly capMs: number;
  readonly random: () => number;
}

/** The pause after so many failed attempts, with full jitter, so that clients that failed together do not return together. */
export function pauseMs(failures: number, { baseMs, capMs, random }: Backoff): number {
  return random() * Math.min(capMs, baseMs * 2 ** failures);
}
