/** `pinnace`: an agent runtime that runs unchanged in a Web Worker and on Deno. What is not here has an entry of its own, see docs/entries.md. */

export { checkUrl, type UrlCheck } from './base/check-url.ts';
export {
  type ErrorCode,
  errorCodes,
  type ErrorData,
  fromData,
  PinnaceError,
  type Problem,
  type ProblemCode,
  toData,
  toProblem,
} from './base/errors.ts';
export { createPrincipal, localPrincipal, type Principal, type Scope } from './base/principal.ts';
export type {
  AgentInput,
  DataSourceInput,
  McpServerInput,
  ProviderInput,
  SecretRef,
  ToolDefinitionInput,
} from './base/schema.ts';
export { Secret } from './base/secret.ts';
export type { ChatTransport, LanguageModel, UIMessage, UIMessageChunk } from './contracts/ai-types.ts';
export type { Authenticator } from './contracts/authenticator.ts';
export type { Authorize } from './contracts/authenticator.ts';
export type { Catalog } from './contracts/catalog.ts';
export type { ContextStrategy } from './contracts/context-strategy.ts';
export type { Egress } from './contracts/egress.ts';
export type { EventSink, ObservedEvent } from './contracts/event-sink.ts';
export type { GroundingSource } from './contracts/grounding-source.ts';
export type { McpConnector } from './contracts/mcp/mcp-connector.ts';
export type { ModelSource } from './contracts/model-source.ts';
export type { Sandbox } from './contracts/sandbox.ts';
export type { SecretSource } from './contracts/egress.ts';
export type { Storage } from './contracts/storage.ts';
export { createRuntime, type CreateRuntimeOptions, type PlanningRuntime } from './create-runtime.ts';
export { type DiscoveryTools, discoveryTools } from './discovery/discovery-tools.ts';
export { createToolIndex, type ToolIndex } from './discovery/tool-index.ts';
export { type Audit, createAudit } from './events/audit.ts';
export { createEventRing, type EventRing } from './events/event-ring.ts';
export type { OnError } from './events/report.ts';
export { createGrounding, type Grounding } from './grounding/create-grounding.ts';
export type { Decision, Interruption } from './permission/interruption.ts';
export { createRedactor, type Redactor } from './permission/redaction/redactor.ts';
export { createRules } from './permission/rules.ts';
export { createPlanner } from './planner/create-planner.ts';
export type { Planner } from './planner/planner.ts';
export { createRegistry, type Registry } from './registry/registry.ts';
export type { RunStatus } from './runtime/run-record.ts';
export type { CodeAgent } from './runtime/code-agent.ts';
export { defineAgent } from './runtime/code-agent.ts';
export type { PinnaceUIMessage } from './runtime/message-parts.ts';
export { readOutput } from './runtime/read-output.ts';
export { defaultLimits, type Limits } from './runtime/limits.ts';
export type { RunRequestInput } from './runtime/run-request.ts';
export type { HostedRuntime, Manifest, Runtime } from './runtime/runtime.ts';
export { type ContentBlock, type ContentOutput, contentOutput } from './tools/content.ts';
export { defineTool, type ToolOptions } from './tools/define-tool.ts';
export type { ToolsOf } from './tools/make-tool.ts';
export type { ToolSource } from './tools/implement.ts';
export type { Tool, ToolContext, ToolOutcome, TypedTool } from './tools/tool.ts';
export { type OpenTree, openTree } from './tree/open-tree.ts';
export { type TreeTools, treeTools } from './tree/tree-tools.ts';
export { createTree, type Tree } from './tree/tree.ts';
