/** Sessions of clients of 2025-11-25: each belongs to the principal that opened it, and lives in this instance's memory. */

import { PinnaceError } from '../../../src/base/errors.ts';
import { hexOf } from '../../../src/base/hash.ts';
import { asRecord } from '../../../src/base/is-record.ts';
import type { Principal } from '../../../src/base/principal.ts';
import { owns } from '../../../src/permission/ownership.ts';
import { inRpc, unknownResource } from './content.ts';
import type { McpCaller, McpHost, McpSessionOptions } from './host.ts';
import type { Server, WebStandardStreamableHTTPServerTransport } from './sdk-2026.ts';
import { buildServer, callerOf, readAs, type ServerParts } from './server.ts';
import { canWatch, maxSubscriptions, watchOf, watchResource } from './watch.ts';
import { whenRead } from './answer-early.ts';

interface Sessions {
  /**
   * Serves a request of a session, or one that opens a session; `undefined` for any other.
   *
   * @throws PinnaceError `overloaded` when all sessions are taken, and no other tenant or person has several more than the caller.
   */
  fetch(request: Request, caller: McpCaller): Promise<Response | undefined>;
}

interface SessionsOptions extends McpSessionOptions {
  readonly keepAliveMs: number;
  readonly now?: (() => number) | undefined;
}

export function createSessions(
  parts: ServerParts,
  { max = 100, maxPerPrincipal = 10, idleMs = 1_800_000, keepAliveMs, now = Date.now }: SessionsOptions,
): Sessions {
  const sessions = new Map<string, Session>();
  const isIdle = ({ open, usedAt }: Session): boolean => open === 0 && now() - usedAt >= idleMs;
  const isOpen = (session: Session): boolean => sessions.get(session.id) === session && !isIdle(session);
  const close = async (session: Session | undefined): Promise<void> => {
    if (!session || !sessions.delete(session.id)) return;
    session.closed.abort();
    await session.server.close().catch(() => undefined); // its client has left
  };
  /** Not asynchronous: two clients must not take the same place. */
  const makeRoom = (principal: Principal): void => {
    const all = [...sessions.values()].toSorted((one, other) => one.usedAt - other.usedAt);
    const own = all.filter((session) => isOf(session, principal));
    const isFull = all.length >= max;
    const isOver = own.length > 0 && (isFull || own.length >= maxPerPrincipal);
    const given = isOver ? own[0] : isFull ? oldestOfMany(all, principal) : undefined;
    if (given) void close(given);
    else if (isFull) throw full();
  };
  const onEnd = (id: string): void => void close(sessions.get(id));
  const serve = async (session: Session, request: Request, caller: McpCaller): Promise<Response> => {
    request.signal.addEventListener('abort', () => {
      if (request.signal.reason === 'session_revoked') void close(session);
    });
    return await serveIn(session, request, { caller, now });
  };
  return {
    async fetch(request, caller) {
      for (const session of [...sessions.values()].filter(isIdle)) await close(session);
      if (!await parts.library.isLegacyRequest(request, caller.body)) return undefined;
      const { principal } = caller;
      const id = request.headers.get('mcp-session-id');
      const known = id === null ? undefined : sessions.get(id);
      if (known && isOf(known, principal)) return await serve(known, request, caller);
      // A client that starts again may still send the id of its session before.
      if (!parts.library.isInitializeRequest(caller.body)) return id === null ? undefined : unknownSession();
      makeRoom(principal);
      const session = openSession(parts, { principal, keepAliveMs, now, onEnd, isOpen });
      sessions.set(session.id, session);
      caller.tools.closing.addEventListener('abort', () => void close(session), { signal: session.closed.signal });
      const response = await serve(session, request, caller);
      if (!response.ok) await close(session);
      return response;
    },
  };
}

function isOf({ principal: { tenant, subject } }: Session, caller: Principal): boolean {
  return owns(caller, { tenant, subject });
}

/**
 * Where all are taken: the idle session that was unused for longest, of the tenant with the most sessions, if it has several more than
 * the caller's; within the caller's tenant, of the person with the most. So the many sessions of one do not keep others out.
 */
function oldestOfMany(all: readonly Session[], { tenant, subject }: Principal): Session | undefined {
  const byTenant = Map.groupBy(all, ({ principal }) => principal.tenant);
  const own = byTenant.get(tenant) ?? [];
  const [most = []] = [...byTenant.values()].toSorted((one, other) => other.length - one.length);
  const isFair = most.length <= own.length + 1;
  const bySubject = Map.groupBy(isFair ? own : most, ({ principal }) => principal.subject);
  const [many = []] = [...bySubject.values()].toSorted((one, other) => other.length - one.length);
  const isMany = !isFair || many.length > (bySubject.get(subject)?.length ?? 0) + 1;
  return isMany ? many.find(({ open }) => open === 0) : undefined;
}

/** The same for a session that never was, one that is closed, and one of another principal. */
function unknownSession(): Response {
  const error = { code: -32001, message: 'Session not found' };
  return Response.json({ jsonrpc: '2.0', id: null, error }, { status: 404 });
}

function full(): PinnaceError {
  return new PinnaceError('overloaded', 'Cannot open an MCP session: this endpoint has as many as it may', {
    retryAfterMs: 5_000,
    details: { reason: 'too_many_mcp_sessions' },
  });
}

