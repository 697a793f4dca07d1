/** The Agents Worker's interface. `pipeline.ts` composes it; `start-run.ts` shows the steps of one request. */

import type { Guard } from '../permission/guarded.ts';
import type { ModelSettings } from '../base/model-settings.ts';
import type { Page, PageOptions } from '../base/page.ts';
import type { Agent } from '../base/schema.ts';
import type { UIMessage, UIMessageChunk } from '../contracts/ai-types.ts';
import type { RunRequest, RunRequestInput } from './run-request.ts';
import type { EventFeed } from '../events/event-feed.ts';
import type { EventLog } from '../events/audit.ts';
import type { RingEvent, WatchOptions } from '../events/event-ring.ts';
import type { Report } from '../events/report.ts';
import type { Decision } from '../permission/interruption.ts';
import type { RuntimeApps, RuntimePrompts, RuntimeResources } from '../contracts/mcp/content.ts';
import type { RuntimeSignIns } from '../contracts/mcp/sign-in.ts';
import type { McpValidation, McpValidationInput } from '../contracts/mcp/mcp-validation.ts';
import type { Metrics } from '../base/metrics.ts';
import type { Authorize, NonceUse } from '../contracts/authenticator.ts';
import type { CallerTrace, SpanContext } from '../events/span.ts';
import type { AgentSteps } from '../contracts/steps.ts';
import type { AgentTools } from './agent-tools.ts';
import type { ManifestEntry } from './tool-sets.ts';
import type { PlanReply } from '../contracts/plans.ts';
import type { Principal } from '../base/principal.ts';
import type { AgentProblem, ToolFlow } from './check-agents.ts';
import type { Trust } from '../permission/label.ts';
import type { Diagnosis, Readiness, ReadyOptions } from './readiness.ts';
import type { Runs } from './runs.ts';
import type { RunStatus } from './run-record.ts';
import type { BudgetView } from './budgets.ts';
import type { ClaimOptions } from './claim-run.ts';
import type { SentMessage, SteeringMessageInput } from './steering.ts';
import type { Inbox } from './inbox.ts';
import type { Chats } from './chat-record.ts';
import type { StoredFiles } from './message-files.ts';
import type { Schedules } from './schedule.ts';
import type { RunUndo } from './undo-types.ts';

/** A tool set as data. */
export interface Manifest {
  readonly agentId: string;
  readonly digest: string;
  readonly tools: readonly ManifestEntry[];
  /** The level in force. */
  readonly trust: Trust;
  /** What the included tools read, whether they may act, and who can see what is put in. */
  readonly flows: readonly ToolFlow[];
  /** The only origins that the agent's tool calls may reach; absent: what each tool allows. */
  readonly egress?: readonly string[];
  /** What the agent's record names or asks for without effect, and its data sources that are empty for the caller alone; absent: nothing. */
  readonly problems?: readonly Pick<AgentProblem, 'reason' | 'message'>[];
}

