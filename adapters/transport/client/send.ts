/** Sends signed requests, and retries those that may be sent again. */

import { PinnaceError } from '../../../src/base/errors.ts';
import { createContentDigest } from '../signed/digest.ts';
import { scheme } from '../signed/profile.ts';
import { signRequest } from '../signed/signature.ts';
import type { Credentials } from './credential.ts';
import { isTransient, readRefusal, type Refused, unreachable } from './problem.ts';
import { type Backoff, pauseMs, type Wait, within } from './wait.ts';

/** One request, before it is signed. */
export interface Call {
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

/** What sending depends on. */
export interface SendOptions {
  /** Signs the requests; without it, `usualHeaders` prove who calls. */
  readonly credentials: Credentials | undefined;
  readonly usualHeaders: () => Promise<Headers>;
  /** Whether the browser adds its cookies. */
  readonly sendsCookies: boolean;
  readonly fetch: (request: Request) => Promise<Response>;
  readonly now: () => number;
  readonly wait: Wait;
  readonly backoff: Backoff;
  /** A connection without a response for so long is dead. */
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
 * certificate that was rejected for its time is renewed once, by the endpoint's clock.
 */
export function createSend(options: SendOptions): Send {
  const { wait, backoff } = options;
  const clock: Clock = { offsetMs: 0 };
  return async (call) => {
    const json = call.body === undefined ? undefined : new TextEncoder().encode(JSON.stringify(call.body));
    const body = call.bytes ?? json;
    let signedAnew = false;
    for (let failures = 1;;) {
      const outcome = await attempt(call, { ...options, clock, body });
      if (!('error' in outcome)) return outcome; // not by its class: servers for Node replace `Response`
      const { error } = outcome;
      if (!signedAnew && adapt(outcome, { ...options, clock })) {
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
  { credentials, usualHeaders, sendsCookies, now, clock, body }: Attempt,
  signal: AbortSignal,
): Promise<Request> {
  const { method, url } = call;
  const nowSeconds = Math.floor((now() + clock.offsetMs) / 1000);
  const headers = await usualHeaders();
  for (const [name, value] of Object.entries(call.headers ?? {})) headers.set(name, value);
  if (body !== undefined) headers.set('content-type', call.type ?? 'application/json');
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

/** The error of a response that breaks the contract. */
export function unexpected(what: string): PinnaceError {
  return new PinnaceError('internal', `Cannot read the answer of the endpoint: ${what}`);
}
