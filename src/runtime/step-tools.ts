/** Which tools the model sees in its next step: all of the run's, or with discovery those that are active. */

import { definitionTokens } from './estimate-prompt.ts';
import { PinnaceError } from '../base/errors.ts';
import type { Agent } from '../base/schema.ts';
import type { Tool } from '../tools/tool.ts';
import { isProviderTool } from '../tools/provider-tool.ts';
import { namedTools, type ToolSet } from './tool-sets.ts';
import type { Principal } from '../base/principal.ts';
import type { Discovery } from '../discovery/discovery-tools.ts';
import type { DefinitionOf, LoadedTools } from './wrapped-calls.ts';

/** The tools of a run, step by step. */
export interface StepTools {
  /** The names of what the first step may call; `undefined` without discovery, where it is all that it is offered. */
  discovered(): readonly string[] | undefined;
  /** For the model's next step. The same array for as long as nothing has changed: what is loaded is no change. */
  current(): readonly Tool[];
  /** Finds what the model may call in its next step: the current tools, and the loaded ones. */
  callable(): (name: string) => Tool | undefined;
  /** The tools that are active now, those that only programs may call included. */
  active(): readonly Tool[];
  /** The prompt has lost messages: it may have no definition of a loaded tool any more. */
  compacted(): void;
  /** The definition of a tool that may be loaded. */
  definitionOf: DefinitionOf;
  /** The error for a call of a tool that may not be called. One that could have been loaded is loaded by it. */
  missing(name: string): PinnaceError;
}

interface StepToolsOptions {
  readonly agent: Agent;
  readonly toolSet: ToolSet;
  readonly discovery: Discovery | undefined;
  /** The context window of the model. */
  readonly contextTokens: number;
  readonly principal: Principal;
  /** What the chat has loaded. */
  readonly loaded: LoadedTools;
  /** The names of further tools that are active from the start. */
  readonly active?: readonly string[] | undefined;
}

/** The share of the context window that definitions may take: the rest is for the chat and the answer. */
const largestShare = 0.5;

/**
 * Creates the tools of a run. An agent whose allowlist names `tool_find` starts with the discovery tools, with those that the allowlist
 * names one by one, and with retrieval from its data sources; discovery finds those that it allows by a prefix. An agent whose
 * definitions take more than half of the context window has discovery as well: it could not run without.
 */
export function createStepTools(options: StepToolsOptions): StepTools {
  const { toolSet: { tools, entries }, discovery, contextTokens } = options;
  const [find] = discovery?.tools ?? [];
  const isNamed = find !== undefined && tools.includes(find);
  const isOn = find && (isNamed || definitionTokens(tools) > contextTokens * largestShare);
  return discovery && isOn ? discovered(options, discovery, isNamed ? [] : discovery.tools) : {
    discovered: () => undefined,
    compacted: () => undefined,
    definitionOf: () => undefined,
    ...steps(() => tools),
    missing: (name) => missingTool(name, entries),
  };
}

/** Of the reasons why an agent has no tool, a model is told the one that no other tool of it can get around. */
function missingTool(name: string, entries: ToolSet['entries']): PinnaceError {
  const isDenied = entries.some(({ id, excluded }) => id === name && excluded === 'egress_denied');
  if (!isDenied) return new PinnaceError('not_found', 'Cannot call the tool: no tool of this run has this name');
  return new PinnaceError('forbidden', 'Cannot call the tool: the agent does not allow requests to its origin', {
    details: { reason: 'egress_denied' },
  });
}

/** The tools of a step: all that are active, and those of them that the model may call. */
function steps(list: () => readonly Tool[]): Pick<StepTools, 'active' | 'current' | 'callable'> {
  const active = available(list);
  let [last, shown]: (readonly Tool[])[] = [[], []];
  const current = (): readonly Tool[] => {
    const all = active();
    if (all !== last) [last, shown] = [all, shownTo(all)];
    return shown ?? all;
  };
  return {
    active,
    current,
    callable() {
      const all = active();
      // As it is in the tool set: an approval is of that definition, not of one that lists the others.
      return (name) => all.find((tool) => tool.definition.name === name && isForModel(tool));
    },
  };
}

function shownTo(all: readonly Tool[]): readonly Tool[] {
  const isSame = all.every(({ beside, definition: { callers } }) => !beside && !callers);
  if (isSame) return all;
  return all.filter(isForModel).map((tool) => tool.beside?.(all) ?? tool);
}

function isForModel({ definition: { callers } }: Tool): boolean {
  return callers?.includes('model') ?? true;
}

/** Leaves out what cannot be used now. The same array for as long as that is the same. */
function available(list: () => readonly Tool[]): () => readonly Tool[] {
  let last: readonly Tool[] = [];
  return () => {
    const all = list();
    const next = all.every(isAvailable) ? all : all.filter(isAvailable);
    if (next === last) return last;
    if (next.length !== last.length || next.some((tool, at) => tool !== last[at])) last = next;
    return last;
  };
}

function isAvailable({ isAvailable: check }: Tool): boolean {
  return check?.() ?? true;
}

/** The most loaded tools of a chat that are active. */
const mostLoaded = 128;

function discovered(
  { agent, toolSet: { tools }, principal, loaded, active: given = [] }: StepToolsOptions,
  discovery: Discovery,
  further: readonly Tool[],
): StepTools {
  const templates = new Set(discovery.tools);
  const tool = toolByName(tools, further);
  const names = namedTools(agent);
  const isPrefixes = [...names].every((name) => name.endsWith('*')); // as of an agent with everything: no tool is named
  const isNamed = ({ definition: { id } }: Tool): boolean => !isPrefixes && names.has(id);
  const named = tools.filter((one) => isProviderTool(one) || (isNamed(one) && !templates.has(one)));
  const isAllowed = (name: string): boolean => {
    const found = tool(name);
    return found !== undefined && isAvailable(found);
  };
  const before = [...given, ...[...loaded.keys()].slice(-mostLoaded)].filter((name) => tool(name));
  const shown = new Map(loaded);
  const run = discovery.open(tools, {
    active: [...named.map(({ definition }) => definition.name), ...before],
    shown,
    principal,
    isAllowed,
  });
  const allowed = run.tools.filter(({ definition: { name } }) => tool(name));
  const offered = [...allowed, discovery.call, ...named];
  const offering = steps(() => offered);
  return {
    discovered: () => run.activeNames(),
    current: offering.current,
    active: available(() => [...allowed, ...run.activeNames().flatMap((name) => tool(name) ?? [])]),
    callable() {
      const find = offering.callable();
      const active = new Set(run.activeNames().filter((name) => run.isShown(name))); // as of now: a load counts from the next step on
      return (name) => {
        const found = find(name) ?? (active.has(name) ? tool(name) : undefined);
        return found && isForModel(found) ? found : undefined;
      };
    },
    compacted() {
      for (const name of shown.keys()) shown.set(name, undefined);
    },
    definitionOf: (name) => run.definitionOf(name),
    missing: (name) => run.notActive(name),
  };
}

const byName = new WeakMap<readonly Tool[], ReadonlyMap<string, Tool>>();

/** Finds tools of a tool set, or of a few more, by name. Runs with the same tool set share its map. */
function toolByName(tools: readonly Tool[], further: readonly Tool[]): (name: string) => Tool | undefined {
  const known = byName.get(tools) ?? new Map(tools.map((tool) => [tool.definition.name, tool]));
  byName.set(tools, known);
  return (name) => known.get(name) ?? further.find(({ definition }) => definition.name === name);
}