/** Runs agents, in process or on the other side of a port. */
export interface Runtime {
  /**
   * Runs an agent on a chat and returns its stream. Rejects with a `PinnaceError` for errors before the first chunk; later errors are
   * chunks of the stream, which then ends. When the signal aborts, or the stream is cancelled, the model and the tools are stopped.
   * Cancelled with the reason `coming_back`, the run continues for `Limits.detachGraceMs`, so that a reader can resume it. Repeating
   * a request with its idempotency key returns the stream of the same run from its start, and nothing runs twice.
   */
  run(
    request: RunRequestInput,
    principal: Principal,
    options?: RunCall,
  ): Promise<ReadableStream<UIMessageChunk>>;
  /**
   * Starts a run that shares the steps of an earlier one before `atStep`, and goes on from there with `changes`. Its stream has the
   * shared chunks, then its own. The runtime must have `keep: 'inputs'`.
   *
   * Rejects with `invalid_argument` (`no_such_step`, `fork_of_plan`), `not_found` (`inputs_not_kept`, or the run is another tenant's),
   * `conflict` (`approval_open`), `run_expired`, `forbidden`, and as `run`.
   *
   * @example
   * const stream = await runtime.fork(runId, { atStep: 2, changes: { instructions: 'Answer in one word.' } }, principal);
   */
  fork(
    runId: string,
    options: ForkOptions,
    principal: Principal,
    call?: RunCall,
  ): Promise<ReadableStream<UIMessageChunk>>;
  /**
   * Returns the chunks of a run after its first `after`: the recorded ones, then new ones. When the signal aborts, or the stream is
   * cancelled, the run is stopped, as with `run`.
   *
   * Rejects with `not_found`, `run_expired`, and `last_event_id_invalid` when the run has fewer chunks.
   */
  resume(
    runId: string,
    after: number,
    options: { readonly principal: Principal; readonly signal?: AbortSignal | undefined },
  ): Promise<ReadableStream<UIMessageChunk>>;
  /**
   * Sends a message to an active run. The model receives it with its next call, in the order of sending; after a final answer the run
   * makes one more step. Resolves when the message is recorded. Repeating it with the same `id` sends it once. The stream shows where
   * it was delivered as a `steering-message`, and as `data-steering` that the run ended without it.
   *
   * Rejects with `conflict` when the run has ended or waits for a person (`run_ended`), follows a plan (`run_follows_plan`) or has
   * another message of this id (`message_id_reused`), `rate_limited`, `invalid_argument`, `not_found`, `forbidden`, and `unavailable`
   * when the instance that executes it does not answer (`message_unconfirmed`).
   *
   * @example
   * await runtime.send(runId, { id: 'm2', parts: [{ type: 'text', text: 'In metric units, please' }] }, principal);
   */
  send(
    runId: string,
    message: SteeringMessageInput,
    principal: Principal,
    options?: Pick<StartOptions, 'trace'> & { readonly signal?: AbortSignal | undefined },
  ): Promise<SentMessage>;
  /** The tools that an agent may use, and for each other known tool the one reason why not. */
  manifest(agentId: string, principal: Principal): Promise<Manifest>;
  /**
   * Decides on a call that needs an approval. The chat's next run spends the decision, which is valid for this call only.
   *
   * Rejects with `not_found`, `already_decided` or `approval_expired`.
   */
  decide(runId: string, approvalId: string, decision: Decision, principal: Principal): Promise<void>;
  /**
   * Answers a question of the plan that a run follows. The plan goes on at once, also without a reader; the chat's next run with
   * `planner: { planId }` shows how.
   *
   * Rejects with `invalid_argument` for an answer that breaks the question's schema, which then stays open, `forbidden` without the
   * scope `tool:approve`, `not_found`, `already_decided`, `approval_expired`, and `conflict` when the question is closed.
   */
  reply(runId: string, reply: PlanReply, principal: Principal): Promise<void>;
  /**
   * Invalidates cached definitions and secrets, here and on every instance with the same storage, from the next request on. Keys are
   * `agent:<id>`, `provider:<id>`, `mcp-server:<id>`, `tools`, `secrets`, or `*` for all. A key of one record names the shared one;
   * with `@<tenant>` appended, this tenant's own. With a principal that is not of the deployment, every key names its tenant's own record.
   */
  invalidate(keys: readonly string[], principal?: Principal): Promise<void>;
  /**
   * Refuses further runs as `unavailable`, lets those under way go on for `drainMs` (0), then stops them. With `handOver` (false), what is
   * left is not ended: another instance with the same storage goes on with it.
   */
  close(options?: { readonly drainMs?: number; readonly handOver?: boolean }): Promise<void>;
}

/** What stops a run that is read, and the key under which it can be requested again. */
export interface RunCall {
  readonly signal?: AbortSignal | undefined;
  readonly idempotencyKey?: string | undefined;
}

