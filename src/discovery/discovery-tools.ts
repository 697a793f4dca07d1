/** The four tools by which an agent finds, inspects and loads all others: `tool_find`, `tool_describe`, `tool_load`, `tool_active`. */

import { PinnaceError, toData } from '../base/errors.ts';
import { invalid } from '../base/parse.ts';
import type { Storage } from '../contracts/storage.ts';
import { hidesCause } from '../events/report.ts';
import type { ToolSource } from '../tools/implement.ts';
import type { Tool, ToolContext, ToolOutcome } from '../tools/tool.ts';
import { defineDiscoveryTools, type Rerank } from './definitions.ts';
import { createActiveTools, createLookup, discoveryToolNames } from './active-tools.ts';
import { createToolIndex, type ToolIndex } from './tool-index.ts';
import { toIndexedTool } from './tool-fields.ts';
import type { Principal } from '../base/principal.ts';

export { discoveryToolNames } from './active-tools.ts';

/** What the discovery tools work with. */
export interface DiscoveryOptions {
  /**
   * The names of the tools that the model sees in the next step, without the four themselves. It belongs to one run, which may
   * put names of its own in before it starts; loading adds to it.
   */
  readonly active: Set<string>;
  /** Where the loaded set waits for the next request. */
  readonly storage: Storage;
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
  /** The most tools that may be active: every one costs tokens in every step. */
  readonly mostActive?: number;
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
  const { isAllowed = () => true, ttlMs = dayMs, mostActive = 128 } = options;
  const lookup = createLookup(index, isAllowed);
  const active = createActiveTools({ ...options, isAllowed, ttlMs, mostActive, lookup });
  const tools = defineDiscoveryTools({ index, lookup, active, isAllowed, rerank: options.rerank });
  const byName = new Map(tools.map((tool) => [tool.definition.name, tool]));
  return {
    definitions: tools.map(({ definition }) => definition),
    tools,
    restore: () => active.restore(),
    activeNames: () => active.names(),
    handle: () => active.handle(),
    notActive: (name) => lookup.find(name) ? notLoaded(name) : lookup.notFound(name, 'call'),
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

/** What discovery for runs works with. */
export interface RunDiscoveryOptions {
  /** Where loaded sets wait for the next request. */
  readonly storage: Storage;
  readonly rerank?: Rerank | undefined;
  /** Of the composition itself, for the four tools in manifests. */
  readonly principal: ToolContext['principal'];
}

/** Creates discovery for runs. */
export function createRunDiscovery({ storage, rerank, principal: host }: RunDiscoveryOptions): Discovery {
  const indexes = new WeakMap<readonly Tool[], ToolIndex>();
  const indexOf = (tools: readonly Tool[]): ToolIndex => {
    const index = indexes.get(tools) ?? createToolIndex(indexed(tools));
    indexes.set(tools, index);
    return index;
  };
  const common = { storage, rerank };
  const nothing = { ...common, active: new Set<string>(), principal: host };
  return {
    tools: discoveryTools(createToolIndex([]), nothing).tools,
    open: (tools, { active, ...run }) => discoveryTools(indexOf(tools), { ...common, ...run, active: new Set(active) }),
  };
}

const own: ReadonlySet<string> = new Set(discoveryToolNames);

function indexed(tools: readonly Tool[]) {
  return tools.filter(({ definition }) => !own.has(definition.name)).map(({ definition }) => toIndexedTool(definition));
}

/** Discovery for runs. */
export interface Discovery {
  /** The discovery tools over no tools, as manifests list them. Only agents that name them have discovery. */
  readonly tools: readonly Tool[];
  /** Returns the discovery tools over the tools of one run. The same array is indexed once. */
  open(tools: readonly Tool[], run: DiscoveringRun): OpenDiscovery;
}

/** A run with discovery. */
export interface DiscoveringRun {
  /** The names that are active from the start. */
  readonly active: readonly string[];
  readonly principal: Principal;
  readonly chatId: string;
  /** Returns whether a tool may be found and used now. */
  readonly isAllowed: (name: string) => boolean;
}

/** Discovery in one run. */
export interface OpenDiscovery {
  readonly tools: readonly Tool[];
  /** Activates the tools that an earlier request has loaded. */
  restore(): Promise<void>;
  activeNames(): readonly string[];
  /** Returns the error for a call of a tool that is not active. */
  notActive(name: string): PinnaceError;
}
