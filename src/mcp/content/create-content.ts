/** The prompts and resources of a runtime's MCP servers. */

import { requirePinnedApp } from '../apps/app-reader.ts';
import type { McpServer } from '../../base/schema.ts';
import type { McpContent } from '../../contracts/mcp/content-reader.ts';
import type { McpContentKind } from '../../contracts/mcp/mcp-connector.ts';
import { type ContentReaderOptions, createContentReader } from './content-reader.ts';
import { isUsable, selectedContent, toPromptEntry, toResourceEntry, toTemplateEntry } from './entries.ts';
import type { McpSession } from '../session.ts';

/** Creates them. */
export function createMcpContent(
  { openSession, ...options }: Omit<ContentReaderOptions, 'session'> & { readonly openSession: () => McpSession },
): McpContent {
  const usable = (server: McpServer, kind: McpContentKind, selection: Parameters<McpContent['prompts']>[1]) =>
    isUsable(server)
      ? selectedContent(server, kind, selection)
        .filter(({ id, item }) => item.status === 'valid' && !options.watch.isHidden(server, kind, id))
        .map(({ item }) => item)
      : [];
  return {
    prompts: (server, selection) => usable(server, 'prompts', selection).map((item) => toPromptEntry(server, item)),
    resources: (server, selection) =>
      usable(server, 'resources', selection).map((item) => toResourceEntry(server, item)),
    templates: (server, selection) =>
      usable(server, 'templates', selection).map((item) => toTemplateEntry(server, item)),
    requireApp: (wanted, target) => void requirePinnedApp(wanted, target, options.apps),
    open: () => createContentReader({ ...options, session: openSession() }),
  };
}
