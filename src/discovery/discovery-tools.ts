/** The four tools by which an agent finds, inspects and loads all others: `tool_find`, `tool_describe`, `tool_load`, `tool_active`. */

import { checkNames, optional } from '../base/check-options.ts';
import * as v from 'valibot';
import { PinnaceError, toData } from '../base/errors.ts';
import { canonicalJson } from '../base/json.ts';
import { invalid } from '../base/parse.ts';
import type { Principal } from '../base/principal.ts';
import type { Storage } from '../contracts/storage.ts';
import { hidesCause } from '../events/report.ts';
import { partsOf } from '../search/words.ts';
import type { ToolSource } from '../tools/implement.ts';
import { defineValibotTool, type ToolOptions } from '../tools/make-tool.ts';
import type { Tool, ToolContext, ToolOutcome } from '../tools/tool.ts';
import { type ActiveTools, createActiveTools, createLookup, discoveryToolNames, type Lookup } from './active-tools.ts';
import { type IndexedTool, toIndexedTool } from './tool-fields.ts';
import { createToolIndex, type ToolHit, type ToolIndex } from './tool-index.ts';
import { lowFit } from './tool-ranking.ts';

export { discoveryToolNames } from './active-tools.ts';

/** What the discovery tools work with. */
export interface DiscoveryOptions {
  /**
   * The names of the tools that the model sees in the next step, without the four themselves. It belongs to one run, which may
   * put names of its own in before it starts; loading adds to it.
   */
  readonly active: Set<string>;
  /** Where the loaded set waits for the next request; absent: nowhere, as where a chat has what was loaded. */
  readonly storage?: Storage | undefined;
  /** The caller whose tools are searched. */
  readonly principal: ToolContext['principal'];
  /** The chat whose loaded set this is. */
  readonly chatId?: string | undefined;
  /** Instead of a chat or beside it: the handle that `tool_load` gave in an earlier request. */
  readonly handle?: string | undefined;
  /** Today's answer of allowlist, masks and pins. What it refuses can be neither found, described, loaded nor active. */
  readonly isAllowed?: (name: string) => boolean;
  /** Puts what was found into another order. */
  readonly rerank?: Rerank | undefined;
  /** Retention of a loaded set after the last load; a day. */
  readonly ttlMs?: number;
  /** The most tools that may be active. */
  readonly mostActive?: number;
  /**
   * The definitions that the chat has, by name. `tool_load` names what is among them and does not repeat it, and adds what it returns; an
   * error about a call without a load has the definition. Absent: each load returns the definitions.
   */
  readonly shown?: Map<string, unknown> | undefined;
}

/** The discovery tools of one run. */
export interface DiscoveryTools extends ToolSource {
  /** The four as tools, for callers of `invokeTool`. */
  readonly tools: readonly Tool[];
  /** Puts what was loaded in earlier requests into `active`, as far as it is allowed today. Every call does it first by itself. */
  restore(): Promise<void>;
  /** The active tools that are allowed now: for the model's next step, after the names of the four. */
  activeNames(): readonly string[];
  /** The error for a call of a tool that is not active: how to load it, its new name, or the nearest names. */
  notActive(name: string): PinnaceError;
  /** The handle of the loaded set, for a later request; `undefined` before the first load. */
  handle(): string | undefined;
}

const dayMs = 86_400_000;

/**
 * Returns the discovery tools of one run over an index that many runs share.
 *
 * @example
 * const active = new Set<string>();
 * const discovery = discoveryTools(index, { active, storage, principal, chatId: request.chat.id });
 * await discovery.restore(); // what an earlier request has loaded, maybe on another instance
 * await discovery.call('tool_load', { names: ['registry_list'] });
 * const prepareStep = () => ({ activeTools: [...fourNames, ...discovery.activeNames()] });
 */
