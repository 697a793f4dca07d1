/** The kinds of records that a catalog holds: what each is called, and how it is read, the same for every catalog. */

import { withTenant } from '../../log/cache-key.ts';
import { parse } from '../../base/parse.ts';
import {
  Agent,
  type AgentInput,
  DataSource,
  type DataSourceInput,
  McpServer,
  type McpServerInput,
  Provider,
  type ProviderInput,
  ToolDefinition,
  type ToolDefinitionInput,
} from '../../base/schema.ts';
import { requireOutputSchema, requireSchema } from '../json-schema/require-schema.ts';

/** What a record of each kind is. */
export interface CatalogRecords {
  readonly agent: Agent;
  readonly provider: Provider;
  readonly tool: ToolDefinition;
  readonly mcpServer: McpServer;
  readonly dataSource: DataSource;
}

/** A record of each kind as its author writes it; the `revision` is not the author's, and is replaced. */
export interface CatalogInputs {
  readonly agent: AgentInput;
  readonly provider: ProviderInput;
  readonly tool: ToolDefinitionInput;
  readonly mcpServer: McpServerInput;
  readonly dataSource: DataSourceInput;
}

/** A kind of record. */
export type RecordKind = keyof CatalogRecords;

/** What people call each kind. */
export const kindNames: Readonly<Record<RecordKind, string>> = {
  agent: 'agent',
  provider: 'provider',
  tool: 'tool',
  mcpServer: 'MCP server',
  dataSource: 'data source',
};

/** What the records of each kind are called in paths, together. */
export const collectionNames: Readonly<Record<RecordKind, string>> = {
  agent: 'agents',
  provider: 'providers',
  tool: 'tools',
  mcpServer: 'mcp-servers',
  dataSource: 'data-sources',
};

/** The schema of each kind. */
export const recordSchemas = {
  agent: Agent,
  provider: Provider,
  tool: ToolDefinition,
  mcpServer: McpServer,
  dataSource: DataSource,
};

/** How each kind is read; `what` names the record in errors. @throws PinnaceError `invalid_argument`. */
export const readRecord: {
  readonly [Kind in RecordKind]: (data: unknown, what: string) => CatalogRecords[Kind];
} = {
  agent: readAgent,
  provider: (data, what) => parse(Provider, data, { what }),
  tool: readTool,
  mcpServer: (data, what) => parse(McpServer, data, { what }),
  dataSource: (data, what) => parse(DataSource, data, { what }),
};

function readAgent(data: unknown, what: string): Agent {
  const agent = parse(Agent, data, { what });
  if (agent.output) requireOutputSchema(agent.output.schema);
  return agent;
}

/** A tool whose `paramsSchema` is no JSON Schema would accept any input. */
function readTool(data: unknown, what: string): ToolDefinition {
  const tool = parse(ToolDefinition, data, { what });
  requireSchema(tool.paramsSchema, 'paramsSchema');
  if (tool.outputSchema) requireSchema(tool.outputSchema, 'outputSchema');
  return tool;
}

/** The key that a runtime invalidates a record by; tools are cached all together, a tenant's own apart from the shared ones. */
export function cacheKeyOf(kind: RecordKind, id: string, tenant?: string): string {
  return withTenant(kind === 'tool' ? 'tools' : `${collectionNames[kind].slice(0, -1)}:${id}`, tenant);
}
