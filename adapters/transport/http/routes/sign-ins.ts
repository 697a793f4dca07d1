/** The routes by which users of a chat back end sign in to MCP servers, and answer their questions. */

import { Hono } from 'hono';
import * as v from 'valibot';
import { McpAnswers } from '../../../../src/contracts/mcp/answers.ts';
import { McpSignInCallback, McpSignInRequest } from '../../../../src/contracts/mcp/sign-in.ts';
import type { HostedRuntime } from '../../../../src/runtime/runtime.ts';
import type { Signed } from '../authentication.ts';
import { readAs } from '../body.ts';
import type { SignedEnv } from '../env.ts';
import { empty, json, shapeOf, type SignedOperation } from '../operation.ts';

/** What the routes need. */
export interface SignInRoutesOptions {
  readonly runtime: Pick<HostedRuntime, 'mcpSignIns'>;
  readonly signed: Signed;
}

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

const startMcpSignIn: SignedOperation = {
  ...common,
  operationId: 'startMcpSignIn',
  summary: 'The URL at which the caller signs in to an MCP server',
  body: shapeOf(McpSignInRequest),
  responses: { 200: json('Where the caller signs in, within ten minutes', shapeOf(Start)) },
};

const finishMcpSignIn: SignedOperation = {
  ...common,
  operationId: 'finishMcpSignIn',
  summary: 'Finish a sign-in with the query parameters of its redirect',
  body: shapeOf(McpSignInCallback),
  responses: { 204: empty('The caller has signed in') },
};

const getMcpGrant: SignedOperation = {
  ...common,
  operationId: 'getMcpGrant',
  summary: "The caller's sign-in at an MCP server, without its tokens",
  responses: { 200: json('The sign-in', shapeOf(Grant)) },
  problems: [404],
};

const deleteMcpGrant: SignedOperation = {
  ...common,
  operationId: 'deleteMcpGrant',
  summary: 'Sign out of an MCP server: erase the tokens and revoke them',
  responses: { 204: empty('Signed out') },
  problems: [404],
};

const answerInterruption: SignedOperation = {
  scope: 'tool:approve',
  checkedBy: 'runtime',
  operationId: 'answerInterruption',
  summary: 'Answer the questions of an MCP server',
  body: shapeOf(McpAnswers),
  responses: { 204: empty('The answers are stored') },
  problems: [404, 409, 410, 413, 415],
};

/** Creates the routes. */
export function signInRoutes({ runtime, signed }: SignInRoutesOptions): Hono<SignedEnv> {
  const app = new Hono<SignedEnv>();
  const { mcpSignIns } = runtime;
  app.post('/mcp-servers/:id/sign-in', signed(startMcpSignIn), async (c) => {
    const request = await readAs(c.req.raw, McpSignInRequest, { what: 'the sign-in' });
    return c.json(await mcpSignIns.start(c.req.param('id'), request, c.var.principal));
  });
  app.post('/mcp-sign-ins', signed(finishMcpSignIn), async (c) => {
    const callback = await readAs(c.req.raw, McpSignInCallback, { what: 'the answer of the sign-in' });
    await mcpSignIns.finish(callback, c.var.principal);
    return c.body(null, 204);
  });
  app.post('/runs/:id/interruptions/:interruptionId', signed(answerInterruption), async (c) => {
    const { id, interruptionId } = c.req.param();
    const answers = await readAs(c.req.raw, McpAnswers, { what: 'the answers' });
    await mcpSignIns.answer(id, interruptionId, answers, c.var.principal);
    return c.body(null, 204);
  });
  app.get('/mcp-servers/:id/grant', signed(getMcpGrant), async (c) => {
    return c.json(await mcpSignIns.grant(c.req.param('id'), c.var.principal));
  });
  app.delete('/mcp-servers/:id/grant', signed(deleteMcpGrant), async (c) => {
    await mcpSignIns.revoke(c.req.param('id'), c.var.principal);
    return c.body(null, 204);
  });
  return app;
}
