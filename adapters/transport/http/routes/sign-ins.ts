/** The routes by which users of a chat back end sign in to MCP servers, and answer their questions. */

import * as v from 'valibot';
import { McpAnswers } from '../../../../src/contracts/mcp/answers.ts';
import {
  type McpGrant,
  McpSignInCallback,
  McpSignInRequest,
  type McpSignInStart,
} from '../../../../src/contracts/mcp/sign-in.ts';
import { readAs } from '../body.ts';
import { empty, json, type Operations, shapeOf } from '../operation.ts';
import type { Served } from '../served.ts';

const Start = v.object({ url: v.string(), expiresAt: v.number() });
const Grant = v.object({
  state: v.picklist(['none', 'active', 'broken']),
  grantee: v.picklist(['user', 'tenant']),
  issuer: v.string(),
  scopes: v.array(v.string()),
  expiresAt: v.optional(v.number()),
});

/** The runtime checks the scope, and audits what it rejects. */
const common = { scope: 'run:create', checkedBy: 'runtime', problems: [404, 409, 413, 415] } as const;

/** The operations of these routes. */
export const signInOperations = {
  'POST /v1/mcp-servers/:id/sign-in': {
    ...common,
    operationId: 'startMcpSignIn',
    summary: 'The URL at which the caller signs in to an MCP server',
    body: shapeOf(McpSignInRequest),
    responses: { 200: json<McpSignInStart>('Where the caller signs in, within ten minutes', shapeOf(Start)) },
  },
  'POST /v1/mcp-sign-ins': {
    ...common,
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
    ...common,
    operationId: 'getMcpGrant',
    summary: "The caller's sign-in at an MCP server, without its tokens",
    responses: { 200: json<McpGrant>('The sign-in', shapeOf(Grant)) },
    problems: [404],
  },
  'DELETE /v1/mcp-servers/:id/grant': {
    ...common,
    operationId: 'deleteMcpGrant',
    summary: 'Sign out of an MCP server: erase the tokens and revoke them',
    responses: { 204: empty('Signed out') },
    problems: [404],
  },
} satisfies Operations;

/** Creates the routes. */
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
