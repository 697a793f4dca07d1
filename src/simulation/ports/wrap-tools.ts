/** Tools whose calls are steps, and are counted: `tool.<id> n`. */

import { canonicalJson } from '../../base/json.ts';
import type { ToolDefinition } from '../../base/schema.ts';
import { isToolSource, type ToolSource } from '../../tools/implement.ts';
import type { Tool } from '../../tools/tool.ts';
import type { PortParts } from './port-parts.ts';

/** Returns the tools. */
export function wrapTools(tools: readonly (Tool | ToolSource)[], parts: PortParts): readonly (Tool | ToolSource)[] {
  return tools.map((tool) => isToolSource(tool) ? wrapSource(tool, parts) : wrapTool(tool, parts));
}

function wrapTool(tool: Tool, parts: PortParts): Tool {
  const { definition } = tool;
  const execute: Tool['execute'] = (input, context) =>
    parts.instance.call(`tool.${definition.id}`, [input, context], () => {
      count(definition, { input, toolCallId: context.toolCallId }, parts);
      return tool.execute(input, context);
    });
  return { ...tool, execute };
}

function wrapSource(source: ToolSource, parts: PortParts): ToolSource {
  return {
    definitions: source.definitions,
    async call(name, input, options) {
      const answer = parts.instance.call(`tool.${name}`, [name, input, options], () => {
        const definition = source.definitions.find((one) => one.name === name);
        if (definition) count(definition, { input, toolCallId: '' }, parts);
        return source.call(name, input, options);
      });
      return await (answer as ReturnType<ToolSource['call']>); // what a fault returns is of any type
    },
  };
}

function count(
  { id, annotations }: ToolDefinition,
  { input, toolCallId }: { readonly input: unknown; readonly toolCallId: string },
  { observed }: PortParts,
): void {
  observed.calls.push({
    tool: id,
    input: canonicalJson(input),
    toolCallId,
    acts: annotations?.readOnlyHint !== true,
    isRepeatable: annotations?.idempotentHint === true,
    phase: observed.phase,
  });
}
