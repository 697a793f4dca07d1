/** The route of MCP clients: who may come, from where, and with how much. */

import type { Context, Hono, MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import { PinnaceError } from '../../../src/base/errors.ts';
import { parseJson } from '../../../src/base/json.ts';
import { problemResponse } from './problem.ts';
import type { HandlerContext } from './handler.ts';
import type { McpEndpoint } from '../mcp-server.ts';
import { answerEarly } from '../mcp-server/answer-early.ts';
import type { McpHost } from '../mcp-server/host.ts';
import { readBody } from '../signed/body.ts';

/** What is served at `/mcp`, and under which names. */
export interface McpRouteOptions extends McpHost {
  /**
   * The host names, without a port, under which the endpoint is reached; those of this machine when absent. A page that a
   * rebinding name server points here carries its own name, and is refused.
   */
  readonly hosts?: readonly string[];
}

const loopbackHosts = ['localhost', '127.0.0.1', '[::1]'];

/** How long an answer may take before it begins as a stream. */
const longestSilenceMs = 500;

/** The path of MCP clients. */
export const mcpPath = '/mcp';

/** Adds the route. What it needs is loaded with the first request. */
export function addMcpRoute(
  { app, authenticator, refusals, maxBodyBytes, keepAliveMs, now, random }: HandlerContext,
  { mcp, origins }: { readonly mcp: McpRouteOptions; readonly origins: readonly string[] },
): void {
  let loading: Promise<McpEndpoint> | undefined;
  const load = (): Promise<McpEndpoint> =>
    loading ??= import('../mcp-server.ts').then(({ createMcpEndpoint }) => createMcpEndpoint(mcp, { keepAliveMs }));
  addGuards(app, { hosts: mcp.hosts ?? loopbackHosts, origins });
  app.all(mcpPath, async (c) => {
    const { raw } = c.req;
    try {
      const principal = await authenticator.authenticate(raw);
      const tools = await mcp.tools(principal);
      const body = await readMessage(raw, maxBodyBytes);
      if (body === unreadable) return parseError();
      const endpoint = await load();
      const stop = new AbortController();
      const unwatch = authenticator.onRevoked?.(principal, () => stop.abort('session_revoked'));
      const signal = AbortSignal.any([raw.signal, stop.signal]);
      const request = new Request(raw.url, { method: raw.method, headers: raw.headers, signal });
      const answer = endpoint.fetch(request, { principal, tools, body });
      const waitMs = raw.headers.get('accept')?.includes('text/event-stream') ? longestSilenceMs : undefined;
      const onLeave = (): void => stop.abort('client_gone');
      return whenRead(
        await (waitMs === undefined ? answer : answerEarly(answer, { waitMs, onLeave })),
        () => unwatch?.(),
      );
    } catch (error) {
      refusals.answered(raw, error);
      return challenged(problemResponse(c, error, { now: now(), random }));
    }
  });
}

function addGuards(
  app: Hono,
  { hosts, origins }: { readonly hosts: readonly string[]; readonly origins: readonly string[] },
): void {
  const guard: MiddlewareHandler = async (c, next) => {
    requirePlace(c, { hosts, origins });
    await next();
  };
  app.use(mcpPath, guard);
  app.use(
    mcpPath,
    cors({ origin: [...origins], allowMethods: ['GET', 'POST', 'DELETE'], ...corsHeaders, maxAge: 600 }),
  );
}

const corsHeaders = {
  allowHeaders: [
    'authorization',
    'content-type',
    'content-digest',
    'idempotency-key',
    'last-event-id',
    'mcp-method',
    'mcp-name',
    'mcp-protocol-version',
    'mcp-session-id',
    'signature',
    'signature-input',
  ],
  exposeHeaders: ['mcp-session-id', 'www-authenticate', 'retry-after', 'x-trace-id'],
};

/** Before anything of the request is read. A client that is no page sends no origin. */
function requirePlace(
  c: Context,
  { hosts, origins }: { readonly hosts: readonly string[]; readonly origins: readonly string[] },
): void {
  const url = new URL(c.req.url);
  if (!hosts.includes(url.hostname)) {
    throw new PinnaceError('misdirected_request', 'This endpoint does not serve this host name', { status: 421 });
  }
  const origin = c.req.header('origin');
  if (origin === undefined || origin === url.origin || origins.includes(origin)) return;
  throw new PinnaceError('origin_not_allowed', 'Pages of this origin may not call this endpoint', { status: 403 });
}

const unreadable = Symbol('unreadable');

/** Reads the message, if it is one: what comes as another type than JSON is refused unread. */
async function readMessage(request: Request, maxBytes: number): Promise<unknown> {
  if (request.method !== 'POST' || !/^application\/json\s*(;|$)/i.test(request.headers.get('content-type') ?? '')) {
    return undefined;
  }
  const bytes = await readBody(request, { maxBytes });
  try {
    return parseJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return unreadable;
  }
}

function parseError(): Response {
  const error = { code: -32700, message: 'Parse error: the body is not JSON, or nested too deep' };
  return Response.json({ jsonrpc: '2.0', id: null, error }, { status: 400 });
}

/** MCP clients know bearer tokens and nothing of signatures. */
function challenged(response: Response): Response {
  if (response.status !== 401) return response;
  const own = response.headers.get('www-authenticate');
  response.headers.set('www-authenticate', own === null ? 'Bearer' : `Bearer, ${own}`);
  return response;
}

/** Tells when the answer was read to its end, or let go. */
function whenRead(response: Response, done: () => void): Response {
  if (response.body === null) {
    done();
    return response;
  }
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  void response.body.pipeTo(writable).catch(() => undefined).finally(done);
  return new Response(readable, response);
}
