/** The routes of prompts, resources and apps of the MCP servers that an agent selects. */

import { Hono } from 'hono';
import * as v from 'valibot';
import { maxLimit } from '../../../../src/base/page.ts';
import { parse } from '../../../../src/base/parse.ts';
import {
  McpAppCallRequest,
  McpAppRequest,
  McpCompletionRequest,
  McpPromptRequest,
  type McpResourceQuery,
  McpResourceRequest,
} from '../../../../src/contracts/mcp/content.ts';
import { McpAppCsp } from '../../../../src/base/schema.ts';
import type { HostedRuntime } from '../../../../src/runtime/runtime.ts';
import type { Signed } from '../authentication.ts';
import { readAs } from '../body.ts';
import type { SignedEnv } from '../env.ts';
import { json, shapeOf, type SignedOperation } from '../operation.ts';
import { ErrorData } from '../schemas.ts';

/** What the routes need. */
export interface McpContentRoutesOptions {
  readonly runtime: Pick<HostedRuntime, 'prompts' | 'resources' | 'apps'>;
  readonly signed: Signed;
}

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

const listMcpPrompts: SignedOperation = {
  ...common,
  operationId: 'listMcpPrompts',
  summary: "The approved prompts of an agent's MCP servers",
  responses: { 200: json('The prompts', shapeOf(v.object({ items: v.array(PromptEntry) }))) },
  problems: [404],
};

const getMcpPrompt: SignedOperation = {
  ...common,
  operationId: 'getMcpPrompt',
  summary: 'A prompt with its arguments filled in, for a person to read and send',
  body: shapeOf(McpPromptRequest),
  responses: { 200: json('The prompt; its texts are untrusted', shapeOf(Prompt)) },
  problems: [404, 413, 415],
};

const completeMcpArgument: SignedOperation = {
  ...common,
  operationId: 'completeMcpArgument',
  summary: 'Values for an argument of a prompt or a variable of a template',
  body: shapeOf(McpCompletionRequest),
  responses: { 200: json('The values', shapeOf(Completion)) },
  problems: [404, 413, 415],
};

const listMcpResources: SignedOperation = {
  ...common,
  operationId: 'listMcpResources',
  summary: "The approved resources of an agent's MCP servers",
  query: ResourcesQuery,
  responses: { 200: json('A page of resources; the first page has the templates', shapeOf(ResourcePage)) },
  problems: [404],
};

const readMcpResource: SignedOperation = {
  ...common,
  operationId: 'readMcpResource',
  summary: 'Read an approved resource, or what an approved template expands to',
  body: shapeOf(McpResourceRequest),
  responses: { 200: json('The contents, which are untrusted', shapeOf(Resource)) },
  problems: [404, 413, 415],
};

const readMcpApp: SignedOperation = {
  ...common,
  operationId: 'readMcpApp',
  summary: 'Read an approved app (MCP Apps), if it has not changed since',
  body: shapeOf(McpAppRequest),
  responses: { 200: json('The app; its HTML is untrusted', shapeOf(App)) },
  problems: [404, 413, 415],
};

const callFromMcpApp: SignedOperation = {
  ...common,
  operationId: 'callFromMcpApp',
  summary: "Call a tool of an app's own server, as the app asks",
  body: shapeOf(McpAppCallRequest),
  responses: { 200: json('The output or the error; with `question`, a person must approve', shapeOf(AppCallResult)) },
  problems: [404, 413, 415],
};

/** Creates the routes. */
export function mcpContentRoutes(
  { runtime, signed }: McpContentRoutesOptions,
): Hono<SignedEnv> {
  const app = new Hono<SignedEnv>();
  const { prompts, resources, apps } = runtime;
  app.get('/agents/:id/prompts', signed(listMcpPrompts), async (c) => {
    return c.json(await prompts.list(c.req.param('id'), c.var.principal));
  });
  app.post('/agents/:id/prompts/get', signed(getMcpPrompt), async (c) => {
    const request = await readAs(c.req.raw, McpPromptRequest, { what: 'the prompt' });
    const { signal } = c.req.raw;
    return c.json(await prompts.get(c.req.param('id'), request, c.var.principal, { signal }));
  });
  app.post('/agents/:id/prompts/complete', signed(completeMcpArgument), async (c) => {
    const request = await readAs(c.req.raw, McpCompletionRequest, { what: 'the completion' });
    const { signal } = c.req.raw;
    return c.json(await prompts.complete(c.req.param('id'), request, c.var.principal, { signal }));
  });
  app.get('/agents/:id/resources', signed(listMcpResources), async (c) => {
    const { limit, ...query } = parse(ResourcesQuery, c.req.query(), { what: 'the query' });
    const wanted: McpResourceQuery = { ...query, ...(limit !== undefined && { limit: Number(limit) }) };
    return c.json(await resources.list(c.req.param('id'), c.var.principal, wanted));
  });
  app.post('/agents/:id/resources/read', signed(readMcpResource), async (c) => {
    const request = await readAs(c.req.raw, McpResourceRequest, { what: 'the resource' });
    const { signal } = c.req.raw;
    return c.json(await resources.read(c.req.param('id'), request, c.var.principal, { signal }));
  });
  app.post('/agents/:id/apps/read', signed(readMcpApp), async (c) => {
    const request = await readAs(c.req.raw, McpAppRequest, { what: 'the app' });
    return c.json(await apps.read(c.req.param('id'), request, c.var.principal, { signal: c.req.raw.signal }));
  });
  app.post('/agents/:id/apps/call', signed(callFromMcpApp), async (c) => {
    const request = await readAs(c.req.raw, McpAppCallRequest, { what: 'the call' });
    return c.json(await apps.call(c.req.param('id'), request, c.var.principal, { signal: c.req.raw.signal }));
  });
  return app;
}
