/** The routes of prompts, resources and apps of the MCP servers that an agent selects. */

import * as v from 'valibot';
import { maxLimit } from '../../../../src/base/page.ts';
import { parse } from '../../../../src/base/parse.ts';
import {
  type McpApp,
  McpAppCallRequest,
  type McpAppCallResult,
  McpAppRequest,
  type McpCompletion,
  McpCompletionRequest,
  type McpPrompt,
  type McpPromptEntry,
  McpPromptRequest,
  type McpResource,
  type McpResourcePage,
  type McpResourceQuery,
  McpResourceRequest,
} from '../../../../src/contracts/mcp/content.ts';
import { McpAppCsp } from '../../../../src/base/schema.ts';
import { readAs } from '../body.ts';
import { json, type Operations, shapeOf } from '../operation.ts';
import { ErrorData } from '../schemas.ts';
import type { Served } from '../served.ts';

const described = {
  server: v.string(),
  alias: v.string(),
  name: v.string(),
  title: v.optional(v.string()),
  description: v.optional(v.string()),
};
const PromptEntry = v.object({
  ...described,
  command: v.string(),
  arguments: v.array(v.object({ name: v.string(), description: v.optional(v.string()), required: v.boolean() })),
});
const ResourceEntry = v.object({
  ...described,
  uri: v.string(),
  mimeType: v.optional(v.string()),
  size: v.optional(v.number()),
});
const TemplateEntry = v.object({
  ...described,
  uriTemplate: v.string(),
  variables: v.array(v.string()),
  mimeType: v.optional(v.string()),
});
const ResourcePage = v.object({
  items: v.array(ResourceEntry),
  templates: v.array(TemplateEntry),
  total: v.number(),
  nextPageToken: v.optional(v.string()),
});
const untrusted = {
  server: v.string(),
  alias: v.string(),
  untrusted: v.literal(true),
  truncated: v.optional(v.literal(true)),
};
const Resource = v.object({
  ...untrusted,
  uri: v.string(),
  contents: v.array(v.object({
    uri: v.string(),
    mimeType: v.optional(v.string()),
    text: v.optional(v.string()),
    base64: v.optional(v.string()),
    omitted: v.optional(v.number()),
  })),
});
const Prompt = v.object({
  ...untrusted,
  name: v.string(),
  description: v.optional(v.string()),
  messages: v.array(v.object({
    role: v.picklist(['user', 'assistant']),
    content: v.object({
      type: v.picklist(['text', 'image', 'audio', 'resource', 'link', 'other']),
      text: v.optional(v.string()),
      omitted: v.optional(v.number()),
      uri: v.optional(v.string()),
    }),
  })),
});
const App = v.object({
  server: v.string(),
  alias: v.string(),
  host: v.string(),
  uri: v.string(),
  sha256: v.string(),
  untrusted: v.literal(true),
  html: v.string(),
  csp: McpAppCsp,
});
const AppCallResult = v.object({
  ok: v.boolean(),
  output: v.optional(v.unknown()),
  error: v.optional(ErrorData),
  question: v.optional(v.string()),
});
const Completion = v.object({ values: v.array(v.string()), hasMore: v.boolean() });
const ResourcesQuery = v.strictObject({
  query: v.optional(v.pipe(v.string(), v.maxLength(200))),
  server: v.optional(v.pipe(v.string(), v.maxLength(128))),
  limit: v.optional(v.pipe(v.string(), v.regex(/^\d{1,3}$/, `must be 1 to ${maxLimit}`))),
  pageToken: v.optional(v.pipe(v.string(), v.maxLength(4_000))),
});

/** The runtime checks the scope, and audits what it rejects. */
const common = { scope: 'run:create', checkedBy: 'runtime' } as const;

