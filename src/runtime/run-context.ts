/** What the files of a runtime share, and what the collaborators of a run read of it. Types only: `Run` is the one object behind `RunContext`, and nothing copies it. */

import type { DueIndex } from '../log/due.ts';
import type { Notices } from '../log/notices.ts';
import type { Interruptions, SpentDecision, Unspendable } from '../permission/interruption.ts';
import type {
  LanguageModelV4CallOptions,
  LanguageModelV4Message,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider';
import type { Metrics } from '../base/metrics.ts';
import type { Issue } from '../base/parse.ts';
import type { Principal } from '../base/principal.ts';
import type { Money } from '../base/record-fields.ts';
import type { Agent, Fallback } from '../base/schema.ts';
import type { ModelMessage, UIMessage, UIMessageChunk } from '../contracts/ai-types.ts';
import type { Authorize } from '../contracts/authenticator.ts';
import type { BlobStore } from '../contracts/blob-store.ts';
import type { Catalog } from '../contracts/catalog.ts';
import type { ContextStrategy } from '../contracts/context-strategy.ts';
import type { Egress, SecretSource } from '../contracts/egress.ts';
import type { RuntimeApps, RuntimePrompts, RuntimeResources } from '../contracts/mcp/content.ts';
import type { ModelSource } from '../contracts/model-source.ts';
import type { Plans } from '../contracts/plans.ts';
import type { Change, Storage } from '../contracts/storage.ts';
import type { Discovery } from '../discovery/discovery-tools.ts';
import type { Audit, Recorder } from '../events/audit.ts';
import type { EventRing } from '../events/event-ring.ts';
import type { Emit } from '../events/events.ts';
import type { InputDigests } from '../events/input-digests.ts';
import type { Report } from '../events/report.ts';
import type { Span } from '../events/span.ts';
import type { DataSources } from '../grounding/grounding-tools.ts';
import type { RunRedaction } from '../permission/redaction/run-redaction.ts';
import type { Trust } from '../permission/label.ts';
import type { RunFacts } from '../permission/run-facts.ts';
import type { LiveTexts } from '../tools/agent-tool.ts';
import type { Handlers } from '../tools/define-tool.ts';
import type { Builtin } from '../tools/implement.ts';
import type { PooledPrograms, PooledSandbox } from '../tools/pooled-sandbox.ts';
import type { RunCalls, RunOfCalls } from '../tools/run-calls.ts';
import type { Slots } from '../tools/run-scope.ts';
import type { ProgramHost, Tool } from '../tools/tool.ts';
import type { Budgets } from './budgets.ts';
import type { CodeAgent } from './code-agent.ts';
import type { ContextWindow } from './context-window.ts';
import type { AnsweredCall } from './issued-metadata.ts';
import type { Loop, RecordedChunk, RunState } from './run-record.ts';
import type { Limits } from './limits.ts';
import type { ReadInRun, RunFiles } from './message-files.ts';
import type { ModelBudget, Usage } from './model-budget.ts';
import type { ModelChain } from './model-chain.ts';
import type { ModelRetry } from './model-error.ts';
import type { OnBreak, PromptChain, PromptRecord, RecentPrompts } from './prompt-chain.ts';
import type { ResolvedModel } from './provider-model.ts';
import type { Resolved, Resolver } from './resolver.ts';
import type { RunAbort, RunSpans } from './run-clock.ts';
import type { RunRequest } from './run-request.ts';
import type { Runs } from './runs.ts';
import type { StartGate } from './start-gate.ts';
import type { Steering } from './steering.ts';
import type { Answer } from './step-content.ts';
import type { StepTools } from './step-tools.ts';
import type { AgentProblems } from './check-agents.ts';
import type { McpSource, ToolSet, ToolSetOf } from './tool-sets.ts';
import type { ContextPart } from './turn-context.ts';

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
  /** The lowest level of all agents. */
  readonly trust?: Trust | undefined;
  readonly limits: Limits;
  /** The budgets of a period; absent where the composition has none. */
  readonly budgets: Budgets | undefined;
  /** Those of the limits that the composition has set. */
  readonly givenLimits: Partial<Limits> | undefined;
  /** Makes the notices of what happens; absent where nobody is sent any. */
  readonly notices: Notices | undefined;
  /** What is recorded of a run besides its stream. */
  readonly keep: 'stream' | 'inputs';
  /** Whether other instances continue the runs of this one, and this one those of others. */
  readonly recovery: boolean;
  /** Decides before each call of a model which messages it is sent. */
  readonly contextStrategy?: ContextStrategy | undefined;
  /** The models that take over for agents whose records name none. */
  readonly fallbacks: readonly Fallback[];
  /** Loads the room of programs: the core imports no optional room, the composition hands it in. */
  readonly programs: () => Promise<{
    readonly openPrograms: (
      place: { readonly run: RunContext; readonly sandbox: PooledPrograms },
    ) => RunPrograms;
    /** Finds the programs that a run has executed when it was left. */
    readonly findLostPrograms: (
      run: { readonly runId: string; readonly state: RunState; readonly items: readonly RecordedChunk[] },
      storage: Storage,
    ) => Promise<readonly LostProgram[]>;
  }>;
}

