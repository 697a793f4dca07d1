/** The tools by which an agent queries, stores and deletes in exactly the data sources that it names: `retrieve`, `remember`, `forget`. */

import { checkNames, optional } from '../base/check-options.ts';
import * as v from 'valibot';
import { fromData, PinnaceError } from '../base/errors.ts';
import { loadOnce } from '../base/load-once.ts';
import type { Principal } from '../base/principal.ts';
import type { Agent, ToolDefinition } from '../base/schema.ts';
import type { Authorize } from '../contracts/authenticator.ts';
import { Filters } from '../contracts/grounding-source.ts';
import { type Label, labelOf } from '../permission/label.ts';
import { storedLabel } from '../permission/run-facts.ts';
import { toolOver } from '../tools/define-tool.ts';
import { defineValibotTool } from '../tools/make-tool.ts';
import type { Tool, ToolContext } from '../tools/tool.ts';
import type { GroundingCallOptions, Pay } from './access.ts';
import type { ContextOptions, GroundingContext } from './context.ts';
import { emptyForTenant, type Grounding, isWritable, load } from './create-grounding.ts';
import {
  ForgetInput,
  type GroundingAnswer,
  RememberInput,
  type RetrieveInput,
  RetrieveRequest,
  type SourceReport,
} from './request.ts';

/**
 * Creates the data sources of agents. `authorize` is called before every access, in addition to the hook of the grounding itself, and
 * `pay` before texts are stored.
 */
export function createAgentGrounding(
  grounding: Grounding,
  { authorize, pay }: { readonly authorize?: Authorize | undefined; readonly pay?: Pay | undefined } = {},
): DataSources {
  return {
    ids: grounding.sources.map(({ id }) => id),
    tools: groundingTools(grounding, { dataSources: [] }),
    toolsOf: ({ id: agentId, dataSources }) =>
      groundingTools(grounding, { agentId, dataSources, pay, ...(authorize && { authorize }) }),
    datastore: (definition, { id: agentId }) =>
      datastoreTool(grounding, definition, { agentId, ...(authorize && { authorize }) }),
    async emptyFor({ dataSources }, principal) {
      if (dataSources.length === 0) return [];
      const { emptySources } = await load();
      const sources = grounding.sources.filter(({ id }) => dataSources.includes(id));
      return (await emptySources(sources, principal)).map((id) => emptyForTenant(id, principal.tenant));
    },
  };
}

export interface DataSources {
  readonly ids: readonly string[];
  /** The tools over no source, as manifests list them: the first retrieves, the others write. */
  readonly tools: readonly Tool[];
  /** Returns the tools over exactly the sources that the agent names. */
  toolsOf(agent: Pick<Agent, 'id' | 'dataSources'>): readonly Tool[];
  /** Returns the tool of a definition of type `datastore`; `undefined` for an unknown source. */
  datastore(definition: ToolDefinition, agent: Pick<Agent, 'id'>): Tool | undefined;
  /** Returns the errors that say of which of the agent's sources the caller's tenant has nothing, while others have items there. */
  emptyFor(agent: Pick<Agent, 'dataSources'>, principal: Principal): Promise<readonly PinnaceError[]>;
}

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
  checkNames(
    'create the grounding tools',
    options,
    optional('dataSources', 'agentId', 'authorize', 'pay', 'answered', 'lambda', 'maxTokens'),
  );
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
    // What an agent keeps is its caller's, also where that speaks for the deployment.
    return { principal, signal, span, report, origins, agentId, authorize, pay, shared: false };
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
        const from = context.inputLabel ? storedLabel.write(context.inputLabel) : {};
        const items = input.items.map((item) => ({ ...item, metadata: { ...item.metadata, ...from } }));
        const isPlain = Object.keys(from).length === 0;
        return grounding.remember(isPlain ? input : { ...input, items }, callOf(context));
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
function datastoreTool(
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
  const tool = toolOver(readOnly, Input, async ({ query, filters = [] }, context) => {
    const question = { ...(query.trim() !== '' && { query }), filters, topK: 10, minConfidence: 0 };
    return await retrieve.execute(question, context);
  });
  return { ...tool, saysWho: true };
}

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
function retrieveTool(grounding: Grounding, options: RetrieveToolOptions): Tool {
  const { ids, requireKnown, callOf } = options;
  const tool = defineValibotTool({
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
      for (const { dataSourceId } of answer.sources) context.label?.(labelOfSource(dataSourceId, grounding));
      for (const { metadata } of answer.hits) context.label?.(storedLabel.read(metadata));
      requireAny(answer.sources);
      // Redact before truncating, so partial secrets cannot leak.
      const hits = answer.hits.map((hit) => ({ ...hit, content: context.redact(hit.content) }));
      const asksWords = (question.query ?? '').trim() !== '';
      const answered = asksWords ? answer.answered : undefined; // filters have no doubt
      const { createContext } = await loadContext();
      return toOutput(await createContext(hits, { ...options.budget, answered, number: context.cite }), answer);
    },
  });
  return { ...tool, saysWho: true };
}

/** A source is written by strangers, also where it finds nothing or fails, unless it says that it is not. */
function labelOfSource(id: string, { sources }: Grounding): Label {
  const { trust, readers = 'tenant' } = sources.find((source) => source.id === id) ?? {};
  return labelOf(trust === 'trusted' ? [] : [`data-source:${id}`], readers);
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
function aboutGrounding(id: string, title: string) {
  return { id, title, type: 'builtin' as const, category: 'grounding', keywords: ['memory', 'context', 'search'] };
}

/** What the model needs; hashes and versions are for the record. */
function toOutput({ text, citations, omitted }: GroundingContext, { sources, fused, answered }: GroundingAnswer) {
  return {
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
    sources: sources.map(({ dataSourceId, status, reason, error }) => ({
      dataSourceId,
      status,
      ...(reason && { reason }),
      ...(error && { error: { code: error.code, message: error.message, retryable: error.retryable } }),
    })),
    fused,
  };
}