/** The operations of these routes. */
export const mcpContentOperations = {
  'GET /v1/agents/:id/prompts': {
    ...common,
    operationId: 'listMcpPrompts',
    summary: "The approved prompts of an agent's MCP servers",
    responses: {
      200: json<{ readonly items: readonly McpPromptEntry[] }>(
        'The prompts',
        shapeOf(v.object({ items: v.array(PromptEntry) })),
      ),
    },
    problems: [404],
  },
  'POST /v1/agents/:id/prompts/get': {
    ...common,
    operationId: 'getMcpPrompt',
    summary: 'A prompt with its arguments filled in, for a person to read and send',
    body: shapeOf(McpPromptRequest),
    responses: { 200: json<McpPrompt>('The prompt; its texts are untrusted', shapeOf(Prompt)) },
    problems: [404, 413, 415],
  },
  'POST /v1/agents/:id/prompts/complete': {
    ...common,
    operationId: 'completeMcpArgument',
    summary: 'Values for an argument of a prompt or a variable of a template',
    body: shapeOf(McpCompletionRequest),
    responses: { 200: json<McpCompletion>('The values', shapeOf(Completion)) },
    problems: [404, 413, 415],
  },
  'GET /v1/agents/:id/resources': {
    ...common,
    operationId: 'listMcpResources',
    summary: "The approved resources of an agent's MCP servers",
    query: ResourcesQuery,
    responses: {
      200: json<McpResourcePage>('A page of resources; the first page has the templates', shapeOf(ResourcePage)),
    },
    problems: [404],
  },
  'POST /v1/agents/:id/resources/read': {
    ...common,
    operationId: 'readMcpResource',
    summary: 'Read an approved resource, or what an approved template expands to',
    body: shapeOf(McpResourceRequest),
    responses: { 200: json<McpResource>('The contents, which are untrusted', shapeOf(Resource)) },
    problems: [404, 413, 415],
  },
  'POST /v1/agents/:id/apps/read': {
    ...common,
    operationId: 'readMcpApp',
    summary: 'Read an approved app (MCP Apps), if it has not changed since',
    body: shapeOf(McpAppRequest),
    responses: { 200: json<McpApp>('The app; its HTML is untrusted', shapeOf(App)) },
    problems: [404, 413, 415],
  },
  'POST /v1/agents/:id/apps/call': {
    ...common,
    operationId: 'callFromMcpApp',
    summary: "Call a tool of an app's own server, as the app asks",
    body: shapeOf(McpAppCallRequest),
    responses: {
      200: json<McpAppCallResult>(
        'The output or the error; with `question`, a person must approve',
        shapeOf(AppCallResult),
      ),
    },
    problems: [404, 413, 415],
  },
} satisfies Operations;

/** Creates the routes. */
export function mcpContentRoutes({ runtime, serve: table }: Served): void {
  const serve = table(mcpContentOperations);
  const { prompts, resources, apps } = runtime;
  serve('GET /v1/agents/:id/prompts', async (c) => {
    return c.json(await prompts.list(c.req.param('id'), c.var.principal));
  });
  serve('POST /v1/agents/:id/prompts/get', async (c) => {
    const request = await readAs(c.req.raw, McpPromptRequest, { what: 'the prompt' });
    const { signal } = c.req.raw;
    return c.json(await prompts.get(c.req.param('id'), request, c.var.principal, { signal }));
  });
  serve('POST /v1/agents/:id/prompts/complete', async (c) => {
    const request = await readAs(c.req.raw, McpCompletionRequest, { what: 'the completion' });
    const { signal } = c.req.raw;
    return c.json(await prompts.complete(c.req.param('id'), request, c.var.principal, { signal }));
  });
  serve('GET /v1/agents/:id/resources', async (c) => {
    const { limit, ...query } = parse(ResourcesQuery, c.req.query(), { what: 'the query' });
    const wanted: McpResourceQuery = { ...query, ...(limit !== undefined && { limit: Number(limit) }) };
    return c.json(await resources.list(c.req.param('id'), c.var.principal, wanted));
  });
  serve('POST /v1/agents/:id/resources/read', async (c) => {
    const request = await readAs(c.req.raw, McpResourceRequest, { what: 'the resource' });
    const { signal } = c.req.raw;
    return c.json(await resources.read(c.req.param('id'), request, c.var.principal, { signal }));
  });
  serve('POST /v1/agents/:id/apps/read', async (c) => {
    const request = await readAs(c.req.raw, McpAppRequest, { what: 'the app' });
    return c.json(await apps.read(c.req.param('id'), request, c.var.principal, { signal: c.req.raw.signal }));
  });
  serve('POST /v1/agents/:id/apps/call', async (c) => {
    const request = await readAs(c.req.raw, McpAppCallRequest, { what: 'the call' });
    return c.json(await apps.call(c.req.param('id'), request, c.var.principal, { signal: c.req.raw.signal }));
  });
}
