/** What a runtime is composed of, and what its modules share. Types only. */

import type { Metrics } from '../base/metrics.ts';
import type { Fallback } from '../base/schema.ts';
import type { Authorize } from '../contracts/authenticator.ts';
import type { BlobStore } from '../contracts/blob-store.ts';
import type { Catalog } from '../contracts/catalog.ts';
import type { ContextStrategy } from '../contracts/context-strategy.ts';
import type { Egress, SecretSource } from '../contracts/egress.ts';
import type { ModelSource } from '../contracts/model-source.ts';
import type { Plans } from '../contracts/plans.ts';
import type { AgentSteps } from '../contracts/steps.ts';
import type { Storage } from '../contracts/storage.ts';
import type { Audit, Recorder } from '../events/audit.ts';
import type { EventRing } from '../events/event-ring.ts';
import type { Emit } from '../events/events.ts';
import type { InputDigests } from '../events/input-digests.ts';
import type { Report } from '../events/report.ts';
import type { Interruptions } from '../permission/interruption.ts';
import type { Builtin } from '../tools/implement.ts';
import type { Handlers } from '../tools/define-tool.ts';
import type { PooledPrograms, PooledSandbox } from '../tools/pooled-sandbox.ts';
import type { Slots } from '../tools/run-scope.ts';
import type { Tool } from '../tools/tool.ts';
import type { Budgets } from './budgets.ts';
import type { LiveTexts } from '../tools/agent-tool.ts';
import type { CodeAgent } from './code-agent.ts';
import type { Runs } from './runs.ts';
import type { Limits } from './limits.ts';
import type { McpSource, ToolSetOf } from './tool-sets.ts';
import type { Resolver } from './resolver.ts';
import type { StartGate } from './start-gate.ts';
import type { RuntimeApps, RuntimePrompts, RuntimeResources } from '../contracts/mcp/content.ts';
import type { ReadInRun } from './message-files.ts';
import type { Discovery } from '../discovery/discovery-tools.ts';
import type { DataSources } from '../grounding/grounding-tools.ts';

/** The platform. */
interface RuntimePorts {
  readonly catalog: Catalog;
  /** Agents composed in code, by their ids. */
  readonly agents: ReadonlyMap<string, CodeAgent>;
  readonly models: ModelSource;
  readonly storage: Storage;
  /** Whether another part of the composition stores in the same place, so that one commit can serve both. */
  readonly isSameStorage: (other: Storage) => boolean;
  readonly blobs: BlobStore;
  readonly secrets: SecretSource | undefined;
  readonly egress: Egress | undefined;
  readonly sandbox: PooledSandbox | (PooledSandbox & PooledPrograms) | undefined;
  readonly now: () => number;
}

/** Where tools come from. */
interface RuntimeTools {
  readonly tools: readonly Tool[];
  readonly builtins: readonly Builtin[];
  readonly handlers: Handlers;
  readonly mcp: McpSource;
  readonly discovery: Discovery | undefined;
  readonly dataSources: DataSources | undefined;
  readonly plans: Plans;
}

/** What observes a runtime. */
export interface RuntimeObservers {
  readonly emit: Emit;
  readonly ring: EventRing;
  readonly audit: Audit | undefined;
  readonly recorder: Recorder;
  readonly metrics: Metrics;
  readonly digests: InputDigests;
  /** Receives what was thrown, for the host. */
  readonly report: Report;
}

/** What a runtime is composed of. */
export interface RuntimeOptions extends RuntimePorts, RuntimeTools, RuntimeObservers {
  readonly authorize: Authorize;
  readonly limits: Limits;
  /** The budgets of a period; absent where the composition has none. */
  readonly budgets: Budgets | undefined;
  /** Those of the limits that the composition has set. */
  readonly givenLimits: Partial<Limits> | undefined;
  /** What is recorded of a run besides its stream. */
  readonly keep: 'stream' | 'inputs';
  /** Decides before each call of a model which messages it is sent. */
  readonly contextStrategy?: ContextStrategy | undefined;
  /** The models that take over for agents whose records name none. */
  readonly fallbacks: readonly Fallback[];
}

/** What a runtime is created with. The parts that need the runtime are functions of what they need. */
export interface PipelineOptions<P extends Plans> extends Omit<RuntimeOptions, 'mcp' | 'plans'> {
  /** Creates the MCP servers. `invalidate` removes records from the caches. */
  readonly mcp: (invalidate: Resolver['invalidate']) => McpSource;
  /** Creates the plans, whose agents work by these steps. */
  readonly plans: (steps: AgentSteps) => P;
}

/** What the modules of one runtime share. */
export interface RuntimeParts extends RuntimeOptions {
  readonly runs: Runs;
  readonly resolver: Resolver;
  readonly interruptions: Interruptions;
  readonly slots: Slots;
  readonly toolSetOf: ToolSetOf;
  readonly content: RuntimeContent;
  readonly liveTexts: LiveTexts;
  readonly startGate: StartGate;
  /** Stops the runs of these agents where they may no longer run. */
  readonly dismiss: (agentIds: readonly string[]) => void;
  /** How long records of runs are stored. */
  readonly ttlMs: number;
  /** Answers that are being added to stored chats. */
  readonly answers: Set<Promise<void>>;
  /** Aborts when the runtime closes. */
  readonly closing: AbortSignal;
  /** @throws PinnaceError `unavailable` once the runtime closes. */
  readonly requireOpen: () => void;
}

/** Prompts, resources and apps, for callers and for runs. */
export interface RuntimeContent {
  readonly prompts: RuntimePrompts;
  readonly resources: RuntimeResources;
  readonly apps: RuntimeApps;
  readonly readInRun: ReadInRun;
}
