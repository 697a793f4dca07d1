/** The Agents Worker: what it is made of, and what it does. The way of one request, first to last, is `start-run.ts`. */

import type { UIMessageChunk } from '../ai-types.ts';
import { PinnaceError } from '../errors.ts';
import type { Audit, Recorder } from '../audit.ts';
import { type EventFeed, ringFeed } from '../event-feed.ts';
import type { EventLog } from '../event-log.ts';
import { storeFeed } from '../event-store.ts';
import type { EventRing, SeenEvent, WatchOptions } from '../event-ring.ts';
import { createTraceId, type Emit } from '../events.ts';
import { guarded, type GuardedDeed } from '../guarded.ts';
import { createInterruptions, type Decision } from '../interruption.ts';
import { type McpValidation, type McpValidationInput, McpValidationRequest } from '../mcp-validation.ts';
import type { Metrics } from '../metrics.ts';
import { parse } from '../parse.ts';
import type { Authorize, Catalog, Egress, ModelSource, Sandbox, SecretSource, Storage } from '../ports.ts';
import type { Handlers } from '../tools/extension.ts';
import { type Place, traceAt } from '../span.ts';
import { createSlots } from '../tools/slots.ts';
import type { Tool } from '../tools/tool.ts';
import { type AgentTools, openAgentTools } from './agent-tools.ts';
import { type AgentSteps, createAgentSteps } from './agent-steps.ts';
import type { ManifestEntry } from './assemble.ts';
import { chunksOf } from './chunks-of.ts';
import type { DataSources } from './data-sources.ts';
import { decide } from './decide.ts';
import type { Limits } from './limits.ts';
import { createDismissal } from './dismissal.ts';
import { prewarm, probe, within } from './operations.ts';
import type { PlanReply, Plans } from './plans.ts';
import { type Principal, requireScope } from './principal.ts';
import type { McpSource } from './mcp-tools.ts';
import { createResolver, type Resolver } from './resolver.ts';
import type { RunRequestInput } from './run-request.ts';
import { type ClaimOptions, createRuns, type Runs, type RunStatus } from './runs.ts';
import { startRun } from './start-run.ts';
import type { Discovery } from './step-tools.ts';
import { createToolSets } from './tool-sets.ts';

/** What the pipeline works with. */
export interface RuntimeOptions {
  readonly catalog: Catalog;
  readonly models: ModelSource;
  readonly storage: Storage;
  readonly secrets: SecretSource | undefined;
  readonly tools: readonly Tool[];
  readonly egress: Egress | undefined;
  readonly sandbox: Sandbox | undefined;
  readonly handlers: Handlers;
  readonly mcp: McpSource;
  readonly discovery: Discovery | undefined;
  readonly dataSources: DataSources | undefined;
  readonly plans: Plans | undefined;
  readonly authorize: Authorize;
  readonly limits: Limits;
  readonly emit: Emit;
  readonly ring: EventRing;
  readonly audit: Audit | undefined;
  readonly recorder: Recorder;
  readonly metrics: Metrics;
  readonly now: () => number;
}

/** A tool set as data. */
export interface Manifest {
  readonly agentId: string;
  readonly digest: string;
  readonly tools: readonly ManifestEntry[];
}

