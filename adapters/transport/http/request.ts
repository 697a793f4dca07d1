/** Reads a request's body as JSON, and computes the fingerprint of the request. */

import type { Context, MiddlewareHandler } from 'hono';
import { getPath } from 'hono/utils/url';
import type * as v from 'valibot';
import { PinnaceError, toPinnaceError, toProblem } from '../../../src/base/errors.ts';
import { sha256OfText } from '../../../src/base/hash.ts';
import { parseRepairedJson } from '../../../src/base/json.ts';
import { parse } from '../../../src/base/parse.ts';
import { createTraceId, parseTraceparent } from '../../../src/events/trace-ids.ts';
import { readBody } from '../signed/body.ts';
import { challengeHeaders } from '../signed/profile.ts';
import type { SignedEnv } from './authentication.ts';

interface JsonBody {
  readonly data: unknown;
  /** SHA-256 over the path, the query and the text. */
  readonly fingerprint: string;
}

/**
 * Reads the body. Texts that were cut within a character are repaired, unless `parseText` refuses them.
 * @throws PinnaceError with status 400, 413 or 415 unless it is JSON in UTF-8 within the limit of its route.
 */
export async function readJson(
  request: Request,
  { parseText = parseRepairedJson }: { readonly parseText?: ((text: string) => unknown) | undefined } = {},
): Promise<JsonBody> {
  const contentType = request.headers.get('content-type') ?? '';
  if (!/^application\/json\s*(;|$)/i.test(contentType)) {
    throw new PinnaceError('content_type_not_supported', 'Cannot read the body: send it as application/json');
  }
  if (!/^(?:identity)?$/i.test(request.headers.get('content-encoding') ?? '')) {
    throw new PinnaceError('content_encoding_not_allowed', 'Cannot read the body: send it without content-encoding');
  }
  const text = decodeUtf8(await readBody(request));
  return { data: parseText(text), fingerprint: await fingerprintOf(request, text) };
}

/** Reads and parses the body; `what` names it in errors. @throws PinnaceError as `readJson`, and `invalid_argument`. */
export async function readAs<S extends v.GenericSchema<unknown, unknown>>(
  request: Request,
  schema: S,
  { what, parseText }: { readonly what: string; readonly parseText?: (text: string) => unknown },
): Promise<v.InferOutput<S>> {
  return parse(schema, (await readJson(request, { parseText })).data, { what });
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new PinnaceError('invalid_argument', 'Cannot read the body: it is not UTF-8', {
      details: { reason: 'malformed_text' },
    });
  }
}

async function fingerprintOf({ url }: Request, text: string): Promise<string> {
  const { pathname, search } = new URL(url);
  return await sha256OfText(`${pathname}\n${search}\n${text}`);
}

const targets = new WeakMap<Request, string>();

export function setTarget(request: Request, target: string): void {
  targets.set(request, target);
}

/**
 * A server builds the address from the `Host` header as it came: the result may be no address, or have another path than the one
 * requested. A path has one form, so that a proxy that filters by path judges the path that is served.
 */
