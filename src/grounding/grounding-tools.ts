/** The tools by which an agent queries, stores and deletes: `retrieve`, `remember`, `forget`. */

import { PinnaceError } from '../base/errors.ts';
import type { Authorize } from '../contracts/authorize.ts';
import * as v from 'valibot';
import { defineValibotTool } from '../tools/make-tool.ts';
import type { Tool, ToolContext } from '../tools/tool.ts';
import type { GroundingCallOptions } from './access.ts';
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
}

/**
 * Returns the three tools. What `retrieve` finds comes as numbered blocks of data that is not trusted; no hits are said to be none.
 * `remember` and `forget` wait for a person, unless the definition is changed.
 */
export function groundingTools(grounding: Grounding, options: GroundingToolsOptions = {}): readonly Tool[] {
  const { dataSources, agentId, authorize, ...budget } = options;
  const ids = [...new Set(dataSources ?? grounding.sources.map(({ id }) => id))];
  const requireKnown = (id: string): void => {
    if (!ids.includes(id)) {
      throw new PinnaceError('not_found', `Cannot use the data source "${id}": there is ${ids.join(', ') || 'none'}`, {
        details: { reason: 'unknown_data_source', suggestions: ids },
      });
    }
  };
  const callOf = ({ principal, signal, span, report, origins }: ToolContext): GroundingCallOptions => {
    return { principal, signal, span, report, origins, agentId, authorize };
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
