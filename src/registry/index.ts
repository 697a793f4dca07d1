/** `pinnace/registry`: agents, tools, MCP servers, providers and data sources, as records over a `Storage`. */

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
} from '../base/schema.ts';
export type {
  McpContentOffer,
  McpValidation,
  McpValidationInput,
  OfferedContent,
  OfferedTool,
} from '../contracts/mcp/mcp-validation.ts';
export type { CatalogExport } from './catalog-document.ts';
export type { Collection, FoundRecords, Patch, Registration, VersionOptions } from './collection.ts';
export type { Difference } from './history.ts';
export type { Author, HistoryEntry } from './history.ts';
export type { ImportChange, ImportOptions, ImportReport } from './catalog-document.ts';
export type { RegistryQuery } from './list.ts';
export { createRegistry, type Registry } from './registry.ts';
export type { RegistryOptions } from './open-records.ts';
export type { WriteOptions } from './write.ts';
export type { CatalogInputs, CatalogRecords, RecordKind } from './record-kinds.ts';