export const requireAddress: MiddlewareHandler = async ({ req }, next) => {
  if (!URL.canParse(req.url) || /[\s,/?#@\\]/.test(req.header('host') ?? '')) {
    throw new PinnaceError(
      'invalid_argument',
      'Cannot read the address of the request: send a host name in "Host", with a port from 1 to 65535 if any',
      { details: { reason: 'invalid_host' } },
    );
  }
  if (!isCanonical(targets.get(req.raw) ?? req.url)) {
    throw new PinnaceError(
      'not_found',
      'Nothing is served at this path: send it without dot segments, double slashes, backslashes and encoded letters',
      { details: { reason: 'path_not_canonical' } },
    );
  }
  await next();
};

/** A letter, a digit, or one of `-._`, which no client needs to encode (RFC 3986, section 6.2.2.2). */
const encodedPlain = /%(?:2[de]|3\d|[46][1-9a-f]|[57][\da]|5f)/i;

/** Whether the path of a target is what every reader of URLs makes of it. */
function isCanonical(target: string): boolean {
  const path = /^(?:[a-z][a-z\d+.-]*:\/\/[^/?#\\]*)?([^?]*)/i.exec(target)?.[1] ?? '';
  if (path === '') return true;
  if (!path.startsWith('/') || path.includes('//') || encodedPlain.test(path)) return false;
  return URL.parse(path, 'http://host')?.pathname === path;
}

const bases = new WeakMap<Request, string>();

export function setBasePath(request: Request, basePath: string): void {
  bases.set(request, basePath);
}

/**
 * Returns the function that finds a request's path below its base path, or below the endpoint's own. A path outside of it is one that
 * the endpoint does not serve, but for the description of `/mcp`: RFC 9728 puts it at the root of the host.
 */
export function createGetPath(basePath: string | undefined): (request: Request) => string {
  return (request) => {
    const path = getPath(request);
    const base = (bases.get(request) ?? basePath ?? '').replace(/\/$/, '');
    if (base === '' || path.startsWith(`${wellKnownPath}/`)) return path;
    return path.startsWith(`${base}/`) ? path.slice(base.length) : '/';
  };
}

export const traceHeader = 'x-trace-id';

/** Sets `trace` from `traceparent`, and names it in the response unless the route names another, such as that of an earlier run. */
export const setTrace: MiddlewareHandler<SignedEnv> = async (c, next) => {
  const { traceId = createTraceId(), parentSpanId } = parseTraceparent(c.req.header('traceparent') ?? null) ?? {};
  c.set('trace', { traceId, ...(parentSpanId !== undefined && { parentSpanId }) });
  await next();
  if (!c.res.headers.has(traceHeader)) c.res.headers.set(traceHeader, traceId);
};

interface ProblemOptions {
  readonly now: number;
  /** From 0 to 1, for the spread of `Retry-After`; `Math.random` when absent. */
  readonly random?: () => number;
}

/** Returns the problem response for an error. A 429 or 503 that may be retried carries `Retry-After`. */
export function problemResponse(
  c: Context<SignedEnv>,
  thrown: unknown,
  { now, random = Math.random }: ProblemOptions,
): Response {
  const error = toPinnaceError(thrown);
  const { traceId } = c.get('trace');
  const retryAfterMs = error.retryAfterMs ?? defaultRetryMs(error, random);
  const problem = { ...toProblem(error, { traceId, now }), ...(retryAfterMs !== undefined && { retryAfterMs }) };
  const body = new TextEncoder().encode(JSON.stringify(problem));
  const { details } = problem;
  const headers: Record<string, string> = {
    'content-type': 'application/problem+json',
    'content-length': String(body.length), // complete for the client before the connection closes
    'cache-control': 'no-store',
    [traceHeader]: traceId,
    ...challengeHeaders(error, now),
  };
  if (retryAfterMs !== undefined) headers['retry-after'] = String(Math.max(1, Math.ceil(retryAfterMs / 1000)));
  if (typeof details?.['location'] === 'string') headers['location'] = details['location'];
  // Hono's types know only registered statuses, and 499 (the client has left) is not one.
  return c.body(body, problem.status as 500, headers);
}

/** The average `Retry-After` when the error has none. */
const usualRetryMs = 1000;

/** Spreads retries by 20 %, so that rejected clients do not come back all at once. */
function defaultRetryMs({ status, retryable }: PinnaceError, random: () => number): number | undefined {
  if (!retryable || (status !== 429 && status !== 503)) return undefined;
  return Math.round(usualRetryMs * (0.8 + 0.4 * random()));
}

/** The problem of an idempotency key whose run is still in progress: it names the stream to join. */
export function runInProgress(runId: string, lastSeq: number): PinnaceError {
  return new PinnaceError('run_in_progress', 'The run of this key is in progress: join its stream', {
    retryAfterMs: 1000,
    details: { runId, lastEventId: `${runId}:${lastSeq}`, location: `/v1/runs/${runId}/stream` },
  });
}

const statuses: ReadonlySet<number> = new Set([408, 413, 429]);
const reasons: ReadonlySet<unknown> = new Set([
  'instance_quota',
  'start_objective',
  'instance_bodies',
  'instance_body_bytes',
  'runtime_closed',
]);

/** Whether a quota, a body limit or the closing endpoint has refused the request. */
export function isRefusedByEndpoint(thrown: unknown): boolean {
  const { status, details } = toPinnaceError(thrown);
  return statuses.has(status) || reasons.has(details?.['reason']);
}

/** Where protected resources describe themselves (RFC 9728). */
export const wellKnownPath = '/.well-known/oauth-protected-resource';
