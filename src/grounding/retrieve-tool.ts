/** The tool by which an agent queries its data sources. */

import * as v from 'valibot';
import { fromData, PinnaceError } from '../base/errors.ts';
import { loadOnce } from '../base/load-once.ts';
import { defineValibotTool } from '../tools/make-tool.ts';
import type { Tool, ToolContext } from '../tools/tool.ts';
import type { GroundingCallOptions } from './access.ts';
import type { ContextOptions, GroundingContext } from './context.ts';
import type { Grounding } from './create-grounding.ts';
import { type GroundingAnswer, type RetrieveInput, RetrieveRequest, type SourceReport } from './request.ts';

const loadContext = /* @__PURE__ */ loadOnce(() => import('./context.ts'));

const { entries: asked } = RetrieveRequest;
/** An agent sends words, not vectors, and knows sources by their ids. */
const AgentQuestion = v.strictObject({
  dataSourceIds: v.pipe(asked.dataSourceIds, v.description('Where to look; everywhere when absent')),
  query: v.pipe(asked.query, v.description('What to look for, in words')),
  topK: asked.topK,
  filters: v.pipe(asked.filters, v.description('Conditions that all hits must meet')),
  minConfidence: asked.minConfidence,
  sort: asked.sort,
  aggregate: v.pipe(asked.aggregate, v.description('Figures of records instead of records')),
});

interface RetrieveToolOptions {
  readonly budget: Omit<ContextOptions, 'number'>;
  readonly ids: readonly string[];
  readonly requireKnown: (id: string) => void;
  readonly callOf: (context: ToolContext) => GroundingCallOptions;
}

/** Returns `retrieve`, over these sources and no others. */
export function retrieveTool(grounding: Grounding, options: RetrieveToolOptions): Tool {
  const { ids, requireKnown, callOf } = options;
  return defineValibotTool({
    ...aboutGrounding('retrieve', 'Retrieve'),
    description: describe(grounding, ids),
    annotations: { readOnlyHint: true },
    input: AgentQuestion,
    async execute({ dataSourceIds = ids, ...question }, context) {
      dataSourceIds.forEach(requireKnown);
      if (dataSourceIds.length === 0) requireKnown('');
      // The schemas differ in what is optional only.
      const input = { ...question, dataSourceIds } as RetrieveInput;
      const answer = await grounding.retrieve(input, callOf(context));
      requireAny(answer.sources);
      // Redact before truncating, so partial secrets cannot leak.
      const hits = answer.hits.map((hit) => ({ ...hit, content: context.redact(hit.content) }));
      const asksWords = (question.query ?? '').trim() !== '';
      const answered = asksWords ? answer.answered : undefined; // filters have no doubt
      const { createContext } = await loadContext();
      return toOutput(await createContext(hits, { ...options.budget, answered, number: context.cite }), answer);
    },
  });
}

/** The tool lists the sources: a model knows no ids by itself. */
function describe({ sources, descriptions }: Grounding, ids: readonly string[]): string {
  const known = ids.map((id) => {
    const kind = sources.find((source) => source.id === id)?.kind;
    const about = Object.hasOwn(descriptions, id) ? `: ${descriptions[id]}` : '';
    return `- ${id} (${kind ?? 'not there now'})${about}`;
  });
  const what =
    'Finds what is known about something, in numbered blocks, each with its source and a confidence from 0 to 1. ' +
    'Says when the sources probably do not have an answer. ' +
    'Cite what an answer rests on by its number, as in [1].';
  return `${what} Data sources:\n${known.join('\n') || 'none'}`.slice(0, 4096);
}

/** No hits are an answer too; it is an error when no source could be queried. */
function requireAny(sources: readonly SourceReport[]): void {
  const errors = sources.flatMap(({ status, error }) => status === 'error' && error ? [error] : []);
  const [first] = errors;
  if (!first || errors.length < sources.length) return;
  if (errors.length === 1) throw fromData(first);
  throw new PinnaceError(fromData(first).code, `Cannot retrieve: ${errors.map(({ message }) => message).join('; ')}`, {
    retryable: errors.some(({ retryable }) => retryable),
    details: { reason: 'no_data_source_answered' },
  });
}

/** The part that the definitions of all grounding tools share. */
export function aboutGrounding(id: string, title: string) {
  return { id, title, type: 'builtin' as const, category: 'grounding', keywords: ['memory', 'context', 'search'] };
}

/** What the model needs; hashes and versions are for the record. */
function toOutput({ text, citations, omitted }: GroundingContext, { sources, fused, answered }: GroundingAnswer) {
  return {
    untrusted: true,
    answered: Math.round(answered * 100) / 100,
    text,
    citations: citations.map(({ n, dataSourceId, id, title, uri, lines, confidence }) => ({
      n,
      dataSourceId,
      id,
      ...(title !== undefined && { title }),
      uri,
      ...(lines && { lines }),
      confidence,
    })),
    omitted,
    sources: sources.map(({ dataSourceId, status, error }) => ({
      dataSourceId,
      status,
      ...(error && { error: { code: error.code, message: error.message, retryable: error.retryable } }),
    })),
    fused,
  };
}
