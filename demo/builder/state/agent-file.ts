/** One agent with all that it names, as a document that every registry imports, and as a link. No value of a secret is in either. */

import type {
  Agent,
  CatalogExport,
  DataSource,
  McpServer,
  Provider,
  ToolDefinition,
} from '../../../src/registry/index.ts';

/** The document, its records as they are. */
export interface AgentDocument extends Pick<CatalogExport, 'format' | 'formatVersion'> {
  readonly providers: readonly Provider[];
  readonly dataSources: readonly DataSource[];
  readonly mcpServers: readonly McpServer[];
  readonly tools: readonly ToolDefinition[];
  readonly agents: readonly Agent[];
}

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

/** The longest link that is made, in characters; and the longest that is read. */
export const longestLink = 32_768;
const longestRead = 65_536;
/** The longest document of a link, in bytes: a short link can expand to gigabytes. */
const longestDocument = 262_144;

/** The prefix of the document in an address. */
export const linkMark = '#agent=';

/** Returns the link; `undefined`: it would be too long. Approvals of MCP servers stay out: they are reviewed again anyway. */
export async function toLink(document: AgentDocument, page: string): Promise<string | undefined> {
  const { mcpServers, ...rest } = document;
  const small = { ...rest, mcpServers: mcpServers.map(({ pinned: _, findings: __, ...server }) => server) };
  const packed = new Blob([JSON.stringify(small)]).stream().pipeThrough(new CompressionStream('deflate-raw'));
  const bytes = new Uint8Array(await new Response(packed).arrayBuffer());
  const text = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
  const link = `${page}${linkMark}${text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}`;
  return link.length > longestLink ? undefined : link;
}

/**
 * Returns a link's content as unvalidated data.
 *
 * @throws Error for a text that is no such link, is too long, or holds too much.
 */
export async function fromLink(hash: string): Promise<unknown> {
  const text = hash.startsWith(linkMark) ? hash.slice(linkMark.length) : '';
  if (!/^[\w-]+$/.test(text)) throw new Error('it is incomplete or was changed');
  if (text.length > longestRead) throw new Error('it is too long');
  const bytes = Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0));
  const json = await unpack(bytes).catch((cause: unknown) => {
    if (cause instanceof RangeError) throw new Error('it is too large', { cause });
    throw new Error('it is incomplete or was changed', { cause });
  });
  try {
    return JSON.parse(json);
  } catch (cause) {
    throw new Error('it contains no agent', { cause });
  }
}

async function unpack(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let text = '';
  let length = 0;
  for await (const chunk of chunksOf(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw')))) {
    length += chunk.length;
    if (length > longestDocument) throw new RangeError('Too long');
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** Streams cannot be iterated in every browser. */
async function* chunksOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
