/** Reads what a server offers now, or what was approved before. */

import { PinnaceError } from '../base/errors.ts';
import type { McpServer } from '../base/schema.ts';
import type { Secret } from '../base/secret.ts';
import type { McpAuthorization, McpConnection, McpConnector, McpContentKind } from '../contracts/mcp/mcp-connector.ts';
import { readApps } from './apps/candidate-apps.ts';
import { type OfferedLists, pinnedContent } from './content/kinds.ts';
import type { Offered } from './sign-in/look.ts';

/** What was approved before: an approval without a sign-in changes where people sign in, and nothing else. */
export function pinnedOffer({ pinned }: McpServer): Offered {
  const { protocolVersion = '', serverInfo = { name: '', version: '' }, instructions, tools = [] } = pinned ?? {};
  const listOf = (kind: McpContentKind) => ({
    items: pinnedContent(pinned, kind).map(({ definition }) => definition),
    isCut: false,
  });
  const lists = { prompts: listOf('prompts'), resources: listOf('resources'), templates: listOf('templates') };
  return {
    protocolVersion,
    serverInfo,
    instructions,
    tools: tools.map(({ definition }) => definition),
    lists,
    apps: new Map(),
  };
}

/** Connects, and reads everything. */
export async function readOffer(
  connector: McpConnector,
  { server, ...options }: {
    readonly server: McpServer;
    readonly secret: Secret | undefined;
    readonly authorization?: McpAuthorization;
    readonly questions: boolean;
    readonly signal: AbortSignal;
  },
): Promise<Offered> {
  const connection = await connector.connect(server, options);
  try {
    const { protocolVersion, serverInfo, instructions } = connection;
    const tools = await connection.listTools(options);
    const lists = await readLists(connection, options);
    const resources = lists.resources?.items ?? [];
    const apps = await readApps(connection, { server, tools, resources, signal: options.signal });
    return { protocolVersion, serverInfo, instructions, tools, lists, apps };
  } finally {
    await connection.close();
  }
}

/** A server whose prompts or resources cannot be listed may still have tools. */
async function readLists(
  connection: McpConnection,
  { signal }: { readonly signal: AbortSignal },
): Promise<OfferedLists> {
  const listOf = async (kind: McpContentKind) =>
    await connection.listContent(kind, { signal }).catch((error: unknown) => {
      if (error instanceof PinnaceError && error.details?.['reason'] === 'mcp_error') return undefined;
      throw error;
    });
  return {
    prompts: await listOf('prompts'),
    resources: await listOf('resources'),
    templates: await listOf('templates'),
  };
}
