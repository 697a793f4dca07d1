/** What the four discovery tools take and give. */

import { defineValibotTool, type ToolOptions } from '../tools/make-tool.ts';
import type { Tool, ToolContext } from '../tools/tool.ts';
import { partsOf } from '../search/words.ts';
import type { ActiveTools } from './active-tools.ts';
import type { IndexedTool } from './tool-fields.ts';
import { lowFit } from './tool-ranking.ts';
import type { Lookup } from './active-tools.ts';
import type { ToolHit, ToolIndex } from './tool-index.ts';

import * as v from 'valibot';

interface Parts {
  readonly index: ToolIndex;
  readonly lookup: Lookup;
  readonly active: ActiveTools;
  readonly isAllowed: (name: string) => boolean;
  readonly rerank: Rerank | undefined;
}

/** The four tools of one run. */
export function defineDiscoveryTools(parts: Parts): readonly Tool[] {
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
      return { name, score: round(score), description: oneLine(tool), active: parts.active.has(name) };
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
  const accept = ({ name }: IndexedTool): boolean => isAllowed(name);
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
  async ({ active }, { names }) => {
    await active.restore();
    const tools = await active.load(names);
    const toolset = active.handle();
    return {
      loaded: tools.map(toDefinition),
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
