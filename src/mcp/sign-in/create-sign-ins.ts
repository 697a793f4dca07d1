/** The sign-ins of a runtime's callers, by the id of the server. */

import { PinnaceError } from '../../base/errors.ts';
import { type Principal, requireScope } from '../../base/principal.ts';
import type { McpServer } from '../../base/schema.ts';
import type { Catalog } from '../../contracts/catalog.ts';
import type { McpSignIns } from '../../contracts/mcp/sign-ins.ts';
import type { Storage } from '../../contracts/storage.ts';
import type { Emit } from '../../events/events.ts';
import { owns } from '../../permission/ownership.ts';
import { catalogOf } from '../records.ts';
import { emitDrift } from './authorization.ts';
import { readContinuation } from './continuation.ts';
import type { SignInContext } from './sign-in-context.ts';
import { finishSignIn, isForTenant, revokeGrant, showGrant, startSignIn } from './sign-ins.ts';

/** Where servers and sign-ins are. */
export interface CreateSignInsOptions {
  readonly catalog: Catalog;
  readonly storage: Storage;
  readonly emit: Emit;
  readonly contextOf: (signal: AbortSignal) => SignInContext;
}

/** Creates them. A server without sign-in does not exist here. */
export function createSignIns({ catalog, storage, emit, contextOf }: CreateSignInsOptions): McpSignIns {
  const find = async (id: string, { tenant }: Principal, signal: AbortSignal): Promise<McpServer> => {
    const own = await catalogOf(catalog, tenant)?.mcpServer?.(id, signal);
    const server = own ?? await catalog.mcpServer?.(id, signal);
    if (!server?.auth) throw unknownServer();
    return server;
  };
  const findChangeable = async (id: string, principal: Principal, signal: AbortSignal): Promise<McpServer> => {
    const server = await find(id, principal, signal);
    if (isForTenant(server, principal)) requireScope(principal, 'registry:write');
    return server;
  };
  return {
    async start(serverId, request, { principal, signal }) {
      const server = await findChangeable(serverId, principal, signal);
      const waiting = request.interruptionId === undefined
        ? undefined
        : await readContinuation(storage, request.interruptionId);
      const isOwn = waiting && owns(principal, waiting) && waiting.serverId === serverId;
      if (request.interruptionId !== undefined && !isOwn) throw unknownInterruption();
      const start = { server, principal, request, challenged: waiting?.scope };
      return await startSignIn(start, contextOf(signal)).catch((error: unknown) => {
        emitDrift(error, server, emit);
        throw error;
      });
    },
    async finish(callback, { principal, signal }) {
      const serverOf = (id: string): Promise<McpServer> => findChangeable(id, principal, signal);
      const { serverId, interruptionId } = await finishSignIn({ callback, principal, serverOf }, contextOf(signal));
      const waiting = interruptionId === undefined ? undefined : await readContinuation(storage, interruptionId);
      if (interruptionId === undefined || !waiting) return { serverId };
      return { serverId, interruption: { id: interruptionId, runId: waiting.runId } };
    },
    async grant(serverId, { principal, signal }) {
      return await showGrant({ server: await find(serverId, principal, signal), principal }, contextOf(signal));
    },
    async revoke(serverId, { principal, signal }) {
      await revokeGrant({ server: await findChangeable(serverId, principal, signal), principal }, contextOf(signal));
    },
  };
}

function unknownServer(): PinnaceError {
  return new PinnaceError('not_found', 'Cannot sign in to the MCP server: no server with "auth" has this id', {
    details: { reason: 'mcp_server_not_found' },
  });
}

function unknownInterruption(): PinnaceError {
  return new PinnaceError('not_found', 'Cannot sign in for the interruption: no run of the caller waits with this id', {
    details: { reason: 'interruption_not_found' },
  });
}
