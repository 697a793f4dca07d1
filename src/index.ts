/** Pinnace: an agent runtime that runs unchanged in a Web Worker and on Deno. */

export type { ChatTransport, LanguageModel, UIMessage, UIMessageChunk } from './ai-types.ts';
export { createRules, Rule, type RuleInput, type RuleOptions } from './authorize-rules.ts';
export { checkUrl, type UrlCheck, type UrlPolicy, type UrlRule } from './check-url.ts';
export { createRuntime, type CreateRuntimeOptions, type PlanningRuntime } from './create-runtime.ts';
export { type DataRecord, parseCsv } from './csv.ts';
export {
  type DiscoveryOptions,
  discoveryToolNames,
  type DiscoveryTools,
  discoveryTools,
} from './discovery/discovery-tools.ts';
export type { Explanation, TermScore } from './discovery/explain.ts';
export { type Field, type IndexedTool, toIndexedTool } from './discovery/fields.ts';
export type { FoundTool, Rerank } from './discovery/rerank.ts';
export { commonSynonyms, createThesaurus, type Thesaurus } from './discovery/thesaurus.ts';
export { createToolIndex, type ToolHit, type ToolIndex } from './discovery/tool-index.ts';
export {
  type ErrorCode,
  errorCodes,
  type ErrorData,
  fromData,
  PinnaceError,
  type PinnaceErrorOptions,
  type Problem,
  toData,
  toProblem,
} from './errors.ts';
export { createEventBlocks, type EventBlocks } from './event-blocks.ts';
export type { EventChain, EventLogOptions } from './event-chain.ts';
export type { EventFeed, Followed, FollowOptions, GapReason } from './event-feed.ts';
export { createEventLog, type EventLog, type LoggedEvent } from './event-log.ts';
export type { EventFilter, EventQuery } from './event-query.ts';
export type { KeptEvent } from './event-records.ts';
export {
  createEventRing,
  type EventRing,
  type EventRingOptions,
  type SeenEvent,
  type WatchOptions,
} from './event-ring.ts';
export type { EventStore } from './event-store.ts';
export { type Audit, type AuditOptions, createAudit } from './audit.ts';
export type { EventStatus, ObservedEvent } from './events.ts';
export type { BreakReason, ChainAnchor, Verification, VerifyOptions } from './verify-chain.ts';
export type { Decision, Interruption } from './interruption.ts';
export { Filter, type FilterOp } from './filter.ts';
export type { Key } from './key.ts';
export type { Difference } from './orchestrator/registry/diff.ts';
export type { Author, HistoryEntry } from './orchestrator/registry/history.ts';
export type {
  Collection,
  FoundRecords,
  Patch,
  Registration,
  VersionOptions,
} from './orchestrator/registry/collection.ts';
export type { RegistryQuery } from './orchestrator/registry/list.ts';
export type { Labels, Metrics, MetricsObserver } from './metrics.ts';
export type { Page, PageOptions } from './page.ts';
export { createRegistry, type Registry, type RegistryOptions } from './orchestrator/registry/registry.ts';
export type { CatalogExport } from './orchestrator/registry/catalog-document.ts';
export type { ImportChange, ImportOptions, ImportReport } from './orchestrator/registry/import-catalog.ts';
export type { WriteOptions } from './orchestrator/registry/write.ts';
export type { McpValidation, McpValidationInput, OfferedTool } from './mcp-validation.ts';
export type {
  Authenticator,
  Authorization,
  Authorize,
  Catalog,
  Change,
  ClosableStorage,
  CommitResult,
  Egress,
  EgressOptions,
  Embedder,
  Entry,
  EventSink,
  ForgetRequest,
  GroundingAggregate,
  GroundingCapabilities,
  GroundingItem,
  GroundingKind,
  GroundingOrigin,
  GroundingRequest,
  GroundingSource,
  GroundingStats,
  McpCall,
  McpCallResult,
  McpConnection,
  McpConnector,
  McpServerWriter,
  ModelSource,
  RememberRequest,
  Sandbox,
  SandboxOptions,
  SecretScope,
  SecretSource,
  SecretText,
  SourceHit,
  Storage,
  Watchable,
  WritableGroundingSource,
} from './ports.ts';
export type { PrivateOrigins } from './private-origins.ts';
export { type Calibration, fitCalibration, type JudgedHit } from './orchestrator/grounding/calibration.ts';
export type { AccessHooks, GroundingCallOptions } from './orchestrator/grounding/access.ts';
export type { Citation } from './orchestrator/grounding/citation.ts';
export { type ContextOptions, createContext, type GroundingContext } from './orchestrator/grounding/context.ts';
export {
  createGrounding,
  type CreateGroundingOptions,
  type Grounding,
} from './orchestrator/grounding/create-grounding.ts';
export { groundingTools, type GroundingToolsOptions } from './orchestrator/grounding/grounding-tools.ts';
export {
  ForgetInput,
  type GroundingAnswer,
  type GroundingHit,
  RememberInput,
  type RetrieveInput,
  RetrieveRequest,
  type SourceReport,
} from './orchestrator/grounding/request.ts';
export {
  forgetFile,
  ingest,
  type IngestFile,
  type IngestOptions,
  type IngestProgress,
  type IngestReport,
} from './orchestrator/grounding/ingest/ingest.ts';
export type { RetrievalRecord } from './orchestrator/grounding/retrieve.ts';
export type { CatalogInputs, CatalogRecords, RecordKind } from './record-kinds.ts';
export type {
  Action,
  ActionInput,
  Budget,
  Effect,
  OnFailure,
  OnTimeout,
  Retry,
  Task,
  TaskInput,
  WaitFor,
  WaitForInput,
} from './orchestrator/planner/action.ts';
export { modelAgent, type ModelSteps } from './orchestrator/planner/model-agent.ts';
export type { AuthorizeCreate, CreateFacts, Creator } from './orchestrator/planner/authorize-create.ts';
export type { AskFacts, PlanEvent } from './orchestrator/planner/plan-event.ts';
export type { NumberedEvent } from './orchestrator/planner/plan-journal.ts';
export { defaultPlanLimits, type PlanLimits } from './orchestrator/planner/plan-limits.ts';
export type { PlanOutcome } from './orchestrator/planner/plan-outcome.ts';
export type { PlanRequestInput } from './orchestrator/planner/plan-request.ts';
export { type PlanCall, type PlanTool, planTools, readPlanCall } from './orchestrator/planner/plan-tools.ts';
export type { PlanTaskView, PlanView } from './orchestrator/planner/plan-view.ts';
export { createPlanner, type CreatePlannerOptions, type Planner } from './orchestrator/planner/planner.ts';
export type {
  AgentContext,
  AgentTask,
  Delivered,
  InboxItem,
  PlanOwner,
  RunAgent,
  StepOutcome,
  Usage,
  ValueRef,
} from './orchestrator/planner/run-agent.ts';
export { createRedactor, type Redaction, type Redactor } from './redactor.ts';
export type { AgentTools } from './runtime/agent-tools.ts';
export type { NumberedSource } from './runtime/citations.ts';
export { defaultLimits, type Limits } from './runtime/limits.ts';
export { createPrincipal, localPrincipal, type Principal, type Scope, type Session } from './runtime/principal.ts';
export type { RunRequestInput } from './runtime/run-request.ts';
export type { HostedRuntime, Manifest, Runtime, Started, StartOptions } from './runtime/runtime.ts';
export type { RunCursor, Runs, RunStatus } from './runtime/runs.ts';
export {
  Agent,
  type AgentInput,
  DataSource,
  type DataSourceInput,
  type JsonSchema,
  type LimitOverrides,
  type McpFinding,
  type McpPin,
  McpServer,
  type McpServerInput,
  type PinnedTool,
  Provider,
  type ProviderInput,
  type SecretRef,
  ToolDefinition,
  type ToolDefinitionInput,
} from './schema.ts';
export { Secret, type SecretOptions, type SecretOrigins } from './secret.ts';
export { requireDestination, type UnboundSecrets } from './secret-origins.ts';
export { type ContentBlock, type ContentOutput, contentOutput } from './tools/content.ts';
export { defineTool, type ToolOptions } from './tools/define-tool.ts';
export { createHttpTool, type HttpToolDefinition, type HttpToolOptions } from './tools/http-tool.ts';
export { HttpMethod, HttpToolConfig, type HttpToolConfigInput, needsApproval } from './tools/http-tool-config.ts';
export { invokeTool, type ToolCall } from './tools/invoke-tool.ts';
export type { ToolSource } from './tools/tool-source.ts';
export type { CitedSource, LogLevel, Progress, Tool, ToolContext, ToolOutcome } from './tools/tool.ts';
export { calculatorTool } from './tools/builtin/calculator.ts';
export { currentTimeTool } from './tools/builtin/current-time.ts';
export { fetchUrlTool } from './tools/builtin/fetch-url.ts';
export { type ExtensionModule, type Handlers, loadExtension } from './tools/extension.ts';
export type { TreeChange } from './tree/change.ts';
export type { Mutation, Origin, TreeEvent } from './tree/mutate.ts';
export type { Payload } from './tree/node-store.ts';
export type { TreeOp } from './tree/op.ts';
export type { Place } from './tree/placing.ts';
export type { PayloadType, PayloadTypes } from './tree/payload-types.ts';
export type { TreeRow } from './tree/row.ts';
export { createTree, type CreateTreeOptions, type Tree, type TreeNode } from './tree/tree.ts';
export type { TreeView, ViewRow } from './tree/tree-view.ts';
export type { AuditEntry, AuditSink } from './tree/audit.ts';
export type { TreeLimits } from './tree/limits.ts';
export type { TreeErrorCode, TreeErrorData } from './tree/tool-error.ts';
export { type TreeOutcome, type TreeTools, treeTools, type TreeToolsOptions } from './tree/tree-tools.ts';
export { type OpenTree, openTree, type OpenTreeOptions } from './tree/open-tree.ts';
