/** The HTTP endpoint: a `Request` in, a `Response` out, the same on every server that speaks Fetch. */

import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { PinnaceError, toProblem } from '../../src/errors.ts';
import { createTraceId } from '../../src/events.ts';
import { parseJson } from '../../src/json.ts';
import type { Authenticator } from '../../src/ports.ts';
import type { RunRequestInput } from '../../src/runtime/run-request.ts';
import type { Runtime } from '../../src/runtime/runtime.ts';
import { encodeSse, sseHeaders } from './sse.ts';

/** What an endpoint needs besides the runtime. */
export interface HandlerOptions {
  /** Verifies every request but the health check. There is no endpoint without one. */
  readonly authenticator: Authenticator;
  /** The largest body that a run request may have. */
  readonly maxBodyBytes?: number;
  readonly keepAliveMs?: number;
  readonly now?: () => number;
}

/** Serves one request. Never throws: what goes wrong is a problem answer (RFC 9457). */
export type Handler = (request: Request) => Promise<Response>;

/**
 * Gives the handler of an endpoint.
 *
 * @throws TypeError without an authenticator.
 */
export function createHandler(runtime: Runtime, options: HandlerOptions): Handler {
  const { authenticator, maxBodyBytes = 1_048_576, keepAliveMs = 15_000, now = Date.now } = options;
  if (typeof authenticator?.authenticate !== 'function') {
    throw new TypeError('Cannot make a handler without an authenticator');
  }
  const app = new Hono();
  app.onError((error, c) => problemResponse(c, error, now()));
  app.notFound((c) => problemResponse(c, new PinnaceError('not_found', 'Nothing is served at this path'), now()));

  app.get('/v1/healthz', (c) => c.json({ status: 'ok' }));
  app.post('/v1/runs', bodyLimit({ maxSize: maxBodyBytes, onError: () => tooLarge(maxBodyBytes) }), async (c) => {
    const principal = await authenticator.authenticate(c.req.raw);
    // `run` parses what it gets; the type only says what would be right.
    const stream = await runtime.run(await readJson(c) as RunRequestInput, principal);
    return new Response(encodeSse(stream, { keepAliveMs }), { headers: sseHeaders });
  });
  app.get('/v1/agents/:id/manifest', async (c) => {
    const principal = await authenticator.authenticate(c.req.raw);
    return c.json(await runtime.manifest(c.req.param('id'), principal));
  });
  for (const path of ['/v1/runs', '/v1/healthz', '/v1/agents/:id/manifest']) app.all(path, methodNotAllowed);
  return async (request) => await app.fetch(request);
}

async function readJson(c: Context): Promise<unknown> {
  const contentType = c.req.header('content-type') ?? '';
  if (!/^application\/json\s*(;|$)/i.test(contentType)) {
    throw new PinnaceError('content_type_not_supported', 'Cannot read the body: send it as application/json', {
      status: 415,
    });
  }
  if (c.req.header('content-encoding') !== undefined) {
    throw new PinnaceError('content_encoding_not_allowed', 'Cannot read the body: send it without content-encoding', {
      status: 415,
    });
  }
  return parseJson(decodeUtf8(await c.req.arrayBuffer()));
}

function decodeUtf8(bytes: ArrayBuffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new PinnaceError('invalid_argument', 'Cannot read the body: it is not UTF-8', {
      details: { reason: 'malformed_text' },
    });
  }
}

function tooLarge(maxBytes: number): never {
  throw new PinnaceError('body_too_large', `Cannot read the body: at most ${maxBytes} bytes are allowed`, {
    status: 413,
  });
}

function methodNotAllowed(): never {
  throw new PinnaceError('method_not_allowed', 'This path does not serve this method', { status: 405 });
}

function problemResponse(c: Context, error: unknown, now: number): Response {
  const problem = toProblem(error, { traceId: createTraceId(), now });
  const headers: Record<string, string> = {
    'content-type': 'application/problem+json',
    'cache-control': 'no-store',
    'x-trace-id': problem.traceId,
  };
  if (problem.retryAfterMs !== undefined) headers['retry-after'] = String(Math.ceil(problem.retryAfterMs / 1000));
  // 499 says that the client left: nobody reads it, and Hono's types know only registered statuses.
  return c.body(JSON.stringify(problem), problem.status as 500, headers);
}