export function discoveryTools(index: ToolIndex, options: DiscoveryOptions): DiscoveryTools {
  checkNames(
    'create the discovery tools',
    options,
    optional(
      'active',
      'storage',
      'principal',
      'chatId',
      'handle',
      'isAllowed',
      'rerank',
      'ttlMs',
      'mostActive',
      'shown',
    ),
  );
  const { isAllowed = () => true, ttlMs = dayMs, mostActive = 128 } = options;
  const lookup = createLookup(index, isAllowed);
  const active = createActiveTools({ ...options, isAllowed, ttlMs, mostActive, lookup });
  const { shown } = options;
  const show = (tool: IndexedTool) => showIn(shown, tool);
  const tools = defineDiscoveryTools({ index, lookup, active, isAllowed, rerank: options.rerank, show });
  const byName = new Map(tools.map((tool) => [tool.definition.name, tool]));
  return {
    definitions: tools.map(({ definition }) => definition),
    tools,
    restore: () => active.restore(),
    activeNames: () => active.names(),
    handle: () => active.handle(),
    notActive(name) {
      const tool = lookup.find(name);
      if (!tool) return lookup.notFound(name, 'call');
      if (!shown || (!active.has(name) && active.names().length >= mostActive)) return notLoaded(name);
      const isChanged = active.has(name);
      options.active.add(name);
      return isChanged ? changed(name, show(tool)) : withDefinition(name, show(tool));
    },
    async call(name, input, { signal = new AbortController().signal, report } = {}) {
      const tool = byName.get(name);
      if (!tool) return failed(lookup.notFound(name, 'call'));
      return await callTool(tool, input, { signal, report, principal: options.principal });
    },
  };
}

async function callTool(
  tool: Tool,
  input: unknown,
  { signal, principal, report }: Pick<ToolContext, 'signal' | 'principal' | 'report'>,
): Promise<ToolOutcome> {
  const { name } = tool.definition;
  try {
    if (signal.aborted) throw stopped(name);
    const checked = await tool.check(input);
    if (!checked.ok) throw invalid(`the input of tool "${name}"`, checked.issues);
    const redact = (text: string): string => text; // there are no secrets
    const toolCallId = crypto.randomUUID();
    const context = { signal, principal, secrets: {}, log: () => undefined, redact, toolCallId };
    return { ok: true, output: await tool.execute(checked.input, context) };
  } catch (error) {
    if (hidesCause(error) && !signal.aborted) report?.(error);
    return failed(signal.aborted ? stopped(name) : error);
  }
}

function stopped(name: string): PinnaceError {
  return new PinnaceError('cancelled', `Tool "${name}" was stopped with its run`);
}

function failed(error: unknown): ToolOutcome {
  return { ok: false, error: toData(error) };
}

function notLoaded(name: string): PinnaceError {
  return new PinnaceError('not_found', `Cannot call tool "${name}": it is not active; load it with tool_load first`, {
    details: { reason: 'tool_not_active', suggestions: [name] },
  });
}

/** Before a definition in an error: a call of the tool may follow. */
export const definitionMark = 'Its definition: ';

function withDefinition(name: string, definition: object): PinnaceError {
  return new PinnaceError(
    'not_found',
    `Cannot call tool "${name}": it is not active; it was not loaded with tool_load. It is now, call it again. ${definitionMark}${
      JSON.stringify(definition)
    }`,
    { details: { reason: 'tool_not_active', suggestions: [name] } },
  );
}

function changed(name: string, definition: object): PinnaceError {
  return new PinnaceError(
    'invalid_argument',
    `Cannot call tool "${name}": it has changed since it was loaded. Call it again as it is now. ${definitionMark}${
      JSON.stringify(definition)
    }`,
    { details: { reason: 'tool_changed', suggestions: [name] } },
  );
}

/** Whether the chat has this definition of the tool, or none that could be another one. */
export function isShown(shown: ReadonlyMap<string, unknown>, tool: IndexedTool): boolean {
  const known = shown.get(tool.name);
  return known === undefined || canonicalJson(known) === canonicalJson(toDefinition(tool));
}

