/** What an agent may use of all tools, as far as their definitions say: the one rule for runs, the registry and plans. */

import type { Trust } from '../permission/label.ts';
import { PinnaceError } from '../base/errors.ts';
import type { LanguageModelV4CallOptions, LanguageModelV4ProviderTool } from '@ai-sdk/provider';
import type { Agent, ToolDefinition } from '../base/schema.ts';
import { suggest } from '../base/check-options.ts';
import { isRecord } from '../base/is-record.ts';

/** Why an agent cannot use a definition: the first reason that applies. */
export type Unavailable = 'not_allowed' | 'disabled' | 'hidden';

/** The tools that an agent names: by their ids, or by a prefix with `*`. */
export interface Allowlist {
  /** With `mustBeNamed` a bare `*` does not mean the tool. */
  has(toolId: string, mustBeNamed?: boolean): boolean;
  /** The exact ids that `has` was not called with. */
  unmatched(): readonly string[];
}

/** Creates the allowlist of an agent's `entryTools`. */
export function createAllowlist(entryTools: readonly string[]): Allowlist {
  const exact = new Set(entryTools.filter((entry) => !isPattern(entry)));
  const prefixes = entryTools.filter(isPattern).map((pattern) => pattern.slice(0, -1));
  const unmatched = new Set(exact);
  return {
    has(toolId, mustBeNamed = false) {
      if (!exact.has(toolId)) {
        return prefixes.some((prefix) => toolId.startsWith(prefix) && !(mustBeNamed && prefix === ''));
      }
      unmatched.delete(toolId);
      return true;
    },
    unmatched: () => [...unmatched],
  };
}

/** The ids among `entryTools` that name one tool each, without those of providers: they have no record. */
export function exactIds(entryTools: readonly string[]): readonly string[] {
  return entryTools.filter((entry) => !isPattern(entry) && !isOfProvider(entry));
}

/** Whether an entry is a tool of a provider by its own name, such as "anthropic.web_search_20250305". */
export function isOfProvider(entry: string): boolean {
  return entry.includes('.');
}

/** Whether an entry is a prefix. */
export function isPattern(entry: string): boolean {
  return entry.endsWith('*');
}

/** Why an agent may not use a tool that is allowed to it, or is not; `undefined`: it may. */
export function unavailability(
  { state, visibility }: Pick<ToolDefinition, 'state' | 'visibility'>,
  isAllowed: boolean,
): Unavailable | undefined {
  if (!isAllowed) return 'not_allowed';
  if (state === 'disabled') return 'disabled';
  return visibility === 'hidden' ? 'hidden' : undefined;
}

/** Those that an agent has in plans alone. */
export const planToolIds = ['create', 'send', 'ask_human', 'plan_revise', 'finish'] as const;

export const builtinToolIds: ReadonlySet<string> = new Set([
  'current_time',
  'calculator',
  'code_run',
  'fetch_url',
  'tool_find',
  'tool_describe',
  'tool_load',
  'tool_active',
  'retrieve',
  'remember',
  'forget',
  ...planToolIds,
]);

type Declared = Pick<LanguageModelV4ProviderTool, 'id' | 'args'>;

/** What the `config` of such a tool must be. */
export const providerConfigForm = 'must be { id: "provider.tool", args? }';

/** What the provider is told; `undefined` for all other tools. */
export function declaredBy({ type, config }: Pick<ToolDefinition, 'type' | 'config'>): Declared | undefined {
  if (type !== 'provider' || typeof config?.['id'] !== 'string' || !/^[\w-]+\.\w+$/.test(config['id'])) {
    return undefined;
  }
  const args = config['args'] ?? {};
  return isRecord(args) ? { id: config['id'] as Declared['id'], args } : undefined; // the pattern has the dot
}

/** @throws PinnaceError `invalid_argument`, reason `provider_tool`, for tools of another provider than the model's. */
export function requireProviderTools(
  tools: LanguageModelV4CallOptions['tools'],
  { provider }: { readonly provider: string },
): void {
  const names = provider.split('.');
  for (const tool of tools ?? []) {
    if (tool.type === 'provider' && !names.includes(tool.id.split('.')[0] ?? '')) throw notOf(tool.id, provider);
  }
}

/** The error for a package that says that its model does not take a tool. */
export function notOf(id: string, provider: string): PinnaceError {
  return new PinnaceError(
    'invalid_argument',
    `Cannot call the model: "${provider}" has no tool "${id}"; remove it from the agent, or use a model of its provider`,
    { details: { reason: 'provider_tool', tool: id, provider } },
  );
}

/** The error for a name that no tool has, with the nearest names. */
export function unknownTool(action: string, { agentId, toolId, known }: {
  readonly agentId: string;
  readonly toolId: string;
  readonly known: Iterable<string>;
}): PinnaceError {
  const suggestions = suggest(toolId, new Set([...known, ...builtinToolIds]));
  const meant = suggestions.map((id) => `"${id}"`).join(' or ');
  const why = `no tool has the id "${toolId}" that agent "${agentId}" names in "entryTools"`;
  const advice = meant === '' ? 'tools of MCP servers belong into "mcp"' : `did you mean ${meant}?`;
  return new PinnaceError('invalid_argument', `Cannot ${action}: ${why}; ${advice}`, {
    details: { reason: 'unknown_tool', field: 'entryTools', suggestions },
  });
}

/**
 * Checks the agents of a composition whose tools are all known.
 *
 * @throws PinnaceError `invalid_argument`, reason `unknown_tool`, with the first name that no tool has.
 */
export function requireKnownTools(
  agents: readonly Pick<Agent, 'id' | 'tenant' | 'entryTools' | 'mcp'>[],
  { tools, shared }: {
    /** The tools of the catalog; one with a tenant is that tenant's own. */
    readonly tools: readonly { readonly id: string; readonly tenant?: string | undefined }[];
    /** The ids of the composition's tools. */
    readonly shared: readonly string[];
  },
): void {
  for (const { id: agentId, tenant, entryTools, mcp } of agents) {
    const hasServers = Object.keys(mcp).length > 0; // which tools they have is not known yet
    const own = tools.filter((tool) => tool.tenant === undefined || tool.tenant === tenant).map(({ id }) => id);
    const known = new Set([...shared, ...own]);
    const toolId = exactIds(entryTools).find((one) =>
      !known.has(one) && !builtinToolIds.has(one) && !(hasServers && one.includes('__'))
    );
    if (toolId !== undefined) throw unknownTool('compose the runtime', { agentId, toolId, known });
  }
}

/**
 * Whether the definition wants every call, or every call that may change something, approved by a person. With `rules` it leaves that
 * to the rules of a guarded agent.
 */
export function needsApproval({ approval = 'never', annotations }: ToolDefinition, trust: Trust = 'open'): boolean {
  const isMutating = approval === 'mutating' || (approval === 'rules' && trust !== 'guarded');
  return approval === 'always' || (isMutating && annotations?.readOnlyHint !== true);
}