/** The programs of one run. */
export interface RunPrograms extends ProgramHost {
  /** Returns the calls of `code_run` that go on with the programs of the chat's last message, and of a run that was lost. */
  resumed(): Promise<readonly CallForApproval[]>;
}

/** What the modules of one runtime share. */
export interface RuntimeParts extends RuntimeOptions {
  readonly runs: Runs;
  readonly resolver: Resolver;
  readonly interruptions: Interruptions;
  /** What starts by itself at a time. */
  readonly due: DueIndex;
  readonly slots: Slots;
  readonly toolSetOf: ToolSetOf;
  readonly problems: AgentProblems;
  readonly content: RuntimeContent;
  readonly liveTexts: LiveTexts;
  readonly startGate: StartGate;
  /** Stops the runs of these agents where they may no longer run. */
  readonly dismiss: (agentIds: readonly string[]) => void;
  /** How long records of runs are stored. */
  readonly ttlMs: number;
  /** What the models of the chats were sent that this instance has answered last. */
  readonly recentPrompts: RecentPrompts;
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

/** Which run it is, and what ends it. */
export interface RunIdentity {
  readonly runtime: RuntimeParts;
  readonly runId: string;
  readonly traceId: string;
  readonly span: Span;
  /** When it was requested, in milliseconds since 1970: its span starts then, and its duration counts from then. */
  readonly startedAt: number;
  readonly principal: Principal;
  readonly abort: RunAbort;
  readonly redaction: RunRedaction;
}

/** A request with all that it names, as of the claim. */
export interface Resolution extends ResolvedModel, Pick<Resolved, 'fallbacks' | 'code'> {
  readonly request: RunRequest;
  readonly agent: Agent;
  readonly toolSet: ToolSet;
  readonly stepTools: StepTools;
  /** What the answer is given besides the chat. */
  readonly contexts: readonly ContextPart[];
  readonly messages: readonly ModelMessage[];
  readonly limits: Limits;
  /** What the models of the chat were sent before; it is read beside the claim. */
  readonly prompts: Promise<PromptRecord | undefined>;
  /** The run whose message this one continues. */
  readonly continues: string | undefined;
  /** The plan that the run follows instead of calling the model. */
  readonly plan: FollowedPlan | undefined;
  /** Where it goes on, for a run that an earlier one is the start of. */
  readonly resumed?: ResumedRun;
}

/** A run from its claim to its end. */
export interface RunContext extends RunIdentity, RunOfCalls {
  readonly resolution: Resolution;
  readonly agent: Agent;
  readonly request: RunRequest;
  readonly limits: Limits;
  readonly redaction: RunRedaction;
  readonly interruptions: Interruptions;
  /** What the run has used so far. */
  readonly usage: Usage & { toolCalls: number };
  /** Observes steps, model calls and their times. */
  readonly spans: RunSpans;
  /** What the run may use, and counts what it uses: every call of a model goes through it. */
  readonly budget: ModelBudget;
  readonly files: RunFiles;
  readonly calls: RunCalls;
  /** The messages that arrive while the run works. */
  readonly steering: Steering;
  /** What it has read. */
  readonly facts: RunFacts;
  /** Adds a chunk to the stream. Does nothing after the end. */
  readonly push: (chunk: UIMessageChunk) => void;
}

/** How the model of a run is called. */
export interface LoopTerms {
  /** The agent with the instructions of this run. */
  readonly agent: Agent;
  /** The model that answers, and its fallbacks. */
  readonly models: ModelChain;
  readonly messages: readonly ModelMessage[];
  /** The ids of calls in messages of the chat that a summary covers. */
  readonly otherCallIds: readonly string[];
  /** The message of the answer. */
  readonly messageId: string;
  /** Compares each call with the one before. */
  readonly chain: PromptChain;
  /** Receives a changed beginning before its call. */
  readonly onBreak: OnBreak;
  /** Keeps the prompt short enough for the model. */
  readonly contextWindow: ContextWindow;
  /** What the last answer must be; absent, any text. */
  readonly output: RunOutput | undefined;
  /** The calls that their provider makes now, because a person has approved them. */
  readonly approved: ReadonlySet<string>;
  /** Whether the run ends after a step that another one would follow. */
  readonly isEnough:
    | ((answer: Answer<Tool>, results: readonly LanguageModelV4ToolResultPart[]) => boolean)
    | undefined;
  /** Receives the prompt of each step before its model. */
  readonly onPrompt: ((prompt: readonly LanguageModelV4Message[], step: number) => Promise<void>) | undefined;
  /** Is called before a model call is tried again. */
  readonly onRetry: (retry: ModelRetry) => void;
}

/** What the last answer of a run must be. */
export interface RunOutput {
  /** Is sent with every step. */
  readonly responseFormat: NonNullable<LanguageModelV4CallOptions['responseFormat']>;
  /** Reads an answer. */
  read(text: string): Promise<OutputReading>;
  /** The chunk of a valid answer. */
  chunk(data: unknown): UIMessageChunk;
  /** The message that lists the errors of the answer for the model. */
  correction(issues: readonly Issue[]): LanguageModelV4Message;
  /** Whether the model has received that message. */
  isRepaired: boolean;
}

/** An answer as data, or what is wrong with it. */
export type OutputReading = { readonly ok: true; readonly data: unknown } | {
  readonly ok: false;
  readonly issues: readonly Issue[];
};

/** An earlier run, from which a new one goes on: what it adds to the start of a run. */
export interface RunOrigin {
  /** Returns the record to run in place of today's; absent, it is today's with the settings of the request. */
  readonly agent?: (today: Agent) => Agent;
  /** Completes the run with what the earlier one has done. Rejects where it cannot go on. */
  readonly resume: (resolution: Resolution, run: RunIdentity) => Promise<Resolution>;
}

/** Where a run goes on that an earlier one is the start of. */
export interface ResumedRun {
  /** The number of its first step. */
  readonly step: number;
  /** The ids of blocks in the steps before. */
  readonly shownIds: readonly string[];
  /** Used by the steps before. */
  readonly used: { readonly tokens: number; readonly cost?: Money | undefined };
  /** The chunks before its first step that are its own. */
  readonly opening: readonly UIMessageChunk[];
  /** Whether outputs of tools before were replaced. */
  readonly isEdited?: boolean;
  /** Whether its first prompt is one that its parent has sent. */
  readonly isExact?: boolean;
  /** The message that the steps before have made: the run goes on with it, maybe under another id. */
  readonly answerId: string;
  /** The programs of its last step before, which were lost: they go on first. */
  readonly programs: readonly LostProgram[];
  /** What goes on under its own id, after its instance was lost. */
  readonly recovered?: RecoveredPart;
  /** Returns the chat as the model receives it, once the programs have gone on. */
  readonly toModel: (messages: readonly UIMessage[], answered?: readonly AnsweredCall[]) => readonly ModelMessage[];
  /** What the claim writes: the state, the first items of the log and the number of the last one, and other changes. */
  readonly claim?: {
    readonly state: Pick<RunState, 'parent' | 'expiresAt'>;
    readonly log: { readonly items: readonly string[]; readonly seq: number };
    readonly beside: readonly Change[];
  };
}

/** What another instance has left of the run. */
export interface RecoveredPart {
  /** What the run has used until then. */
  readonly usage: Partial<RunContext['usage']>;
  /** The calls of the last step that are made now: no effect of theirs can have happened. */
  readonly calls: readonly RepeatedCall[];
  /** Whether the last step ends with them. */
  readonly isTorn: boolean;
  /** How many calls of it wait for a person. */
  readonly waiting: number;
  /** Whether the model has said all: only the end was not recorded. */
  readonly isComplete: boolean;
  /** The ids of all calls in the log. */
  readonly callIds: readonly string[];
}

/** A call that is made again. */
export interface RepeatedCall {
  readonly toolCallId: string;
  readonly tool: Tool;
  readonly input: unknown;
}

/** A program that has a journal, and whose run was lost. */
export interface LostProgram {
  readonly toolCallId: string;
  readonly home: ProgramHome;
}

/** Where a program is stored: the run that started it, and its id there. */
export interface ProgramHome {
  readonly runId: string;
  readonly id: string;
}

/** A call of an earlier run that needed an approval. */
export interface CallForApproval {
  readonly toolCallId: string;
  readonly tool: Tool;
  readonly input: unknown;
  /** What was decided, or why the approval allows nothing. */
  readonly decision: SpentDecision | Unspendable;
  /** The interruption that was decided on. */
  readonly approvalId: string;
}

/** A plan that a run follows. */
export interface FollowedPlan {
  readonly planId: string;
  /** Returns the run's loop, which adds up what the plan uses. */
  follow(run: FollowingRun): Loop;
  /**
   * Cancels the plan of an aborted run. A plan whose reader has left goes on in process, and over HTTP where its request had
   * `background`. Resolves when the run may end: the cancellation is recorded and the loop has shown it, or it took too long.
   */
  abandon(reason: unknown): Promise<void>;
  /** Resolves when the plan has ended or waits for a person, also after its run: it counts as a run until then. */
  settled(signal: AbortSignal): Promise<void>;
}

/** The run that follows a plan. */
export interface FollowingRun {
  readonly signal: AbortSignal;
  readonly traceId: string;
  readonly usage: Pick<Usage, 'steps' | 'totalTokens' | 'cost'>;
}