/** The definition for the chat: by its name alone where the chat has it. */
function showIn(shown: Map<string, unknown> | undefined, tool: IndexedTool): { readonly name: string } {
  const definition = toDefinition(tool);
  const { name } = definition;
  if (shown?.get(name) !== undefined && isShown(shown, tool)) return { name };
  shown?.set(name, definition);
  return definition;
}

interface RunDiscoveryOptions {
  readonly rerank?: Rerank | undefined;
  /** Of the composition itself, for the four tools in manifests. */
  readonly principal: ToolContext['principal'];
}

export function createRunDiscovery({ rerank, principal: host }: RunDiscoveryOptions): Discovery {
  const indexes = new WeakMap<readonly Tool[], ToolIndex>();
  const indexOf = (tools: readonly Tool[]): ToolIndex => {
    const index = indexes.get(tools) ?? createToolIndex(indexed(tools));
    indexes.set(tools, index);
    return index;
  };
  const nothing = { active: new Set<string>(), principal: host };
  return {
    tools: discoveryTools(createToolIndex([]), nothing).tools,
    call: callTemplate,
    open(tools, { active, shown, ...run }) {
      const index = indexOf(tools);
      const opened = discoveryTools(index, { rerank, ...run, shown, active: new Set(active) });
      return {
        ...opened,
        isShown: (name) => isShown(shown, index.get(name) ?? { name }),
        definitionOf(name) {
          const tool = index.get(name);
          return tool && toDefinition(tool);
        },
      };
    },
  };
}

const own: ReadonlySet<string> = new Set(discoveryToolNames);

function indexed(tools: readonly Tool[]) {
  return tools.filter(({ definition }) => !own.has(definition.name)).flatMap(({ definition, topics = [] }) => [
    toIndexedTool(definition),
    ...topics.map((topic) => ({ ...topic, readWith: definition.name })),
  ]);
}

export interface Discovery {
  /** The discovery tools over no tools, as manifests list them. Only agents that name them have discovery. */
  readonly tools: readonly Tool[];
  /** The one tool by which a model calls what it has loaded. A run unwraps its calls, and never executes it. */
  readonly call: Tool;
  /** Returns the discovery tools over the tools of one run. The same array is indexed once. */
  open(tools: readonly Tool[], run: DiscoveringRun): OpenDiscovery;
}

interface DiscoveringRun {
  /** The names that are active from the start. */
  readonly active: readonly string[];
  /** The definitions that the chat has. */
  readonly shown: Map<string, unknown>;
  readonly principal: Principal;
  /** Returns whether a tool may be found and used now. */
  readonly isAllowed: (name: string) => boolean;
}

interface OpenDiscovery {
  readonly tools: readonly Tool[];
  activeNames(): readonly string[];
  /** Whether the chat has the definition of the tool as it is now. */
  isShown(name: string): boolean;
  /** The definition of a tool as it is now, as `tool_load` returns it. */
  definitionOf(name: string): ReturnType<typeof toDefinition> | undefined;
  /** Returns the error for a call of a tool that is not active. */
  notActive(name: string): PinnaceError;
}

interface Parts {
  readonly index: ToolIndex;
  readonly lookup: Lookup;
  readonly active: ActiveTools;
  readonly isAllowed: (name: string) => boolean;
  readonly rerank: Rerank | undefined;
  readonly show: (tool: IndexedTool) => object;
}

/** The four tools of one run. */
function defineDiscoveryTools(parts: Parts): readonly Tool[] {
  return [find, describe, load, listActive].map((define) => define(parts));
}

