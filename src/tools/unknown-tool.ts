/** Names in `entryTools` that no tool has: a typing error would otherwise be a tool that is silently missing. */

import { PinnaceError } from '../base/errors.ts';
import type { Agent } from '../base/schema.ts';
import { exactIds } from './availability.ts';
import { builtinToolIds } from './builtin/builtin-ids.ts';
import { suggest } from './builtin/suggest.ts';

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
