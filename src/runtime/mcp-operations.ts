/** What an administrator asks of a runtime: to fill its caches, to check MCP servers, and the sign-ins of callers to them. */

import { PinnaceError, toData } from '../base/errors.ts';
import { checkData } from '../base/json.ts';
import { parse } from '../base/parse.ts';
import { type Principal, requireScope } from '../base/principal.ts';
import { McpAnswers } from '../contracts/mcp/answers.ts';
import { type McpValidation, McpValidationRequest } from '../contracts/mcp/mcp-validation.ts';
import { McpSignInCallback, McpSignInRequest, type RuntimeSignIns } from '../contracts/mcp/sign-in.ts';
import type { ErrorContext, Report } from '../events/report.ts';
import type { Guard } from '../permission/guarded.ts';
import type { Caller, Resolver } from './resolver.ts';
import type { RuntimeParts } from './run-context.ts';
import type { HostedRuntime, Prewarmed } from './runtime.ts';

/** Creates the methods. */
export function createRuntimeSignIns(parts: RuntimeParts, { guard }: { readonly guard: Guard }): RuntimeSignIns {
  const { mcp, interruptions, report, closing: signal, requireOpen, due, now } = parts;
  const attempt = 'Cannot sign in to the MCP server';
  const targetOf = (id: string) => ({ type: 'mcp-server', id });
  const requireCaller = (principal: Principal): void => {
    requireScope(principal, 'run:create');
    requireOpen();
  };
  return {
    async start(serverId, input, principal) {
      requireCaller(principal);
      const request = parse(McpSignInRequest, input, { what: 'the sign-in' });
      const effect = { principal, action: 'mcp.sign_in.start', target: targetOf(serverId), attempt };
      return await guard(effect, async () => (await mcp.signIns()).start(serverId, request, { principal, signal }));
    },
    async finish(input, principal) {
      requireCaller(principal);
      const callback = parse(McpSignInCallback, input, { what: 'the answer of the authorization server' });
      const effect = { principal, action: 'mcp.sign_in', target: { type: 'mcp-server', id: 'any' }, attempt };
      await guard(effect, async (at) => {
        const { serverId, interruption } = await (await mcp.signIns()).finish(callback, { principal, signal });
        at.emit({ action: 'mcp.sign_in', target: targetOf(serverId), status: 'ok' });
        if (!interruption) return;
        const { runId, id } = interruption;
        const goesOnAt = now() + clientMs;
        const decided = interruptions.decide(principal, runId, id, { approved: true, goesOnAt });
        await decided.then(() => due.arm(goesOnAt)).catch(
          reportUnlessOver(report, { kind: 'mcp', id: serverId, runId }),
        );
      });
    },
    async grant(serverId, principal) {
      requireCaller(principal);
      return await (await mcp.signIns()).grant(serverId, { principal, signal });
    },
    answer: (runId, id, input, principal) => answerServer(parts, guard, { runId, id, input, principal }),
    async revoke(serverId, principal) {
      requireCaller(principal);
      const effect = {
        principal,
        action: 'mcp.sign_out',
        target: targetOf(serverId),
        attempt: 'Cannot sign out of the MCP server',
      };
      await guard(effect, async () => (await mcp.signIns()).revoke(serverId, { principal, signal }));
    },
  };
}

/** A page that has the chat open goes on by itself within this time after a sign-in. Afterwards the server does. */
const clientMs = 10_000;

/** Stores the answers to the questions of a server, and then that they are there. */
export async function answerServer(
  { mcp, interruptions, closing: signal, requireOpen }: RuntimeParts,
  guard: Guard,
  { runId, id, input, principal, goesOnAt }: {
    readonly runId: string;
    readonly id: string;
    readonly input: unknown;
    readonly principal: Principal;
    readonly goesOnAt?: number;
  },
): Promise<void> {
  requireScope(principal, 'tool:approve');
  requireOpen();
  checkData(input);
  const { answers } = parse(McpAnswers, input, { what: 'the answers' });
  const effect = { principal, action: 'interruption.answer', target: { type: 'run', id: runId.slice(0, 64) } };
  await guard({ ...effect, attempt: 'Cannot answer the MCP server' }, async () => {
    await interruptions.requirePending(principal, runId, id);
    await mcp.answer({ runId, id, principal, answers }, { signal });
    await interruptions.decide(principal, runId, id, { approved: true, isAnswered: true, goesOnAt });
  });
}

/** The grant is stored, and the next call uses it: the sign-in has not failed. The person may have decided otherwise, or too late. */
function reportUnlessOver(report: Report, context: ErrorContext): (error: unknown) => void {
  return (error) => {
    const { code = '' } = error instanceof PinnaceError ? error : {};
    if (!['already_decided', 'approval_expired', 'not_found'].includes(code)) report(error, context);
  };
}

/** Compares what an MCP server offers with its pin. An approval is a side effect: the hook decides on it, and the audit records it. */
export async function validateMcpServer(
  { mcp, tools, dataSources, resolver, closing }: RuntimeParts,
  guard: Guard,
  [serverId, input, principal, { signal = closing } = {}]: Parameters<HostedRuntime['validateMcpServer']>,
): Promise<McpValidation> {
  const request = parse(McpValidationRequest, input, { what: 'the check of an MCP server' });
  const { subject, tenant, deployment = false } = principal;
  const agentId = `mcp-server:${serverId}`;
  const check = () =>
    mcp.validate(serverId, {
      request,
      principal,
      subject,
      tenant,
      deployment,
      signal,
      secret: async ({ secret, url }) =>
        secret && await resolver.secret(secret, { tenant, agentId, origin: new URL(url).origin }),
      toolNames: async (server) => [
        ...[...tools, ...dataSources?.tools ?? []].map(({ definition }) => definition.name),
        ...(await resolver.tools(server.tenant)).map(({ name }) => name),
      ],
    });
  if (!request.approve) return await check();
  const target = { type: 'mcp-server', id: serverId };
  return await guard({ principal, action: 'mcp.approve', target, attempt: 'Cannot approve the MCP server' }, check);
}

/** Loads what the first run of each agent needs: the agent, its provider and secret, its MCP servers and the list of tools. */
export async function prewarm(resolver: Resolver, agentIds: readonly string[], caller: Caller): Promise<Prewarmed> {
  await resolver.refresh();
  const results = await Promise.allSettled(agentIds.map((agentId) => warm(resolver, agentId, caller)));
  const warmed = new Set<string>();
  const failed: [string, string][] = [];
  for (const [i, result] of results.entries()) {
    if (result.status === 'fulfilled') { for (const key of result.value) warmed.add(key); }
    else failed.push([agentIds[i] ?? '', toData(result.reason).code]);
  }
  return { warmed: [...warmed].toSorted(), failed: Object.fromEntries(failed) };
}

async function warm(resolver: Resolver, agentId: string, caller: Caller): Promise<readonly string[]> {
  const { agent, servers } = await resolver.resolve(agentId, caller);
  const found = servers.filter(({ server }) => server !== undefined).map(({ id }) => `mcp-server:${id}`);
  return [`agent:${agentId}`, `provider:${agent.providerId}`, 'tools', ...found];
}
