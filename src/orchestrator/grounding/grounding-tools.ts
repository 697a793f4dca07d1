/** The tools by which an agent asks, keeps and forgets: `retrieve`, `remember`, `forget`. */

import * as v from 'valibot';
import { PinnaceError } from '../../errors.ts';
import { defineTool } from '../../tools/define-tool.ts';
import type { Tool } from '../../tools/tool.ts';
import { type ContextOptions, createContext } from './context.ts';
import type { Grounding } from './create-grounding.ts';
import { ForgetInput, RememberInput, type RetrieveInput, RetrieveRequest } from './request.ts';

/** What the tools may reach. */
export interface GroundingToolsOptions extends ContextOptions {
  /** The ids of the sources; all when absent. */
  readonly dataSources?: readonly string[];
}

const { entries: asked } = RetrieveRequest;
/** An agent has words, not vectors; it is told of sources by their ids. */
const AgentQuestion = v.strictObject({
  dataSourceIds: v.pipe(asked.dataSourceIds, v.description('Where to look; everywhere when absent')),
  query: v.pipe(asked.query, v.description('What to look for, in words')),
  topK: asked.topK,
  filters: v.pipe(asked.filters, v.description('Conditions that all hits must meet')),
  minConfidence: asked.minConfidence,
  sort: asked.sort,
  aggregate: v.pipe(asked.aggregate, v.description('Figures of records instead of records')),
});

/**
 * Gives the three tools. What `retrieve` finds comes as numbered blocks of data that is not trusted; no hits are said to be none.
 * `forget` waits for a person, unless the definition is changed.
 */
export function groundingTools(grounding: Grounding, options: GroundingToolsOptions = {}): readonly Tool[] {
  const ids = grounding.sources.map(({ id }) => id).filter((id) => options.dataSources?.includes(id) ?? true);
  const requireKnown = (id: string): void => {
    if (!ids.includes(id)) {
      throw new PinnaceError('not_found', `Cannot use the data source "${id}": there is ${ids.join(', ') || 'none'}`, {
        details: { reason: 'unknown_data_source', suggestions: ids },
      });
    }
  };
  return [
    retrieveTool(grounding, { ...options, ids, requireKnown }),
    defineTool({
      ...about(
        'remember',
        'Remember',
        'Keeps texts in a data source, so that they can be retrieved later, also in other chats.',
      ),
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
      input: RememberInput,
      execute: (input, { principal, signal }) => {
        requireKnown(input.dataSourceId);
        return grounding.remember(input, { principal, signal });
      },
    }),
    defineTool({
      ...about('forget', 'Forget', 'Removes items from a data source, by their ids or by filters.'),
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
      approval: 'mutating',
      input: ForgetInput,
      execute: (input, { principal, signal }) => {
        requireKnown(input.dataSourceId);
        return grounding.forget(input, { principal, signal });
      },
    }),
  ];
}

interface RetrieveToolOptions extends GroundingToolsOptions {
  readonly ids: readonly string[];
  readonly requireKnown: (id: string) => void;
}

function retrieveTool(grounding: Grounding, { ids, requireKnown, ...context }: RetrieveToolOptions): Tool {
  return defineTool({
    ...about(
      'retrieve',
      'Retrieve',
      `Finds what is known about something, with its source and a confidence from 0 to 1. Data sources: ${
        ids.join(', ') || 'none'
      }.`.slice(0, 4096),
    ),
    annotations: { readOnlyHint: true },
    input: AgentQuestion,
    async execute({ dataSourceIds = ids, ...question }, { principal, signal }) {
      dataSourceIds.forEach(requireKnown);
      if (dataSourceIds.length === 0) requireKnown('');
      // The schemas differ in what is optional only.
      const input = { ...question, dataSourceIds } as RetrieveInput;
      const { hits, sources, fused } = await grounding.retrieve(input, { principal, signal });
      return { untrusted: true, ...await createContext(hits, context), sources, fused };
    },
  });
}

function about(id: string, title: string, description: string) {
  return {
    id,
    title,
    type: 'builtin' as const,
    description,
    category: 'grounding',
    keywords: ['memory', 'context', 'search'],
  };
}