/** A runtime in this process, with the operations that an endpoint needs. */
export interface HostedRuntime extends Runtime {
  /**
   * Stops a run on whichever instance executes it, as the action `run.cancel`. Does nothing, and calls no hook, when the run has ended.
   *
   * Rejects with `not_found`, `forbidden`, and as `guard` does.
   */
  cancel(runId: string, principal: Principal, options?: Pick<StartOptions, 'trace'>): Promise<void>;
  /** Starts a run that continues without a reader, or returns the run of the idempotency key. Rejects as `run` does. */
  start(request: unknown, principal: Principal, options: StartOptions): Promise<Started>;
  /** Starts a fork that continues without a reader, or returns the fork of the idempotency key. Rejects as `fork` does. */
  startFork(runId: string, options: unknown, principal: Principal, given: StartOptions): Promise<Started>;
  /**
   * Returns what a run was started from, and its chunks. The runtime must have `keep: 'inputs'`. Rejects with `not_found`
   * (`inputs_not_kept`), `invalid_argument` (`fork_of_plan`), `run_expired` and `forbidden`.
   */
  recorded(runId: string, principal: Principal): Promise<RecordedRun>;
  /** Starts a run whose tools answer from recorded calls, as evaluations do. Rejects as `run` does. */
  startRecorded(request: unknown, principal: Principal, how: RecordedCalls): Promise<Started>;
  /** Lists the forks of a run. Rejects with `not_found`, `run_expired` and `forbidden`. */
  forks(runId: string, principal: Principal, options?: ForkListOptions): Promise<Page<ForkEntry>>;
  readonly runs: Runs;
  /** Takes back what runs have done, by the `undo` of their tools. */
  readonly undo: RunUndo;
  /**
   * Starts what is due: plans that wait for a time, and what instances that are gone have left. Resolves to how much was started here.
   * `sweepDue` of `pinnace/due-sweep` calls it at intervals, as the endpoints and the runtime of a page do.
   */
  sweep(): Promise<number>;
  /** The stored files of tenants, which messages refer to. */
  readonly blobs: StoredFiles;
  /**
   * Returns the budgets of the caller with what is used of them: its own, those of agents that it may run and that a budget or the
   * caller's `agents` name, and of its tenant's the share, or with the scope `admin` the amounts. Rejects with `forbidden` without the
   * scope `run:read`.
   *
   * @example
   * const [day] = await runtime.budgets(principal);
   * console.log(day.share, new Date(day.resetsAt));
   */
  budgets(principal: Principal): Promise<readonly BudgetView[]>;
  /** Pays for bytes that a caller writes outside of runs; absent without budgets. Rejects with `budget_exceeded`. */
  readonly pay?: ((principal: Principal | undefined, bytes: number) => Promise<void>) | undefined;
  /** What starts runs by itself, at times and intervals or for signed requests. */
  readonly schedules: Schedules;
  /** What waits for people: approvals, questions of plans, sign-ins and questions of MCP servers. */
  readonly inbox: Inbox;
  /** The chats that requests with `chat.store` have stored. */
  readonly chats: Chats;
  /**
   * Returns the tools of an agent, for calls without its model, as those of an MCP client. Rejects with `forbidden` for a principal
   * who may not run the agent, `not_found` for an unknown agent.
   */
  tools(agentId: string, principal: Principal): Promise<AgentTools>;
  /** Single steps of its agents outside runs. */
  readonly steps: AgentSteps;
  /** Loads what the first runs of these agents need. Returns what was loaded, and the code of each agent that cannot be. */
  prewarm(agentIds: readonly string[], principal: Principal): Promise<Prewarmed>;
  /**
   * Checks an MCP server: returns its raw definitions, the findings, and the differences from the pin. With `approve` it pins the
   * offer, or sets the record to `error` when the offer has errors; both take effect with the next request.
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
  /** Signs the principal in to MCP servers, and shows and revokes what was granted. */
  readonly mcpSignIns: RuntimeSignIns;
  /** The prompts of the MCP servers that an agent selects. */
  readonly prompts: RuntimePrompts;
  /** Their resources. */
  readonly resources: RuntimeResources;
  /** Their apps (MCP Apps). */
  readonly apps: RuntimeApps;
  /**
   * Streams events as they are emitted: those of the principal's tenant and, to in-process principals, those of no tenant. A slow
   * reader loses events, receives their count, and delays nothing.
   *
   * @throws PinnaceError `forbidden` without the scope `admin`.
   */
  events(principal: Principal, options?: WatchOptions): ReadableStream<RingEvent>;
  /**
   * Returns the same for readers that resume: with a number to continue from, and from the ring's store, where it has one.
   *
   * @throws PinnaceError `forbidden` without the scope `admin`.
   */
  feed(principal: Principal): EventFeed;
  /**
   * Returns the audit of the principal's tenant; `undefined` without an audit.
   *
   * @throws PinnaceError `forbidden` without the scope `admin`.
   */
  audit(principal: Principal): EventLog | undefined;
  /** The permission hook, for actions outside the runtime. */
  readonly authorize: Authorize;
  /** Passes the cause of an error to the composition's `onError`: for transports, which answer without it. */
  readonly report: Report;
  /** The span context of what a principal does outside runs. */
  readonly place: (principal: Principal, trace?: CallerTrace) => SpanContext;
  /**
   * Guards a side effect outside the runtime: calls the hook, and writes the audit before and after. Emits refusals; the work emits
   * its own events.
   *
   * Rejects as the work does, with `forbidden` or `approval_required` as the hook decides, and with `unavailable` when the audit
   * cannot record it.
   */
  readonly guard: Guard;
  /** Emits that a request was refused before anything was done for it. Bounded: a flood of refusals emits few events. */
  readonly refused: (error: unknown, request: RefusedRequest) => void;
  /** Probes whether the storage takes a write and the catalog answers. Never rejects; answers within two seconds. */
  ready(options?: ReadyOptions): Promise<Readiness>;
  /** As `ready`, with why a part failed: a code, a reason and a message without secrets. */
  diagnose(options?: ReadyOptions): Promise<Diagnosis>;
  /**
   * The problems of the agents that were used last: all, or those that the principal may see, which are its tenant's and those of shared
   * records. Throws `forbidden` when the principal has no scope `admin`.
   */
  problems(principal?: Principal): readonly AgentProblem[];
  readonly metrics: Metrics;
}

