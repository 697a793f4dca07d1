/** Tools of type `datastore`: questions to one grounding source, named by the definition. */

import * as v from 'valibot';
import { Filters } from '../contracts/filter.ts';
import type { ToolDefinition } from '../base/schema.ts';
import { toolOver } from '../tools/define-tool.ts';
import type { Tool } from '../tools/tool.ts';
import type { Grounding } from './create-grounding.ts';
import { groundingTools, type GroundingToolsOptions } from './grounding-tools.ts';

const Config = v.object({ dataSourceId: v.pipe(v.string(), v.minLength(1)) });
const Input = v.strictObject({
  query: v.pipe(v.string(), v.maxLength(4096), v.description('What to look for, in words; empty for all')),
  filters: v.optional(v.pipe(Filters, v.description('Conditions that all hits must meet'))),
});

/**
 * Returns the tool, which queries as `retrieve` does: by the access rules of the agent and the tenant. `undefined` for a definition that
 * names no source, or one that is not composed.
 */
export function datastoreTool(
  grounding: Grounding,
  definition: ToolDefinition,
  options: Omit<GroundingToolsOptions, 'dataSources'>,
): Tool | undefined {
  const config = v.safeParse(Config, definition.config);
  if (!config.success) return undefined;
  const { dataSourceId } = config.output;
  if (!grounding.sources.some(({ id }) => id === dataSourceId)) return undefined;
  const [retrieve] = groundingTools(grounding, { ...options, dataSources: [dataSourceId] });
  if (!retrieve) return undefined;
  const readOnly = { ...definition, annotations: { ...definition.annotations, readOnlyHint: true } };
  return toolOver(readOnly, Input, async ({ query, filters = [] }, context) => {
    const question = { ...(query.trim() !== '' && { query }), filters, topK: 10, minConfidence: 0 };
    return await retrieve.execute(question, context);
  });
}
