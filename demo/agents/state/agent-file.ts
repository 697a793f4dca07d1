/** One agent with all that it names, as a document that every registry imports, and as a link. No value of a secret is in either. */

import type { AgentDocument } from '../../control/trial-control.ts';
import type { CatalogExport } from '../../../src/registry/index.ts';
import { packLink, unpackLink } from '../../share/state/packed-link.ts';

/** Returns the part of a catalogue that an agent needs; `undefined`: the agent is not in it. */
export function documentOf(all: CatalogExport, agentId: string): AgentDocument | undefined {
  const { agents, tools, mcpServers, providers, dataSources, format, formatVersion } = all as unknown as AgentDocument; // of a registry
  const agent = agents.find(({ id }) => id === agentId);
  if (!agent) return undefined;
  const { entryTools, mcp, providerId } = agent;
  const isNamed = (id: string): boolean =>
    entryTools.some((entry) => entry.endsWith('*') ? id.startsWith(entry.slice(0, -1)) : id === entry);
  return {
    format,
    formatVersion,
    providers: providers.filter(({ id }) => id === providerId),
    dataSources: dataSources.filter(({ id }) => agent.dataSources.includes(id)),
    mcpServers: mcpServers.filter(({ id, alias }) =>
      Object.hasOwn(mcp, id) || entryTools.some((entry) => entry.startsWith(`${alias}__`))
    ),
    // Do not export which other agents use a tool.
    tools: tools.filter(({ id }) => isNamed(id)).map(({ boundAgents: _, ...tool }) => tool),
    agents: [agent],
  };
}

/** The longest link that is made, in characters. */
export const longestLink = 32_768;

/** The prefix of the document in an address. */
export const linkMark = '#agent=';

/** Returns the link; `undefined`: it would be too long. Approvals of MCP servers stay out: they are reviewed again anyway. */
export async function toLink(document: AgentDocument, page: string): Promise<string | undefined> {
  const { mcpServers, ...rest } = document;
  const small = { ...rest, mcpServers: mcpServers.map(({ pinned: _, findings: __, ...server }) => server) };
  const link = await packLink(linkMark, small, page);
  return link.length > longestLink ? undefined : link;
}

/**
 * Returns a link's content as unvalidated data.
 *
 * @throws Error for a text that is no such link, is too long, or holds too much.
 */
export function fromLink(hash: string): Promise<unknown> {
  return unpackLink(linkMark, hash, 'agent');
}
