/** Prompts and resources of the MCP servers that an agent selects, for its callers and as files of its runs. */

import { PinnaceError } from '../../base/errors.ts';
import { checkData } from '../../base/json.ts';
import { limitOf, pageNumber, readPagePlace, writePageToken } from '../../base/page.ts';
import { parse } from '../../base/parse.ts';
import {
  McpCompletionRequest,
  McpPromptRequest,
  type McpResourceEntry,
  type McpResourceQuery,
  McpResourceRequest,
  type McpTemplateEntry,
  type RuntimePrompts,
  type RuntimeResources,
} from '../../contracts/mcp/content.ts';
import type { ReadInRun } from '../attachments/files.ts';
import type { RuntimeParts } from '../runtime-options.ts';
import { createApps } from './mcp-apps.ts';
import { equip, guardedRead, readOf, targetOf, use } from './read-mcp.ts';
import type { RuntimeContent } from './runtime-content.ts';

/** Creates the methods. */
export function createRuntimeContent(parts: RuntimeParts): RuntimeContent {
  return {
    prompts: createPrompts(parts),
    resources: createResources(parts),
    apps: createApps(parts),
    readInRun: createReadInRun(parts),
  };
}

function createPrompts(parts: RuntimeParts): RuntimePrompts {
  return {
    async list(agentId, principal) {
      const { agent, servers } = await equip(agentId, principal, parts);
      if (servers.length === 0) return { items: [] };
      const content = await parts.mcp.content();
      return {
        items: servers.flatMap(({ id, server }) => server ? content.prompts(server, agent.mcp[id] ?? {}) : []),
      };
    },
    async get(agentId, input, principal, { signal } = {}) {
      checkData(input);
      const { server, name, arguments: given } = parse(McpPromptRequest, input, { what: 'the prompt' });
      const what = readOf('mcp.prompt.get', server, { name });
      const asked = { agentId, principal, what, signal };
      return await use(asked, parts, (reader, target) => reader.prompt(name, given, target));
    },
    async complete(agentId, input, principal, { signal } = {}) {
      checkData(input);
      const { server, ...request } = parse(McpCompletionRequest, input, { what: 'the completion' });
      requireOne(request);
      const { prompt, uriTemplate } = request;
      const what = readOf('mcp.complete', server, { prompt, uriTemplate });
      const asked = { agentId, principal, what, signal };
      return await use(asked, parts, (reader, target) => reader.complete(request, target));
    },
  };
}

function createResources(parts: RuntimeParts): RuntimeResources {
  return {
    async list(agentId, principal, query = {}) {
      const page = await readPage(query);
      const { agent, servers } = await equip(agentId, principal, parts);
      if (servers.length === 0) return { items: [], templates: [], total: 0 };
      const content = await parts.mcp.content();
      const wanted = servers.flatMap(({ id, server }) =>
        server && (query.server ?? id) === id ? [{ server, selection: agent.mcp[id] ?? {} }] : []
      );
      const resources = wanted.flatMap(({ server, selection }) => content.resources(server, selection));
      const templates = wanted.flatMap(({ server, selection }) => content.templates(server, selection));
      return await pageOf(resources, templates, page);
    },
    async read(agentId, input, principal, { signal } = {}) {
      const { server, uri } = parse(McpResourceRequest, input, { what: 'the resource' });
      const what = readOf('mcp.resource.read', server, { uri });
      return await use({ agentId, principal, what, signal }, parts, (reader, target) => reader.read(uri, target));
    },
  };
}

/** Reads a resource that a message refers to, in the name of the run's caller. */
function createReadInRun(parts: RuntimeParts): ReadInRun {
  return async ({ agent, principal, redaction, signal, scope }, { server, uri }) => {
    const { servers } = await parts.resolver.equip(agent.id, principal);
    const target = targetOf({ agent, servers, principal, serverId: server, redaction, signal }, parts);
    const what = readOf('mcp.resource.read', server, { uri });
    return await guardedRead(what, { agent, principal, parts }, async () => {
      const content = await parts.mcp.content();
      return await scope.keep(parts.mcp, () => content.open()).read(uri, target);
    });
  };
}

function requireOne(
  { prompt, uriTemplate }: { readonly prompt?: string | undefined; readonly uriTemplate?: string | undefined },
): void {
  if ((prompt === undefined) !== (uriTemplate === undefined)) return;
  throw new PinnaceError('invalid_argument', 'Cannot complete: name either "prompt" or "uriTemplate"', {
    details: { reason: 'mcp_nothing_to_complete' },
  });
}

interface WantedPage {
  readonly most: number;
  readonly from: number;
  /** What the page token belongs to. */
  readonly of: { readonly query: string; readonly server: string | null };
}

async function readPage({ query = '', server, limit, pageToken }: McpResourceQuery): Promise<WantedPage> {
  const most = limitOf({ ...(limit !== undefined && { limit }) });
  const of = { query: query.trim().toLowerCase(), server: server ?? null };
  return { most, of, from: pageToken === undefined ? 0 : await readPagePlace(of, pageToken, pageNumber) };
}

async function pageOf(
  resources: readonly McpResourceEntry[],
  templates: readonly McpTemplateEntry[],
  { most, from, of }: WantedPage,
) {
  const isWanted = (texts: readonly (string | undefined)[]): boolean =>
    texts.some((text) => text?.toLowerCase().includes(of.query));
  const found = resources.filter(({ uri, name, title }) => isWanted([uri, name, title]));
  const items = found.slice(from, from + most);
  const more = from + most < found.length && { nextPageToken: await writePageToken(of, String(from + most)) };
  const shown = from > 0
    ? []
    : templates.filter(({ uriTemplate, name, title }) => isWanted([uriTemplate, name, title]));
  return { items, templates: shown, total: found.length, ...more };
}
