/** The Agents Worker: what it is made of. */

import { keysOfTenant } from '../log/cache-key.ts';
import { PinnaceError } from '../base/errors.ts';
import { steadyStorage } from '../log/outage.ts';
import type { Audit, Recorder } from '../events/audit.ts';
import type { EventRing } from '../events/event-ring.ts';
import type { Emit } from '../events/events.ts';
import { createTraceId } from '../events/trace-ids.ts';
import type { InputDigests } from '../events/input-digests.ts';
import { createInterruptions } from '../permission/interruption.ts';
import type { Metrics } from '../base/metrics.ts';
import type { Authorize } from '../contracts/authorize.ts';
import type { Catalog } from '../contracts/catalog.ts';
import type { Egress } from '../contracts/egress.ts';
import type { ModelSource } from '../contracts/model-source.ts';
import type { Sandbox } from '../contracts/sandbox.ts';
import type { SecretSource } from '../contracts/secret-source.ts';
import type { Storage } from '../contracts/storage.ts';
import type { Builtin } from '../tools/builtin/builtins.ts';
import type { Handlers } from '../tools/extension.ts';
import { createSlots } from '../tools/slots.ts';
import type { Tool } from '../tools/tool.ts';
import { createAgentSteps } from './agent-steps.ts';
import { openAgentTools } from './resolve/agent-tools.ts';
import { chunksOf } from './log/chunks-of.ts';
import type { DataSources } from '../contracts/data-sources.ts';
import { decide } from './calls/decide.ts';
import { createDismissal } from './resolve/dismissal.ts';
import type { Limits } from './resolve/limits.ts';
import { createLiveTexts } from './calls/live-texts.ts';
import type { McpSource } from './resolve/mcp-tools.ts';
import { prewarm, within } from './operations.ts';
import { createOutside } from './outside.ts';
import type { Plans } from '../contracts/plans.ts';
import { requireScope } from '../base/principal.ts';
import { createReadiness } from './readiness.ts';
import { countRefusedRun } from './refused-run.ts';
import { createRequestRefusals } from './request-refusals.ts';
import { createResolver, type Resolver } from './resolve/resolver.ts';
import { createRuns } from './log/runs.ts';
import type { HostedRuntime } from './runtime.ts';
import { startRun } from './start-run.ts';
import type { Discovery } from '../contracts/discovery.ts';
import { createToolSets } from './resolve/tool-sets.ts';
import { validateMcpServer } from './validate-mcp-server.ts';
import { createWatching } from './watching.ts';

/** What the pipeline works with. */
export interface RuntimeOptions {
  readonly catalog: Catalog;
  readonly models: ModelSource;
  readonly storage: Storage;
  readonly secrets: SecretSource | undefined;
  readonly tools: readonly Tool[];
  readonly builtins: readonly Builtin[];
  readonly egress: Egress | undefined;
  readonly sandbox: Sandbox | undefined;
  readonly handlers: Handlers;
  readonly mcp: McpSource;
  readonly discovery: Discovery<Tool> | undefined;
  readonly dataSources: DataSources<Tool> | undefined;
  readonly plans: Plans | undefined;
  readonly authorize: Authorize;
  readonly limits: Limits;
  readonly emit: Emit;
  readonly ring: EventRing;
  readonly audit: Audit | undefined;
  readonly recorder: Recorder;
  readonly metrics: Metrics;
  readonly digests: InputDigests;
  readonly now: () => number;
}

