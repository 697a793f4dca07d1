/** Reads error responses: a problem (RFC 9457), or what a proxy sends. */

import { PinnaceError, type ProblemCode } from '../../../src/base/errors.ts';

/** A refused request. */
export interface Refused {
  readonly error: PinnaceError;
  /** The time of the endpoint, in milliseconds. */
  readonly serverTime?: number;
}

/** Statuses of requests that were not served: they may be sent again. */
const transient: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** Reads an error response. `details.location` is its `Location`. */
export async function readRefusal(response: Response, now: number): Promise<Refused> {
  const { status, headers } = response;
  const problem = await readObject(response);
  const text = (name: string): string | undefined => typeof problem[name] === 'string' ? problem[name] : undefined;
  const retryAfterMs = retryAfterOf(headers, now) ?? numberOf(problem['retryAfterMs']);
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
export function isTransient({ status, retryable }: PinnaceError): boolean {
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

/** Seconds, or a date. */
function retryAfterOf(headers: Headers, now: number): number | undefined {
  const value = headers.get('retry-after') ?? '';
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isFinite(date) ? Math.max(0, date - now) : undefined;
}

function codeOf(status: number): ProblemCode {
  if (status === 429) return 'rate_limited';
  if (status === 404) return 'not_found';
  return transient.has(status) ? 'unavailable' : 'internal';
}