/** Runs agents, in process or on the other side of a port. */
export interface Runtime {
  /**
   * Runs an agent on a chat and gives its stream. What is wrong before the first chunk rejects with a `PinnaceError`; after it,
   * the stream tells and ends. When the signal aborts, or the stream is cancelled, the model and the tools are stopped; cancelled
   * with the reason `coming_back`, the run goes on for a while (`Limits.detachGraceMs`), to be read on. With an idempotency key,
   * asking again gives the stream of the same run from its beginning, and nothing runs twice.
   */
  run(
    request: RunRequestInput,
    principal: Principal,
    options?: { readonly signal?: AbortSignal | undefined; readonly idempotencyKey?: string | undefined },
  ): Promise<ReadableStream<UIMessageChunk>>;
  /**
   * Gives the chunks of a run behind its first `after`, as they were recorded and as they come. When the signal aborts, or the stream
   * is cancelled, the run is stopped, as with `run`.
   *
   * Rejects with `not_found`, `run_expired`, and `last_event_id_invalid` when the run has not come that far.
   */
  resume(
    runId: string,
    after: number,
    options: { readonly principal: Principal; readonly signal?: AbortSignal | undefined },
  ): Promise<ReadableStream<UIMessageChunk>>;
  /** The tools that an agent may use, and for each other known tool the one reason why not. */
  manifest(agentId: string, principal: Principal): Promise<Manifest>;
  /**
   * Decides on a call that a run asked about. The chat's next run spends the decision, which stands for that very call alone.
   *
   * Rejects with `not_found`, `already_decided` or `approval_expired`.
   */
  decide(runId: string, approvalId: string, decision: Decision, principal: Principal): Promise<void>;
  /**
   * Answers a question of the plan that a run follows. The plan goes on at once, also without a reader; the chat's next run with
   * `planner: { planId }` shows how.
   *
   * Rejects with `invalid_argument` for an answer that breaks the question's schema, which then stays open, `forbidden` without the
   * scope `tool:approve`, `not_found`, `already_decided`, `approval_expired`, and `conflict` when nobody waits for it any more.
   */
  reply(runId: string, reply: PlanReply, principal: Principal): Promise<void>;
  /**
   * Forgets cached definitions and secrets, here and on every instance with the same storage, from the next request on. Keys are
   * `agent:<id>`, `provider:<id>`, `mcp-server:<id>`, `tools`, `secrets`, or `*` for all.
   */
  invalidate(keys: readonly string[]): Promise<void>;
  /** Refuses further runs as `unavailable`, lets those under way go on for `drainMs` (0), then stops them. */
  close(options?: { readonly drainMs?: number }): Promise<void>;
}