/** Gives the runtime over its ports. */
export function createPipeline(options: RuntimeOptions): HostedRuntime {
  const { limits: { retentionMs, commitSpacingMs, storageGraceMs, totalMs }, metrics, now } = options;
  // Twice the retention: for half of it the run is gone and the record still says that there was one.
  const ttlMs = totalMs + 2 * retentionMs;
  const closing = new AbortController();
  let draining = false;
  const runs = createRuns({ ...options, retentionMs, commitSpacingMs, storageGraceMs, ttlMs });
  metrics.gauge('pinnace_open_runs', () => runs.open);
  const storage = steadyStorage(options.storage, storageGraceMs);
  const interruptions = createInterruptions({
    storage: options.storage,
    now,
    validMs: options.limits.approvalMs,
    graceMs: storageGraceMs,
  });
  const slots = createSlots();
  const resolver: Resolver = createResolver({ ...options, onAgentsChanged: (agentIds) => dismiss(agentIds) });
  const dismiss = createDismissal(runs, (agentId, tenant) => resolver.agent(agentId, { tenant, via: 'in-process' }));
  const liveTexts = createLiveTexts();
  const toolSetOf = createToolSets({ ...options, liveTexts });
  const requireOpen = (): void => {
    if (draining) {
      throw new PinnaceError('unavailable', 'Cannot go on: the runtime is closed', {
        details: { reason: 'runtime_closed' },
      });
    }
  };

  const { place, guard } = createOutside(options);
  const parts = {
    ...options,
    storage,
    runs,
    resolver,
    interruptions,
    slots,
    toolSetOf,
    liveTexts,
    dismiss,
    ttlMs,
    closing: closing.signal,
  };
  const start: HostedRuntime['start'] = async (input, principal, given) => {
    try {
      requireScope(principal, 'run:create');
      requireOpen();
      return await startRun(parts, input, { ...given, principal });
    } catch (error) {
      countRefusedRun(metrics, error);
      throw error;
    }
  };
  const cancel: HostedRuntime['cancel'] = async (runId, principal, { trace } = {}) => {
    const { state, agentId, traceId } = await runs.status(principal, runId, 'run:cancel');
    if (state !== 'running') return;
    const facts = { action: 'run.cancel', target: { type: 'run', id: runId } };
    const deed = { ...facts, principal, trace: trace ?? { traceId }, context: { agentId } };
    await guard({ ...deed, attempt: 'Cannot cancel the run' }, async (at) => {
      await runs.cancel(principal, runId);
      at.emit({ ...facts, status: 'ok' });
    });
  };
  return {
    start,
    cancel,
    runs,
    steps: createAgentSteps(parts),
    metrics,
    async run(input, principal, { signal, idempotencyKey } = {}) {
      const idempotency = idempotencyKey === undefined
        ? undefined
        : { key: idempotencyKey, fingerprint: JSON.stringify(input) };
      const left = new AbortController();
      const { runId } = await start(input, principal, { signals: [signal, left.signal], idempotency });
      return chunksOf(await runs.answer(principal, runId), () => left.abort('client_gone'));
    },
    async resume(runId, after, { principal, signal }) {
      const cursor = await runs.cursor(principal, runId, after);
      const stop = (): void => void cancel(runId, principal).catch(() => undefined); // its stream tells how it ends
      if (signal?.aborted) stop();
      signal?.addEventListener('abort', stop, { once: true });
      return chunksOf(cursor, stop);
    },
    async manifest(agentId, principal) {
      requireScope(principal, 'registry:read', agentId);
      requireOpen();
      await resolver.refresh();
      const { agent, tools, servers } = await resolver.equip(agentId, principal);
      const { digest, entries } = await toolSetOf(agent, tools, servers);
      return { agentId: agent.id, digest, tools: entries };
    },
    async tools(agentId, principal) {
      requireScope(principal, 'run:create', agentId);
      requireOpen();
      return await openAgentTools(parts, agentId, principal);
    },
    async decide(runId, approvalId, decision, principal) {
      requireScope(principal, 'tool:approve');
      const run = await runs.status(principal, runId, 'tool:approve').catch(() => undefined); // `decide` says why not
      const { approved } = decision;
      await decide(
        {
          principal,
          traceId: run?.traceId ?? createTraceId(),
          agentId: run?.agentId,
          id: approvalId,
          input: { runId, approved },
          payload: { runId: run?.runId, approved },
        },
        options,
        () => interruptions.decide(principal, runId, approvalId, decision),
      );
    },
    async reply(runId, reply, principal) {
      // A question of an agent that a tool of the run has called: its id begins with that of the plan.
      const { planId = /^(plan_\w+)\./.exec(reply.askId)?.[1] } = await runs.status(principal, runId, 'tool:approve');
      if (planId === undefined || !options.plans) {
        throw new PinnaceError('not_found', 'Cannot reply: this run follows no plan', {
          details: { reason: 'no_plan' },
        });
      }
      await options.plans.reply(planId, principal, reply);
    },
    async invalidate(keys, principal) {
      if (principal) requireScope(principal, 'registry:write');
      const isOfTenant = principal !== undefined && principal.deployment !== true;
      await resolver.invalidate(isOfTenant ? keysOfTenant(keys, principal.tenant) : keys);
    },
    async prewarm(agentIds, principal) {
      requireScope(principal, 'registry:read');
      return await prewarm(resolver, agentIds, principal);
    },
    async validateMcpServer(serverId, input, principal, { signal = closing.signal } = {}) {
      requireScope(principal, 'registry:write');
      requireOpen();
      return await validateMcpServer({ ...options, resolver, guard }, { serverId, input, principal, signal });
    },
    ...createWatching(options, closing.signal),
    authorize: options.authorize,
    place,
    guard,
    refused: createRequestRefusals(options),
    ready: createReadiness({ ...options, isClosed: () => draining }),
    async close({ drainMs = 0 } = {}) {
      draining = true;
      if (drainMs > 0) await within(drainMs, runs.drained());
      await options.plans?.close();
      closing.abort('runtime_closed');
      await runs.drained();
      await within(auditMs, options.recorder.drained());
      runs.close();
      resolver.close();
    },
  };
}

/** How long the last ends of an audit are waited for: longer than a storage that answers at all takes for one. */
const auditMs = 15_000;
