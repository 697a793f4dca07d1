/** One session: a server of its own, and the transport that it is connected to. */

import { type Server, WebStandardStreamableHTTPServerTransport } from '../sdk-2026.ts';
import { hexOf } from '../../../../src/base/hash.ts';
import type { Principal } from '../../../../src/base/principal.ts';
import { buildServer, type McpCaller, type ServerParts } from '../server.ts';
import { whenRead } from '../when-read.ts';
import { canWatch } from '../watch/watch-resource.ts';
import { serveSubscriptions } from './subscriptions.ts';

/** A session of a principal. */
export interface Session {
  /** 256 random bits. It identifies the session, and authenticates no caller. */
  readonly id: string;
  readonly principal: Principal;
  readonly server: Server;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly ready: Promise<void>;
  readonly closed: AbortController;
  /** Requests that are not answered yet, those for the stream of notifications left out. */
  open: number;
  usedAt: number;
}

/** What a session needs. */
export interface SessionOptions {
  readonly principal: Principal;
  readonly keepAliveMs: number;
  readonly now: () => number;
  /** The client has ended the session. */
  readonly onEnd: (id: string) => void;
  /** Whether the session may be used now. */
  readonly isOpen: (session: Session) => boolean;
}

/** Opens a session; it can be used when it is `ready`. */
export function openSession(
  parts: ServerParts,
  { principal, keepAliveMs, now, onEnd, isOpen }: SessionOptions,
): Session {
  const id = hexOf(crypto.getRandomValues(new Uint8Array(32)));
  const onsessionclosed = (): void => onEnd(id);
  const transport = new WebStandardStreamableHTTPServerTransport({
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
  const session: Session = { id, principal, server, transport, ready, closed, open: 0, usedAt: now() };
  return session;
}

/** Serves a request of a session. Until its response is read, the session is in use; a stream of notifications is no use. */
export async function serveIn(
  session: Session,
  request: Request,
  { caller, now }: { readonly caller: McpCaller; readonly now: () => number },
): Promise<Response> {
  const { body, principal } = caller;
  const authInfo = { token: '', clientId: principal.subject, scopes: [], extra: { ...caller } };
  const isStream = request.method === 'GET';
  if (isStream) session.transport.closeStandaloneSSEStream(); // a client that reconnects may be faster than the news of its leaving
  session.open += isStream ? 0 : 1;
  session.usedAt = now();
  const done = (): void => {
    session.open -= isStream ? 0 : 1;
    session.usedAt = now();
  };
  try {
    await session.ready;
    const options = { authInfo, ...(body !== undefined && { parsedBody: body }) };
    return whenRead(await session.transport.handleRequest(request, options), done);
  } catch (error) {
    done();
    throw error;
  }
}
