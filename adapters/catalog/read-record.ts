/** Reads the records of a catalog from data, the same for every catalog that gets them from outside. */

import { parse } from '../../src/parse.ts';
import { Agent, McpServer, Provider, ToolDefinition } from '../../src/schema.ts';
import { compileJsonSchema } from '../../src/tools/json-schema.ts';

/** The kinds of records, and what each is. */
export interface CatalogRecords {
  readonly agent: Agent;
  readonly provider: Provider;
  readonly tool: ToolDefinition;
  readonly mcpServer: McpServer;
}

/** A kind of record. */
export type RecordKind = keyof CatalogRecords;

/** What people call each kind. */
export const kindNames: Readonly<Record<RecordKind, string>> = {
  agent: 'agent',
  provider: 'provider',
  tool: 'tool',
  mcpServer: 'MCP server',
};

/** How each kind is read; `what` names the record in errors. */
export const readRecord: {
  readonly [Kind in RecordKind]: (data: unknown, what: string) => CatalogRecords[Kind];
} = {
  agent: (data, what) => parse(Agent, data, { what }),
  provider: (data, what) => parse(Provider, data, { what }),
  tool: readTool,
  mcpServer: (data, what) => parse(McpServer, data, { what }),
};

/** A tool whose `paramsSchema` is no JSON Schema would accept any input. */
function readTool(data: unknown, what: string): ToolDefinition {
  const tool = parse(ToolDefinition, data, { what });
  compileJsonSchema(tool.paramsSchema);
  return tool;
}