/** What the room of schedules needs of its runtime. */
export type ScheduleAccess = Pick<HostedRuntime, 'place' | 'start' | 'guard'>;

/** What a prewarm has loaded, and the code of each agent that cannot be resolved. */
export interface Prewarmed {
  /** Keys as those of invalidations: `agent:<id>`, `provider:<id>`, `mcp-server:<id>`, `tools`. */
  readonly warmed: readonly string[];
  readonly failed: Readonly<Record<string, string>>;
}

/** A request that was refused. */
interface RefusedRequest extends Pick<SpanContext, 'traceId'> {
  readonly parentSpanId?: string | undefined;
  /** The caller; absent when no authenticator has verified one. */
  readonly principal?: Principal | undefined;
}

/** How a run is started. */
export interface StartOptions {
  /** Each stops the run. */
  readonly signals?: readonly (AbortSignal | undefined)[];
  /** The key of the request, with what it covers. */
  readonly idempotency?: ClaimOptions['idempotency'];
  /** The nonce of the request: a run that starts uses it up. A caller whose request starts none uses it up itself. */
  readonly nonce?: NonceUse | undefined;
  /** The trace that the run is part of, and the span there that it is within; a trace of its own when absent. */
  readonly trace?: CallerTrace;
}

/** A run that was started, or one that was known. */
export interface Started {
  readonly runId: string;
  /** The run that the key stood for. */
  readonly known?: RunStatus;
  /** Resolves when the run that was started here has ended. */
  readonly ended?: Promise<void>;
  /** Resolves when its plan has ended as well, or waits for a person: it counts as a run until then. */
  readonly settled?: Promise<void>;
}

/** What a fork changes. */
export interface ForkChanges {
  /** Another model. Needs the scope `registry:write`. */
  readonly model?: { readonly providerId: string; readonly modelId?: string | undefined } | undefined;
  /** In place of the agent's. Needs the scope `registry:write`. */
  readonly modelSettings?: ModelSettings | undefined;
  /** In place of the agent's. Needs the scope `registry:write`. */
  readonly instructions?: string | undefined;
  /** The record of the agent: as it was when the run started (the default), or as it is now. */
  readonly agent?: 'recorded' | 'current' | undefined;
  /** A message of the user. At step 1 it replaces the last one of the request; later it goes before the step. */
  readonly message?: UIMessage | undefined;
  /** Outputs of calls before the step, by `toolCallId`. */
  readonly toolOutputs?: Readonly<Record<string, unknown>> | undefined;
}

/** How a run is forked. */
export interface ForkOptions {
  /** The first step that is made again, from 1 to one more than the run has. Everything before it is shared. */
  readonly atStep: number;
  readonly changes?: ForkChanges | undefined;
  /**
   * `dry` (the default): calls that may change something are answered from the run's record, others of them with `forbidden`
   * (`fork_dry`). `live`: they are made.
   */
  readonly effects?: 'dry' | 'live' | undefined;
  /** The chat of the fork; a new one when absent. */
  readonly chatId?: string | undefined;
}

/** A fork in a listing. */
export interface ForkEntry {
  readonly runId: string;
  readonly chatId: string;
  readonly atStep: number;
  /** The names of what it changes. */
  readonly changed: readonly string[];
  readonly effects: 'dry' | 'live';
  /** Milliseconds since 1970. */
  readonly startedAt: number;
}

/** Which forks to list. */
export type ForkListOptions = PageOptions;

/** What a run was started from, and what it made of it. */
export interface RecordedRun {
  readonly request: RunRequest;
  readonly agent: Agent;
  readonly chunks: readonly UIMessageChunk[];
}

/** How the tools of a run answer from the chunks of recorded calls. */
export interface RecordedCalls {
  readonly calls: readonly UIMessageChunk[];
  /** Which tools do: all, those that may act, or none. */
  readonly effects: 'recorded' | 'reads' | 'live';
  readonly signal?: AbortSignal | undefined;
}