/** Returns a function that makes the tool of a run. All runs share its definition and the check of its input. */
function perRun<S extends v.GenericSchema<unknown, unknown>>(
  options: Omit<ToolOptions<S>, 'execute'>,
  execute: (parts: Parts, input: v.InferOutput<S>, context: ToolContext) => unknown,
): (parts: Parts) => Tool {
  let shared: Tool | undefined;
  return (parts) => {
    shared ??= defineValibotTool<S>({ ...options, execute: () => undefined });
    // `check` has returned the schema's output, and invokeTool passes only checked values.
    return { ...shared, execute: (input, context) => execute(parts, input, context) };
  };
}

const readOnly = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
const common = { type: 'builtin', category: 'discovery' } as const;
const ToolNames = v.pipe(v.array(v.string()), v.minLength(1), v.maxLength(32));

const find = /* @__PURE__ */ perRun(
  {
    ...common,
    id: 'tool_find',
    description: 'Finds tools by keywords, best first. Load what you need with tool_load before you call it.',
    annotations: readOnly,
    input: v.strictObject({
      query: v.pipe(v.string(), v.description('What the tool should do, in a few keywords')),
      limit: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(50)), 10),
    }),
  },
  async (parts, { query, limit }, { signal }) => {
    await parts.active.restore();
    const { found, fit: exact, unknown } = await findTools(query, { parts, limit, signal });
    const fit = round(exact);
    const tools = found.map(({ name, score, tool }) => {
      const hit = { name, score: round(score), description: oneLine(tool) };
      const { readWith } = tool;
      return readWith === undefined ? { ...hit, active: parts.active.has(name) } : { ...hit, readWith };
    });
    const message = hintFor(query, { found, fit, unknown });
    return { tools, fit, ...(message !== undefined && { message }) };
  },
);

async function findTools(
  query: string,
  { parts, limit, signal }: { parts: Parts; limit: number; signal: AbortSignal },
): Promise<{ readonly found: readonly FoundTool[]; readonly fit: number; readonly unknown: readonly string[] }> {
  const { index, isAllowed, rerank } = parts;
  const wanted = rerank ? Math.max(limit, rerankedHits) : limit;
  const accept = ({ name, readWith = name }: IndexedTool): boolean => isAllowed(readWith);
  const best = index.searchWithFit(query, wanted, { accept });
  const hits = best.hits.flatMap((hit): FoundTool[] => {
    const tool = index.get(hit.name);
    return tool ? [{ ...hit, tool }] : [];
  });
  const ordered = rerank && hits.length > 1 ? await applyRerank(rerank, { query, hits, signal }) : hits;
  return { found: ordered.slice(0, limit), fit: best.fit, unknown: best.unknown };
}

const shortQuery = 6;

function hintFor(
  query: string,
  { found, fit, unknown }: { found: readonly FoundTool[]; fit: number; unknown: readonly string[] },
): string | undefined {
  if (partsOf(query.slice(0, 1000)).length === 0) {
    return 'The query has no words: say in a few keywords what the tool should do';
  }
  if (found.length === 0) return 'No tool says any word of the query: try other words, or fewer';
  const { length } = partsOf(query.slice(0, 1000));
  // No word is more specific than one that no tool says; a long query has others that matter as little.
  if (unknown.length > 0 && length <= shortQuery) {
    const words = unknown.map((word) => JSON.stringify(word)).join(', ');
    return `No tool says ${words}: these say the rest of the query, and may be about something else`;
  }
  return fit < lowFit ? 'Probably none of these fits: they say little of the query. Try other words' : undefined;
}

/** The name of the tool that calls loaded ones: the list of tools stays the same while tools are loaded. */
export const toolCallName = 'tool_call';

/** What `tool_call` takes. */
export const toolCallFields = {
  name: /* @__PURE__ */ v.pipe(v.string(), v.description('The exact name of a loaded tool')),
  arguments: /* @__PURE__ */ v.optional(
    v.pipe(v.record(v.string(), v.unknown()), v.description('The input of that tool')),
    {},
  ),
};

export const toolCallDescription = 'Calls a tool that was loaded with tool_load.';

