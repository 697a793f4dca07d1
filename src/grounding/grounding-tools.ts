/** The tools by which an agent queries, stores and deletes: `retrieve`, `remember`, `forget`. */

import * as v from 'valibot';
import { PinnaceError } from '../base/errors.ts';
import type { ToolDefinition } from '../base/schema.ts';
import type { Authorize } from '../contracts/authenticator.ts';
import { Filters } from '../contracts/grounding-source.ts';
import { toolOver } from '../tools/define-tool.ts';
import { defineValibotTool } from '../tools/make-tool.ts';
import type { Tool, ToolContext } from '../tools/tool.ts';
import type { GroundingCallOptions, Pay } from './access.ts';
import type { ContextOptions } from './context.ts';
import { type Grounding, isWritable } from './create-grounding.ts';
import { ForgetInput, RememberInput } from './request.ts';
import { aboutGrounding, retrieveTool } from './retrieve-tool.ts';

/** What the tools may reach. */
export interface GroundingToolsOptions extends Omit<ContextOptions, 'number'> {
  /** The ids of the sources; all when absent. An unknown one is reported. */
  readonly dataSources?: readonly string[];
  /** The agent whose tools they are, for the hooks. */
  readonly agentId?: string;
  /** Called before every access, in addition to the hook of the grounding. */
  readonly authorize?: Authorize;
  /** Called before texts are stored. */
  readonly pay?: Pay | undefined;
}

/**
 * Returns the three tools. What `retrieve` finds comes as numbered blocks of data that is not trusted; no hits are said to be none.
 * `remember` and `forget` wait for a person, unless the definition is changed.
 */
export function groundingTools(grounding: Grounding, options: GroundingToolsOptions = {}): readonly Tool[] {
  const { dataSources, agentId, authorize, pay, ...budget } = options;
  const ids = [...new Set(dataSources ?? grounding.sources.map(({ id }) => id))];
  const requireKnown = (id: string): void => {
    if (!ids.includes(id)) {
      throw new PinnaceError('not_found', `Cannot use the data source "${id}": there is ${ids.join(', ') || 'none'}`, {
        details: { reason: 'unknown_data_source', suggestions: ids },
      });
    }
  };
  const callOf = ({ principal, signal, span, report, origins }: ToolContext): GroundingCallOptions => {
    return { principal, signal, span, report, origins, agentId, authorize, pay };
  };
  const dataSourceId = writableId(grounding, ids);
  return [
    retrieveTool(grounding, { budget, ids, requireKnown, callOf }),
    defineValibotTool({
      ...aboutGrounding('remember', 'Remember'),
      description: 'Keeps texts in a data source, so that they can be retrieved later, also in other chats.',
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
      approval: 'mutating',
      input: v.strictObject({ ...RememberInput.entries, dataSourceId }),
      execute: (input, context) => {
        requireKnown(input.dataSourceId);
        return grounding.remember(input, callOf(context));
      },
    }),
    defineValibotTool({
      ...aboutGrounding('forget', 'Forget'),
      description: 'Removes items from a data source, by their ids or by filters.',
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
      approval: 'mutating',
      input: v.strictObject({ ...ForgetInput.entries, dataSourceId }),
      execute: (input, context) => {
        requireKnown(input.dataSourceId);
        return grounding.forget(input, callOf(context));
      },
    }),
  ];
}

/** The model chooses among writable sources, so no person approves a call that cannot succeed. */
function writableId({ sources }: Grounding, ids: readonly string[]): v.GenericSchema<string> {
  const writable = sources.filter((source) => ids.includes(source.id) && isWritable(source)).map(({ id }) => id);
  return writable.length > 0 ? v.picklist(writable) : RememberInput.entries.dataSourceId;
}

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
