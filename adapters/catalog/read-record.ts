/** Reads the records of a catalog from data, the same for every catalog that gets them from outside. */

import { parse } from '../../src/parse.ts';
import { Agent, Provider, ToolDefinition } from '../../src/schema.ts';
import { compileJsonSchema } from '../../src/tools/json-schema.ts';

/** The kinds of records, and what each is. */
export interface CatalogRecords {
  readonly agent: Agent;
  readonly provider: Provider;
  readonly tool: ToolDefinition;
}

/** A kind of record. */
export type RecordKind = keyof CatalogRecords;

/** How each kind is read; `what` names the record in errors. */
export const readRecord: {
  readonly [Kind in RecordKind]: (data: unknown, what: string) => CatalogRecords[Kind];
} = {
  agent: (data, what) => parse(Agent, data, { what }),
  provider: (data, what) => parse(Provider, data, { what }),
  tool: readTool,
};

/** A tool whose `paramsSchema` is no JSON Schema would accept any input. */
function readTool(data: unknown, what: string): ToolDefinition {
  const tool = parse(ToolDefinition, data, { what });
  compileJsonSchema(tool.paramsSchema);
  return tool;
}