/** A runtime in this process, with what an endpoint needs besides. */
export interface HostedRuntime extends Runtime {
  /**
   * Asks a run to stop, wherever it is executed, as the action `run.cancel`. One that has ended is left alone: nobody is asked.
   *
   * Rejects with `not_found`, `forbidden`, and as `guard` does.
   */
  cancel(runId: string, principal: Principal, options?: Pick<StartOptions, 'trace'>): Promise<void>;
  /** Starts a run that goes on by itself, or finds the one that the key stands for. Rejects as `run` does. */
  start(request: unknown, principal: Principal, options: StartOptions): Promise<Started>;
  readonly runs: Runs;
  /**
   * Gives the tools of an agent, for calls without its model, as those of an MCP client. Rejects with `forbidden` for a principal
   * who may not run the agent, `not_found` for an unknown agent.
   */
  tools(agentId: string, principal: Principal): Promise<AgentTools>;
  /** What its agents do outside runs, one step at a time. */
  readonly steps: AgentSteps;
  /** Resolves these agents, so that the next request finds the caches warm; tells the code of each that cannot be. */
  prewarm(
    agentIds: readonly string[],
    principal: Principal,
  ): Promise<{ readonly failed: Readonly<Record<string, string>> }>;
  /**
   * Looks at what an MCP server offers: its raw definitions, what the checks find, how it differs from what is pinned. With
   * `approve` the offer is pinned, or with errors in it the record becomes `error`; either way from the next request on.
   *
   * Rejects with `not_found`, `conflict` (the offer or the record has changed meanwhile), `unavailable` (no way to the server, or a
   * catalog that cannot be written).
   */
  validateMcpServer(
    serverId: string,
    request: McpValidationInput,
    principal: Principal,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<McpValidation>;
  /**
   * Gives what happens here, as it happens: the events of the principal's tenant, and to whoever composes in process those that
   * are nobody's. A watcher who reads slowly loses events, is told how many, and holds nothing up.
   *
   * @throws PinnaceError `forbidden` without the scope `admin`.
   */
  events(principal: Principal, options?: WatchOptions): ReadableStream<SeenEvent>;
  /**
   * Gives the same for those who come back: with a number to go on from, and from the ring's store, where it has one.
   *
   * @throws PinnaceError `forbidden` without the scope `admin`.
   */
  feed(principal: Principal): EventFeed;
  /**
   * Gives the audit of the principal's tenant; `undefined` where nothing is written down.
   *
   * @throws PinnaceError `forbidden` without the scope `admin`.
   */
  audit(principal: Principal): EventLog | undefined;
  /** The permission hook, for what is done beside the runtime. */
  readonly authorize: Authorize;
  /** Where it is told of what a principal does outside runs. */
  readonly place: (principal: Principal, trace?: StartOptions['trace']) => Place;
  /**
   * Does what changes something beside the runtime: the hook is asked, and the audit written before and after. A refusal is told
   * of; the work tells of itself.
   *
   * Rejects as the work does, with `forbidden` or `approval_required` as the hook says, and with `unavailable` where it cannot be
   * written down.
   */
  readonly guard: <T>(deed: OutsideDeed, work: (place: Place) => Promise<T>) => Promise<T>;
  /** Asks the storage and the catalog whether they answer. */
  ready(): Promise<Readonly<Record<string, 'ok' | 'failed'>>>;
  readonly metrics: Metrics;
}

/** What a principal does outside runs. */
export interface OutsideDeed extends Pick<GuardedDeed, 'action' | 'target' | 'payload' | 'context' | 'attempt'> {
  readonly principal: Principal;
  /** A trace of its own when absent. */
  readonly trace?: StartOptions['trace'];
}

/** How a run is started. */
export interface StartOptions {
  /** Each stops the run. */
  readonly signals?: readonly (AbortSignal | undefined)[];
  readonly idempotency?: ClaimOptions['idempotency'];
  /** The trace that the run is part of, and the span there that it is within; a trace of its own when absent. */
  readonly trace?: { readonly traceId: string; readonly parentSpanId?: string | undefined } | undefined;
}

/** A run that was started, or one that was known. */
export interface Started {
  readonly runId: string;
  /** The run that the key stood for. */
  readonly known?: RunStatus;
  /** Resolves when the run that was started here has ended. */
  readonly ended?: Promise<void>;
}

/** Gives the runtime over its ports. */
export function createPipeline(options: RuntimeOptions): HostedRuntime {
  const { limits: { retentionMs, commitSpacingMs, totalMs }, metrics, now } = options;
  // Twice the retention: for half of it the run is gone and the record still says that there was one.
  const ttlMs = totalMs + 2 * retentionMs;
  const closing = new AbortController();
  let draining = false;
  const runs = createRuns({ ...options, retentionMs, commitSpacingMs, ttlMs });
  metrics.gauge('pinnace_open_runs', () => runs.open);
  const interruptions = createInterruptions({ storage: options.storage, now, validMs: options.limits.approvalMs });
  const slots = createSlots();
  const resolver: Resolver = createResolver({ ...options, onAgentsChanged: (agentIds) => dismiss(agentIds) });
  const dismiss = createDismissal(runs, (agentId) => resolver.agent(agentId));
  const toolSetOf = createToolSets(options);
  const requireOpen = (): void => {
    if (draining) {
      throw new PinnaceError('unavailable', 'Cannot go on: the runtime is closed', {
        details: { reason: 'runtime_closed' },
      });
    }
  };

  const placeOf: HostedRuntime['place'] = ({ tenant, subject }, { traceId, parentSpanId } = newTrace()) =>
    traceAt({ traceId, parentSpanId, tenant, actor: { type: 'user', id: subject } }, options);
  const instance = crypto.randomUUID().slice(0, 8);
  const feedOf = (principal: Principal): EventFeed => {
    const { ring } = options;
    const feed = ring.store
      ? storeFeed(ring.store.log(principal.tenant))
      : ringFeed(ring, { origin: instance, isVisible: visibleTo(principal) });
    return {
      origin: feed.origin,
      follow: (how) => feed.follow({ ...how, signal: AbortSignal.any([how.signal, closing.signal]) }),
    };
  };
  const guard: HostedRuntime['guard'] = ({ principal, trace, ...deed }, work) => {
    const place = placeOf(principal, trace);
    return guarded(
      { ...deed, principal, actor: { type: 'user', id: principal.subject }, place },
      options,
      () => work(place),
    );
  };
  const parts = {
    ...options,
    runs,
    resolver,
    interruptions,
    slots,
    toolSetOf,
    dismiss,
    ttlMs,
    closing: closing.signal,
  };
  const start: HostedRuntime['start'] = async (input, principal, given) => {
    requireScope(principal, 'run:create');
    requireOpen();
    return await startRun(parts, input, { ...given, principal });
  };
  const cancel: HostedRuntime['cancel'] = async (runId, principal, { trace } = {}) => {
    const { state, agentId, traceId } = await runs.status(principal, runId, 'run:cancel');
    if (state !== 'running') return;
    const facts = { action: 'run.cancel', target: { type: 'run', id: runId } };
    const deed = { ...facts, principal, trace: trace ?? { traceId }, context: { agentId } };
    await guard({ ...deed, attempt: 'Cannot cancel the run' }, async (place) => {
      await runs.cancel(principal, runId);
      place.tell({ ...facts, status: 'ok' });
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
      return chunksOf(await runs.cursor(principal, runId, 0), () => left.abort('client_gone'));
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
      const agent = await resolver.agent(agentId);
      const { digest, entries } = await toolSetOf(agent, await resolver.tools(), await resolver.servers(agent));
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
      const { planId } = await runs.status(principal, runId, 'tool:approve');
      if (planId === undefined || !options.plans) {
        throw new PinnaceError('not_found', 'Cannot reply: this run follows no plan');
      }
      await options.plans.reply(planId, principal, reply);
    },
    invalidate: (keys) => resolver.invalidate(keys),
    async prewarm(agentIds, principal) {
      requireScope(principal, 'registry:read');
      return { failed: await prewarm(resolver, agentIds, principal.tenant) };
    },
    async validateMcpServer(serverId, input, principal, { signal = closing.signal } = {}) {
      requireScope(principal, 'registry:write');
      requireOpen();
      const request = parse(McpValidationRequest, input, { what: 'the check of an MCP server' });
      const scope = { tenant: principal.tenant, agentId: `mcp-server:${serverId}` };
      const check = () =>
        options.mcp.validate(serverId, {
          request,
          subject: principal.subject,
          tenant: principal.tenant,
          signal,
          secret: async ({ secret }) => secret && await resolver.secret(secret, scope),
          toolNames: async () => [
            ...[...options.tools, ...options.dataSources?.tools ?? []].map(({ definition }) => definition.name),
            ...(await resolver.tools()).map(({ name }) => name),
          ],
        });
      if (!request.approve) return await check();
      const target = { type: 'mcp-server', id: serverId };
      return await guard({ principal, action: 'mcp.approve', target, attempt: 'Cannot approve the MCP server' }, check);
    },
    events(principal, { signal, ...wanted } = {}) {
      requireScope(principal, 'admin');
      return options.ring.watch(visibleTo(principal), {
        ...wanted,
        signal: signal ? AbortSignal.any([signal, closing.signal]) : closing.signal,
      });
    },
    feed(principal) {
      requireScope(principal, 'admin');
      return feedOf(principal);
    },
    audit(principal) {
      requireScope(principal, 'admin');
      return options.audit?.log(principal.tenant);
    },
    authorize: options.authorize,
    place: placeOf,
    guard,
    ready: () => probe({ storage: options.storage.get(['ready']), catalog: options.catalog.listTools({ limit: 1 }) }),
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

/** Events that are nobody's are for whoever composes. */
function visibleTo({ tenant, via }: Principal): (of: string | undefined) => boolean {
  return (of) => of === tenant || (of === undefined && via === 'in-process');
}

function newTrace(): NonNullable<StartOptions['trace']> {
  return { traceId: createTraceId() };
}
