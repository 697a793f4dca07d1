/** Requests JSON from another service: one bounded response, and one error for each kind of failure. No error contains what was sent or received. */

import { PinnaceError } from '../../src/base/errors.ts';
import { parseJson } from '../../src/base/json.ts';
import { readBytes } from '../../src/base/read-text.ts';
import { untilAborted } from '../../src/base/until-aborted.ts';
import { readRetryAfter } from '../../src/base/with-retries.ts';

export type HeaderRecord = Readonly<Record<string, string>>;

export interface Remote {
  readonly name: 'catalog' | 'secret manager';
  /** The prefix of its error reasons. */
  readonly kind: 'catalog' | 'secrets';
  readonly maxBytes: number;
  readonly fetch: (request: Request) => Promise<Response>;
  readonly now: () => number;
}

export interface JsonRequest {
  readonly url: string;
  readonly what: string;
  /** Called for each request, so that tokens can be renewed. */
  readonly headers: () => Promise<HeaderRecord> | HeaderRecord;
  /** The entity tag of the cached response. */
  readonly etag?: string | undefined;
  readonly signal: AbortSignal | undefined;
}

export type Reply =
  | { readonly type: 'found'; readonly data: unknown; readonly etag: string | undefined }
  | { readonly type: 'unchanged' }
  | { readonly type: 'missing' }
  | { readonly type: 'denied'; readonly status: number }
  | { readonly type: 'busy'; readonly retryAfterMs: number | undefined };

/**
 * Sends one request, without redirects, caching, retries and cookies.
 * @throws PinnaceError `unavailable`, with the reason `<kind>_unreachable` or `<kind>_failed` where trying again may help,
 * `<kind>_refused`, `<kind>_too_large`, `<kind>_invalid`, `<kind>_headers` or `tls_untrusted` where it does not; what {@link untilAborted} says of
 * an abort.
 */
export async function requestJson(remote: Remote, request: JsonRequest): Promise<Reply> {
  const { signal, what } = request;
  return await untilAborted(() => exchange(remote, request), { signal, action: `load ${what}` });
}

export function invalidAnswer(
  { name, kind }: Pick<Remote, 'name' | 'kind'>,
  { what, why, details }: { readonly what: string; readonly why: string; readonly details?: object | undefined },
): PinnaceError {
  return new PinnaceError('unavailable', `Cannot load ${what}: the ${name} answered ${why}`, {
    retryable: false,
    details: { ...details, reason: `${kind}_invalid` },
  });
}

async function exchange(remote: Remote, request: JsonRequest): Promise<Reply> {
  const sent = await toRequest(remote, request);
  const response = await reach(remote, request, () => remote.fetch(sent));
  if (response.status === 200) {
    const bytes = await reach(remote, request, () => readBytes(response.body, remote.maxBytes));
    return { type: 'found', data: readData(remote, request, bytes), etag: response.headers.get('etag') ?? undefined };
  }
  void response.body?.cancel().catch(() => undefined);
  return readStatus(remote, request, response);
}

async function toRequest(remote: Remote, request: JsonRequest): Promise<Request> {
  const { url, etag, signal } = request;
  const headers = await readHeaders(remote, request);
  if (!headers.has('accept')) headers.set('accept', 'application/json');
  if (etag !== undefined) headers.set('if-none-match', etag);
  return new Request(url, {
    headers,
    redirect: 'error', // the headers are for one origin
    credentials: 'omit',
    cache: 'no-store', // the runtime caches, so that invalidations reach it
    ...(signal && { signal }),
  });
}

/** `Headers` quotes the values that it rejects, and the caller's function may say more, so their errors are dropped. */
async function readHeaders(remote: Remote, { headers, what }: JsonRequest): Promise<Headers> {
  let given: HeaderRecord;
  try {
    given = await headers();
  } catch {
    throw unavailable(remote, 'headers', `Cannot load ${what}: the headers for the ${remote.name} could not be made`);
  }
  try {
    return new Headers(given);
  } catch {
    const advice = 'names must be tokens, values one line of Latin-1';
    const message = `Cannot load ${what}: a header for the ${remote.name} cannot stand in a request; ${advice}`;
    throw unavailable(remote, 'headers', message, { retryable: false });
  }
}

/** The original error is dropped: the caller's own `fetch` may put the request into it. */
async function reach<T>(remote: Remote, { what }: JsonRequest, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof PinnaceError && error.details?.['reason'] === 'tls_untrusted') throw error; // as the egress says it
    const why = 'it is out of reach, redirects, or ended its answer early';
    throw unavailable(remote, 'unreachable', `Cannot load ${what} from the ${remote.name}: ${why}`);
  }
}

function readData(remote: Remote, { what }: JsonRequest, bytes: Uint8Array<ArrayBuffer>): unknown {
  if (bytes.length > remote.maxBytes) {
    const why = `it answered more than the ${remote.maxBytes} bytes that are allowed`;
    throw unavailable(remote, 'too_large', `Cannot load ${what} from the ${remote.name}: ${why}`, { retryable: false });
  }
  try {
    return parseJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw invalidAnswer(remote, { what, why: 'something that is not JSON in UTF-8, or nested too deep' });
  }
}

function readStatus(remote: Remote, { what, etag }: JsonRequest, { status, headers }: Response): Reply {
  const date = headers.get('date');
  const retryAfterMs = readRetryAfter(headers.get('retry-after'), { date, now: remote.now() });
  if (status === 304 && etag !== undefined) return { type: 'unchanged' };
  if (status === 404 || status === 410) return { type: 'missing' };
  if (status === 401 || status === 403) return { type: 'denied', status };
  if (status === 429) return { type: 'busy', retryAfterMs };
  const message = `Cannot load ${what}: the ${remote.name} answered ${status}`;
  if (status >= 500 || status === 408) throw unavailable(remote, 'failed', message, { retryAfterMs });
  throw unavailable(remote, 'refused', message, { retryable: false });
}

function unavailable(
  { kind }: Remote,
  cause: 'headers' | 'unreachable' | 'too_large' | 'failed' | 'refused',
  message: string,
  options: { readonly retryable?: boolean; readonly retryAfterMs?: number | undefined } = {},
): PinnaceError {
  const { retryable = true, retryAfterMs } = options;
  const details = { reason: `${kind}_${cause}` };
  return new PinnaceError('unavailable', message, {
    retryable,
    details,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}
