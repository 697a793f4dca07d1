/** The routes of prompts, resources and apps of the MCP servers that an agent selects. */

import * as v from 'valibot';
import { maxLimit } from '../../../../src/base/page.ts';
import { parse } from '../../../../src/base/parse.ts';
import { McpAppCsp } from '../../../../src/base/schema.ts';
import { McpAnswers } from '../../../../src/contracts/mcp/answers.ts';
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
import {
  type McpClientMetadata,
  type McpGrant,
  McpSignInCallback,
  McpSignInRequest,
  type McpSignInStart,
} from '../../../../src/contracts/mcp/sign-in.ts';
import type { Served } from '../authentication.ts';
import { empty, ErrorData, json, type Operations, shapeOf } from '../operation.ts';
import { readAs } from '../request.ts';

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

const SignInStart = v.object({ url: v.string(), expiresAt: v.number() });
const SignInGrant = v.object({
  state: v.picklist(['none', 'active', 'broken']),
  grantee: v.picklist(['user', 'tenant']),
  issuer: v.string(),
  scopes: v.array(v.string()),
  expiresAt: v.optional(v.number()),
});

/** The runtime checks the scope, and audits what it rejects. */
const signInBy = { scope: 'run:create', checkedBy: 'runtime', problems: [404, 409, 413, 415] } as const;

export const signInOperations = {
  'POST /v1/mcp-servers/:id/sign-in': {
    ...signInBy,
    operationId: 'startMcpSignIn',
    summary: 'The URL at which the caller signs in to an MCP server',
    body: shapeOf(McpSignInRequest),
    responses: { 200: json<McpSignInStart>('Where the caller signs in, within ten minutes', shapeOf(SignInStart)) },
  },
  'POST /v1/mcp-sign-ins': {
    ...signInBy,
    operationId: 'finishMcpSignIn',
    summary: 'Finish a sign-in with the query parameters of its redirect',
    body: shapeOf(McpSignInCallback),
    responses: { 204: empty('The caller has signed in') },
  },
  'POST /v1/runs/:id/interruptions/:interruptionId': {
    scope: 'tool:approve',
    checkedBy: 'runtime',
    operationId: 'answerInterruption',
    summary: 'Answer the questions of an MCP server',
    body: shapeOf(McpAnswers),
    responses: { 204: empty('The answers are stored') },
    problems: [404, 409, 410, 413, 415],
  },
  'GET /v1/mcp-servers/:id/grant': {
    ...signInBy,
    operationId: 'getMcpGrant',
    summary: "The caller's sign-in at an MCP server, without its tokens",
    responses: { 200: json<McpGrant>('The sign-in', shapeOf(SignInGrant)) },
    problems: [404],
  },
  'DELETE /v1/mcp-servers/:id/grant': {
    ...signInBy,
    operationId: 'deleteMcpGrant',
    summary: 'Sign out of an MCP server: erase the tokens and revoke them',
    responses: { 204: empty('Signed out') },
    problems: [404],
  },
} satisfies Operations;

export function signInRoutes({ runtime, serve: table }: Served): void {
  const serve = table(signInOperations);
  const { mcpSignIns } = runtime;
  serve('POST /v1/mcp-servers/:id/sign-in', async (c) => {
    const request = await readAs(c.req.raw, McpSignInRequest, { what: 'the sign-in' });
    return c.json(await mcpSignIns.start(c.req.param('id'), request, c.var.principal));
  });
  serve('POST /v1/mcp-sign-ins', async (c) => {
    const callback = await readAs(c.req.raw, McpSignInCallback, { what: 'the answer of the sign-in' });
    await mcpSignIns.finish(callback, c.var.principal);
    return c.body(null, 204);
  });
  serve('POST /v1/runs/:id/interruptions/:interruptionId', async (c) => {
    const { id, interruptionId } = c.req.param();
    const answers = await readAs(c.req.raw, McpAnswers, { what: 'the answers' });
    await mcpSignIns.answer(id, interruptionId, answers, c.var.principal);
    return c.body(null, 204);
  });
  serve('GET /v1/mcp-servers/:id/grant', async (c) => {
    return c.json(await mcpSignIns.grant(c.req.param('id'), c.var.principal));
  });
  serve('DELETE /v1/mcp-servers/:id/grant', async (c) => {
    await mcpSignIns.revoke(c.req.param('id'), c.var.principal);
    return c.body(null, 204);
  });
}

const Document = v.object({
  client_id: v.string(),
  client_name: v.string(),
  redirect_uris: v.array(v.string()),
  grant_types: v.array(v.string()),
  response_types: v.array(v.string()),
  token_endpoint_auth_method: v.literal('none'),
});

const clientMetadataOperations = {
  'GET /oauth/client.json': {
    operationId: 'getClientMetadata',
    summary: 'The client ID metadata document of sign-ins to MCP servers',
    responses: { 200: json('The document', shapeOf(Document)) },
  },
} satisfies Operations;

/** Creates the route. The document is public: every page may read it. */
export function clientMetadataRoutes({ serve: table }: Served, metadata: McpClientMetadata): void {
  const serve = table(clientMetadataOperations);
  const headers = { 'access-control-allow-origin': '*', 'cache-control': 'public, max-age=3600' };
  serve('GET /oauth/client.json', (c) => c.json(metadata, 200, headers));
}