interface Session {
  /** 256 random bits. It identifies the session, and authenticates no caller. */
  readonly id: string;
  readonly principal: Principal;
  readonly server: Server;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly ready: Promise<void>;
  readonly closed: AbortController;
  /** Requests that are not answered yet, those for the stream of notifications left out. */
  open: number;
  /** The ids of the requests in progress, and how many came with each. */
  readonly ids: Map<unknown, number>;
  usedAt: number;
}

interface SessionOptions {
  readonly principal: Principal;
  readonly keepAliveMs: number;
  readonly now: () => number;
  readonly onEnd: (id: string) => void;
  readonly isOpen: (session: Session) => boolean;
}

function openSession(
  parts: ServerParts,
  { principal, keepAliveMs, now, onEnd, isOpen }: SessionOptions,
): Session {
  const id = hexOf(crypto.getRandomValues(new Uint8Array(32)));
  const onsessionclosed = (): void => onEnd(id);
  const transport = new parts.library.WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: () => id,
    keepAliveMs,
    onsessionclosed,
  });
  const canSubscribe = canWatch(parts.host);
  const server = buildServer(parts, canSubscribe ? { resources: { subscribe: true } } : {});
  const closed = new AbortController();
  const isUsable = (): boolean => isOpen(session);
  if (canSubscribe) serveSubscriptions({ server, host: parts.host, closed: closed.signal, isOpen: isUsable });
  const ready = server.connect(transport);
  const session: Session = { id, principal, server, transport, ready, closed, open: 0, ids: new Map(), usedAt: now() };
  return session;
}

/** Serves a request of a session. Until its response is read, the session is in use; a stream of notifications is no use. */
async function serveIn(
  session: Session,
  request: Request,
  { caller, now }: { readonly caller: McpCaller; readonly now: () => number },
): Promise<Response> {
  const { body, principal } = caller;
  const authInfo = { token: '', clientId: principal.subject, scopes: [], extra: { ...caller } };
  const messages = [body].flat().map(asRecord);
  const ids = messages.flatMap(({ id, method }) => method === undefined || id === undefined ? [] : [id]);
  if (new Set(ids).size < ids.length || ids.some((id) => session.ids.has(id))) return idInUse();
  for (const id of ids) session.ids.set(id, ids.length);
  const isStream = request.method === 'GET';
  if (isStream) session.transport.closeStandaloneSSEStream(); // a client that reconnects may be faster than the news of its leaving
  session.open += isStream ? 0 : 1;
  session.usedAt = now();
  const done = (): void => {
    for (const id of ids) session.ids.delete(id);
    session.open -= isStream ? 0 : 1;
    session.usedAt = now();
  };
  try {
    await session.ready;
    const options = { authInfo, ...(body !== undefined && { parsedBody: body }) };
    const answer = await session.transport.handleRequest(request, options);
    for (const { method, params } of messages) {
      const { requestId } = method === 'notifications/cancelled' ? asRecord(params) : {};
      // A canceled request gets no response, so nothing else would end its stream.
      if (session.ids.get(requestId) === 1) session.transport.closeSSEStream(requestId as string | number); // as the library took it
    }
    return whenRead(answer, done);
  } catch (error) {
    done();
    throw error;
  }
}

/** Responses are told apart by their ids alone: of two requests with one id, one would never be answered. */
function idInUse(): Response {
  const error = { code: -32600, message: 'Invalid Request: another request with this id is in progress' };
  return Response.json({ jsonrpc: '2.0', id: null, error }, { status: 400 });
}

interface SubscriptionOptions {
  readonly server: Server;
  readonly host: McpHost;
  /** Aborts when the session is closed. */
  readonly closed: AbortSignal;
  readonly isOpen: () => boolean;
}

/** Serves `resources/subscribe` and `resources/unsubscribe`. */
function serveSubscriptions({ server, host, closed, isOpen }: SubscriptionOptions): void {
  const watched = new Map<string, AbortController>();
  server.setRequestHandler('resources/subscribe', async ({ params: { uri } }, context) => {
    if (watched.has(uri)) return {};
    const stop = new AbortController();
    const signal = AbortSignal.any([stop.signal, closed]);
    const { principal } = callerOf(context);
    const notify = (): Promise<void> => server.sendResourceUpdated({ uri });
    const start = async (): Promise<void> => {
      if (watched.size >= maxSubscriptions) throw tooMany();
      watched.set(uri, stop);
      if (!await watchResource(uri, { host, principal, signal, isOpen, notify })) throw unknownResource(uri);
    };
    try {
      await inRpc({ uri }, () => readAs(context, watchOf(uri), undefined, start));
      return {};
    } catch (error) {
      if (watched.get(uri) === stop) watched.delete(uri);
      stop.abort();
      throw error;
    }
  });
  server.setRequestHandler('resources/unsubscribe', ({ params: { uri } }) => {
    watched.get(uri)?.abort();
    watched.delete(uri);
    return {};
  });
}

function tooMany(): PinnaceError {
  return new PinnaceError('rate_limited', `Cannot watch the resource: a session watches at most ${maxSubscriptions}`, {
    retryable: false,
    details: { reason: 'too_many_subscriptions', maxSubscriptions },
  });
}
