/** Pinnace: an agent runtime that runs unchanged in a Web Worker and on Deno. */

export type { ChatTransport, LanguageModel, UIMessage, UIMessageChunk } from './contracts/ai-types.ts';
export { createRules, Rule, type RuleInput, type RuleOptions } from './permission/rules.ts';
export { checkUrl, type UrlCheck, type UrlPolicy, type UrlRule } from './base/check-url.ts';
export { createRuntime, type CreateRuntimeOptions, type PlanningRuntime } from './create-runtime.ts';
export { type DataRecord, parseCsv } from './grounding/ingest/csv.ts';
export {
  type DiscoveryOptions,
  discoveryToolNames,
  type DiscoveryTools,
  discoveryTools,
} from './discovery/discovery-tools.ts';
export type { Explanation, TermScore } from './discovery/index/explain.ts';
export { type Field, type IndexedTool, toIndexedTool } from './discovery/index/fields.ts';
export type { FoundTool, Rerank } from './discovery/rerank.ts';
export { commonSynonyms, createThesaurus, type Thesaurus } from './discovery/index/thesaurus.ts';
export { createToolIndex, type ToolHit, type ToolIndex } from './discovery/index/tool-index.ts';
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
} from './base/errors.ts';
export { createEventBlocks, type EventBlocks } from './events/event-blocks.ts';
export type { EventChain, EventLogOptions } from './events/event-chain.ts';
export type { EventFeed, Followed, FollowOptions, GapReason } from './events/event-feed.ts';
export { createEventLog, type EventLog, type LoggedEvent } from './events/event-log.ts';
export type { EventFilter, EventQuery } from './events/event-query.ts';
export type {
  StoredEvent,
  /** @deprecated Use `StoredEvent`. */
  StoredEvent as KeptEvent,
} from './events/event-records.ts';
export {
  createEventRing,
  type EventRing,
  type EventRingOptions,
  type RingEvent,
  /** @deprecated Use `RingEvent`. */
  type RingEvent as SeenEvent,
  type WatchOptions,
} from './events/event-ring.ts';
export type { EventStore } from './events/event-store.ts';
export { type Audit, type AuditOptions, createAudit } from './events/audit.ts';
export type { EventStatus, ObservedEvent } from './contracts/event-sink.ts';
export type { BreakReason, ChainAnchor, Verification, VerifyOptions } from './events/verify-chain.ts';
export type { Decision, Interruption } from './permission/interruption.ts';
export { Filter, type FilterOp } from './contracts/filter.ts';
export type { Key } from './base/key.ts';
export type { Difference } from './registry/diff.ts';
export type { Author, HistoryEntry } from './registry/history.ts';
export type { Collection, FoundRecords, Patch, Registration, VersionOptions } from './registry/collection.ts';
export type { RegistryQuery } from './registry/list.ts';
export type { Labels, Metrics, MetricsObserver } from './base/metrics.ts';
export type { Page, PageOptions } from './base/page.ts';
export { createRegistry, type Registry, type RegistryOptions } from './registry/registry.ts';
export type { CatalogExport } from './registry/catalog-document.ts';
export type { ImportChange, ImportOptions, ImportReport } from './registry/import-catalog.ts';
export type { WriteOptions } from './registry/write.ts';
export type { McpValidation, McpValidationInput, OfferedTool } from './contracts/mcp-validation.ts';
export type { Authenticator } from './contracts/authenticator.ts';
export type { Authorization, Authorize } from './contracts/authorize.ts';
export type { Catalog, McpServerWriter } from './contracts/catalog.ts';
export type { Egress, EgressOptions } from './contracts/egress.ts';
export type { Embedder } from './contracts/embedder.ts';
export type { EventSink } from './contracts/event-sink.ts';
export type {
  ForgetRequest,
  GroundingAggregate,
  GroundingCapabilities,
  GroundingItem,
  GroundingKind,
  GroundingOrigin,
  GroundingRequest,
  GroundingSource,
  GroundingStats,
  RememberRequest,
  SourceHit,
  WritableGroundingSource,
} from './contracts/grounding-source.ts';
export type { McpCall, McpCallResult, McpConnection, McpConnector } from './contracts/mcp-connector.ts';
export type { ModelSource } from './contracts/model-source.ts';
export type { Sandbox, SandboxOptions } from './contracts/sandbox.ts';
export type { SecretScope, SecretSource, SecretText } from './contracts/secret-source.ts';
export type { Change, ClosableStorage, CommitResult, Entry, Storage, Watchable } from './contracts/storage.ts';
export type { PrivateOrigins } from './base/private-origins.ts';
export { type Calibration, fitCalibration, type JudgedHit } from './grounding/calibration.ts';
export type { AccessHooks, GroundingCallOptions } from './grounding/access.ts';
export type { Citation } from './grounding/citation.ts';
export { type ContextOptions, createContext, type GroundingContext } from './grounding/context.ts';
export { createGrounding, type CreateGroundingOptions, type Grounding } from './grounding/create-grounding.ts';
export { groundingTools, type GroundingToolsOptions } from './grounding/grounding-tools.ts';
export {
  ForgetInput,
  type GroundingAnswer,
  type GroundingHit,
  RememberInput,
  type RetrieveInput,
  RetrieveRequest,
  type SourceReport,
} from './grounding/request.ts';
export {
  forgetFile,
  ingest,
  type IngestFile,
  type IngestOptions,
  type IngestProgress,
  type IngestReport,
} from './grounding/ingest/ingest.ts';
export type { RetrievalRecord } from './grounding/retrieve.ts';
export type { CatalogInputs, CatalogRecords, RecordKind } from './tools/records/record-kinds.ts';
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
} from './planner/model/action.ts';
export { modelAgent, type ModelSteps } from './planner/host/model-agent.ts';
export type { AuthorizeCreate, CreateFacts, Creator } from './planner/decide/authorize-create.ts';
export type { AskFacts, PlanEvent } from './planner/model/plan-event.ts';
export type { NumberedEvent } from './planner/journal/plan-journal.ts';
export { defaultPlanLimits, type PlanLimits } from './planner/model/plan-limits.ts';
export type { PlanOutcome } from './planner/view/plan-outcome.ts';
export type { PlanRequestInput } from './planner/model/plan-request.ts';
export { type PlanCall, type PlanTool, planTools, readPlanCall } from './planner/host/plan-tools.ts';
export type { PlanTaskView, PlanView } from './planner/view/plan-view.ts';
export { createPlanner, type CreatePlannerOptions, type Planner } from './planner/planner.ts';
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
} from './planner/host/run-agent.ts';
export { createRedactor, type Redaction, type Redactor } from './permission/redaction/redactor.ts';
export type { AgentTools } from './runtime/resolve/agent-tools.ts';
export type { NumberedSource } from './runtime/loop/citations.ts';
export { defaultLimits, type Limits } from './runtime/resolve/limits.ts';
export { createPrincipal, localPrincipal, type Principal, type Scope, type Session } from './base/principal.ts';
export type { RunRequestInput } from './runtime/run-request.ts';
export type { HostedRuntime, Manifest, Runtime, Started, StartOptions } from './runtime/runtime.ts';
export type { RunCursor, Runs, RunStatus } from './runtime/log/runs.ts';
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
} from './base/schema.ts';
export { Secret, type SecretOptions, type SecretOrigins } from './base/secret.ts';
export { requireDestination, type UnboundSecrets } from './base/secret-origins.ts';
export { type ContentBlock, type ContentOutput, contentOutput } from './tools/content.ts';
export { defineTool, type ToolOptions } from './tools/define-tool.ts';
export { createHttpTool, type HttpToolDefinition, type HttpToolOptions } from './tools/http/http-tool.ts';
export { HttpMethod, HttpToolConfig, type HttpToolConfigInput, needsApproval } from './tools/http/config.ts';
export { invokeTool, type ToolCall } from './tools/invoke-tool.ts';
export { prepareCall, type PreparedCall, type PrepareOptions } from './tools/prepare-call.ts';
export type { ToolSource } from './tools/tool-source.ts';
export type { CitedSource, LogLevel, Progress, Tool, ToolContext, ToolOutcome } from './tools/tool.ts';
export { calculatorTool } from './tools/builtin/calculator.ts';
export { currentTimeTool } from './tools/builtin/current-time.ts';
export { fetchUrlTool } from './tools/builtin/fetch-url.ts';
export { type ExtensionModule, type Handlers, loadExtension } from './tools/extension.ts';
export type { TreeChange } from './tree/nodes/change.ts';
export type { Mutation, Origin, TreeEvent } from './tree/nodes/mutation.ts';
export type { Payload } from './tree/nodes/node-store.ts';
export type { TreeOp } from './tree/nodes/op.ts';
export type { Place } from './tree/nodes/placing.ts';
export type { PayloadType, PayloadTypes } from './tree/nodes/payload-types.ts';
export type { TreeRow } from './tree/nodes/row.ts';
export { createTree, type CreateTreeOptions, type Tree, type TreeNode } from './tree/tree.ts';
export type { TreeView, ViewRow } from './tree/views/tree-view.ts';
export type { AuditEntry, AuditSink } from './tree/tools/call/audit.ts';
export type { TreeLimits } from './tree/tools/limits.ts';
export type { TreeErrorCode, TreeErrorData } from './tree/tools/tool-error.ts';
export { type TreeTools, treeTools, type TreeToolsOptions } from './tree/tools/tree-tools.ts';
export type { TreeOutcome } from './tree/tools/output.ts';
export { type OpenTree, openTree, type OpenTreeOptions } from './tree/stored/open-tree.ts';
