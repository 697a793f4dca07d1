/** Tool definitions in the form of MCP, and those that only an MCP server has. */

import * as v from 'valibot';
import { jsonSchemaOf } from '../../../src/base/json-schema-of.ts';
import type { JsonSchema, ToolDefinition } from '../../../src/base/schema.ts';
import { toolCallName } from './toolbox.ts';

/** A tool in the result of `tools/list`. */
export interface McpTool {
  readonly [key: string]: unknown;
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: JsonSchema & { readonly type: 'object' };
  readonly outputSchema?: JsonSchema & { readonly type: 'object' };
  readonly annotations?: Readonly<Record<string, boolean>>;
}

/** Returns a definition in the form of MCP: the schemas unchanged, without anything about permissions. */
export function toMcpTool(
  { name, title, description, paramsSchema, outputSchema, annotations }: ToolDefinition,
): McpTool {
  return {
    name,
    ...(title !== undefined && { title }),
    description,
    inputSchema: { ...paramsSchema, type: 'object' },
    ...(isOfObject(outputSchema) && { outputSchema }),
    ...(annotations && { annotations: { ...annotations } as Record<string, boolean> }), // every key has a value
  };
}

/** Whether clients of every revision accept the schema for structured results. */
export function isOfObject(schema: JsonSchema | undefined): schema is JsonSchema & { readonly type: 'object' } {
  return schema?.['type'] === 'object';
}

const toolsetDescription = 'The "toolset" that tool_load gave, so that what was loaded counts';

/** Returns a discovery tool that also takes the handle of the loaded set. */
export function withToolset(tool: McpTool): McpTool {
  const { properties, ...schema } = tool.inputSchema;
  const toolset = { type: 'string', description: toolsetDescription };
  return { ...tool, inputSchema: { ...schema, properties: { ...properties as JsonSchema | undefined, toolset } } };
}

/** What `tool_call` takes. */
export const ToolCallInput = v.strictObject({
  toolset: v.optional(v.pipe(v.string(), v.description(toolsetDescription))),
  name: v.pipe(v.string(), v.description('The exact name of a loaded tool')),
  arguments: v.optional(v.pipe(v.record(v.string(), v.unknown()), v.description('The input of that tool')), {}),
});

/** The definition of `tool_call`: it never changes, so the list of tools stays stable while tools are loaded. */
export const toolCallDefinition: McpTool = {
  name: toolCallName,
  description: 'Calls a tool that was loaded with tool_load.',
  inputSchema: { ...jsonSchemaOf(ToolCallInput), type: 'object' },
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
};
