/** Sessions of clients of 2025-11-25: each belongs to the principal that opened it, and lives in this instance's memory. */

import { isInitializeRequest, isLegacyRequest } from '../sdk-2026.ts';
import { PinnaceError } from '../../../../src/base/errors.ts';
import type { Principal } from '../../../../src/base/principal.ts';
import { owns } from '../../../../src/permission/ownership.ts';
import type { McpSessionOptions } from '../host.ts';
import type { McpCaller, ServerParts } from '../server.ts';
import { openSession, serveIn, type Session } from './session.ts';

/** The sessions of an endpoint. */
export interface Sessions {
  /**
   * Serves a request of a session, or one that opens a session; `undefined` for any other.
   *
   * @throws PinnaceError `overloaded` when all sessions are taken by other principals.
   */
  fetch(request: Request, caller: McpCaller): Promise<Response | undefined>;
}

/** What sessions need. */
export interface SessionsOptions extends McpSessionOptions {
  readonly keepAliveMs: number;
  readonly now?: (() => number) | undefined;
}

/** Opens the sessions of an endpoint. */
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
    const own = [...sessions.values()].filter((session) => isOf(session, principal));
    const [oldest] = own.toSorted((one, other) => one.usedAt - other.usedAt);
    const isFull = sessions.size >= max;
    if (oldest && (isFull || own.length >= maxPerPrincipal)) void close(oldest);
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
      if (!await isLegacyRequest(request, caller.body)) return undefined;
      const { principal } = caller;
      const id = request.headers.get('mcp-session-id');
      if (id !== null) {
        const session = sessions.get(id);
        return session && isOf(session, principal) ? await serve(session, request, caller) : unknownSession();
      }
      if (!isInitializeRequest(caller.body)) return undefined;
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
