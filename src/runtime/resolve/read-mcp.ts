/** Reading from the MCP servers that an agent selects, for its callers: what prompts, resources and apps share. */

import { egressDenied, isWithinEgress } from '../../base/egress-list.ts';
import { PinnaceError } from '../../base/errors.ts';
import { type Principal, requireScope } from '../../base/principal.ts';
import type { Agent } from '../../base/schema.ts';
import type { ContentReader, ContentTarget } from '../../contracts/mcp/content-reader.ts';
import { reportAt } from '../../events/report.ts';
import { reportedHook } from '../../events/reported-port.ts';
import { actorOf, traceAt } from '../../events/span.ts';
import { createTraceId } from '../../events/trace-ids.ts';
import { createRunRedaction, type RunRedaction } from '../../permission/redaction/run-redaction.ts';
import type { RuntimeParts } from '../runtime-options.ts';
import { type ClientRead, readForClient } from './client-access.ts';
import { minLimits } from './limits.ts';
import type { SelectedServer } from './mcp-tools.ts';

/** The agent with its servers, for a caller who may run it. */
export async function equip(agentId: string, principal: Principal, { resolver, requireOpen }: RuntimeParts) {
  requireScope(principal, 'run:create', agentId);
  requireOpen();
  await resolver.refresh();
  return await resolver.equip(agentId, principal);
}

/** Reads with a connection of its own. */
export async function use<T>(
  { agentId, principal, what, signal }: Asked,
  parts: RuntimeParts,
  work: (reader: ContentReader, target: ContentTarget) => Promise<T>,
): Promise<T> {
  const { agent, servers } = await equip(agentId, principal, parts);
  const redaction = createRunRedaction();
  const until = signal ? AbortSignal.any([signal, parts.closing]) : parts.closing;
  const target = targetOf({ agent, servers, principal, serverId: what.target.id, redaction, signal: until }, parts);
  return await guardedRead(what, { agent, principal, parts }, async () => {
    const reader = (await parts.mcp.content()).open();
    try {
      return await work(reader, target);
    } finally {
      await reader.close();
    }
  });
}

/** What is read, for whom. */
export interface Asked {
  readonly agentId: string;
  readonly principal: Principal;
  readonly what: ClientRead;
  readonly signal: AbortSignal | undefined;
}

/** Describes a reading for the permission hook. */
export function readOf(action: string, server: string, input: Readonly<Record<string, unknown>>): ClientRead {
  return {
    action,
    target: { type: 'mcp-server', id: server.slice(0, 128) },
    attempt: 'Cannot read from the MCP server',
    input,
  };
}

/** Checked by the permission hook, within the agent's rate limit, observed; a refusal is audited. */
export async function guardedRead<T>(
  what: ClientRead,
  { agent, principal, parts }: {
    readonly agent: Agent;
    readonly principal: Principal;
    readonly parts: RuntimeParts;
  },
  work: () => Promise<T>,
): Promise<T> {
  const { emit, now } = parts;
  const traceId = createTraceId();
  const spanContext = traceAt({ traceId, tenant: principal.tenant, actor: actorOf(principal) }, { emit, now });
  const authorize = reportedHook(parts.authorize, reportAt(parts.report, { traceId }), 'authorize');
  const options = { ...parts, agent, principal, authorize, limits: minLimits(parts.limits, agent.limits) };
  return await readForClient(what, { spanContext, options }, work);
}

/** The server that is read. */
export function targetOf(
  { agent, servers, principal, serverId, redaction, signal }: {
    readonly agent: Agent;
    readonly servers: readonly SelectedServer[];
    readonly principal: Principal;
    readonly serverId: string;
    readonly redaction: RunRedaction;
    readonly signal: AbortSignal;
  },
  { resolver }: RuntimeParts,
): ContentTarget {
  const found = servers.find(({ id }) => id === serverId)?.server;
  if (!found) {
    throw new PinnaceError('not_found', 'Cannot read from the MCP server: the agent selects no server of this id', {
      details: { reason: 'mcp_server_not_found' },
    });
  }
  const { origin } = new URL(found.url);
  if (!isWithinEgress(new URL(origin), agent.egress)) {
    throw egressDenied('Cannot read from the MCP server', origin, `the "egress" of agent "${agent.id}"`);
  }
  return {
    server: found,
    selection: agent.mcp[serverId] ?? {},
    principal,
    signal,
    async secret({ secret, url }) {
      if (!secret) return undefined;
      const scope = { tenant: principal.tenant, agentId: agent.id, origin: new URL(url).origin };
      const resolved = await resolver.secret(secret, scope);
      redaction.add(resolved);
      return resolved;
    },
    protect: (token) => redaction.add(token),
    redact: (text) => redaction.text(text),
  };
}