const callTemplate = /* @__PURE__ */ defineValibotTool({
  ...common,
  id: toolCallName,
  description: toolCallDescription,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  input: /* @__PURE__ */ v.strictObject(toolCallFields),
  execute: () => undefined,
});

const describe = /* @__PURE__ */ perRun(
  {
    ...common,
    id: 'tool_describe',
    description: 'Describes one tool: what it does, the input it takes, and whether it is active.',
    annotations: readOnly,
    input: v.strictObject({ name: v.pipe(v.string(), v.description('The exact name, as tool_find gives it')) }),
  },
  async ({ lookup, active }, { name }) => {
    await active.restore();
    const tool = lookup.find(name);
    if (!tool) throw lookup.notFound(name, 'describe');
    const { category, keywords } = tool;
    return {
      ...toDefinition(tool),
      ...(category && { category }),
      ...(keywords && keywords.length > 0 && { keywords }),
      active: active.has(name),
    };
  },
);

const load = /* @__PURE__ */ perRun(
  {
    ...common,
    id: 'tool_load',
    description:
      'Makes tools active, so that they can be called from the next step on. All of them, or with one unknown name none.',
    annotations: { ...readOnly, readOnlyHint: false },
    input: v.strictObject({ names: v.pipe(ToolNames, v.description('Exact names, as tool_find gives them')) }),
  },
  async ({ active, show }, { names }) => {
    await active.restore();
    const tools = await active.load(names);
    const toolset = active.handle();
    return {
      loaded: tools.map(show),
      active: active.names().length,
      ...(toolset !== undefined && { toolset }),
    };
  },
);

const listActive = /* @__PURE__ */ perRun(
  {
    ...common,
    id: 'tool_active',
    description: 'Lists the tools that are active now.',
    annotations: readOnly,
    input: v.strictObject({}),
  },
  async ({ lookup, active }) => {
    await active.restore();
    const tools = active.names().map((name) => ({ name, description: oneLine(lookup.find(name)) }));
    if (tools.length > 0) return { tools, count: tools.length };
    return {
      tools,
      count: 0,
      message: 'No tools are active: look for some with tool_find, then load them with tool_load',
    };
  },
);

function toDefinition({ name, title, description = '', inputSchema = { type: 'object' } }: IndexedTool) {
  return { name, ...(title && { title }), description, inputSchema };
}

/** The first sentence, or as much of it as fits. */
function oneLine({ description = '' }: IndexedTool = { name: '' }): string {
  const [line = ''] = description.trim().slice(0, 1000).split(/\n|(?<=[.!?。])\s/, 1);
  return line.length > 160 ? `${line.slice(0, 159).trimEnd()}…` : line;
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}

/** A hit with its tool. */
export interface FoundTool extends ToolHit {
  readonly tool: IndexedTool;
}

/**
 * Returns the hits in another order, with scores of its own, as by embeddings. Names that were not among the hits are dropped, and
 * hits that it leaves out come last. When it fails, the order stays as it was; it must honour the signal.
 */
export type Rerank = (
  query: string,
  hits: readonly FoundTool[],
  options: { readonly signal: AbortSignal },
) => Promise<readonly ToolHit[]>;

/** How many hits a re-ranker gets to see. */
const rerankedHits = 50;

/** Asks the re-ranker, and keeps to its rules. */
async function applyRerank(
  rerank: Rerank,
  { query, hits, signal }: { query: string; hits: readonly FoundTool[]; signal: AbortSignal },
): Promise<readonly FoundTool[]> {
  const left = new Map(hits.map((hit) => [hit.name, hit]));
  try {
    const ordered = await rerank(query, hits, { signal });
    const first = ordered.flatMap(({ name, score }) => {
      const hit = left.get(name);
      left.delete(name);
      return hit ? [{ ...hit, score }] : [];
    });
    return [...first, ...left.values()];
  } catch {
    signal.throwIfAborted();
    return hits;
  }
}
