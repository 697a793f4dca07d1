/** The routes by which a person answers a run: decide on a tool call, reply to a plan's question. */

import { Hono } from 'hono';
import * as v from 'valibot';
import { parseJson } from '../../../../src/base/json.ts';
import type { HostedRuntime } from '../../../../src/runtime/runtime.ts';
import type { Signed } from '../authentication.ts';
import { readAs } from '../body.ts';
import type { SignedEnv } from '../env.ts';
import { empty, shapeOf, type SignedOperation } from '../operation.ts';

/** What the routes need. */
export interface ApprovalRoutesOptions {
  readonly runtime: Pick<HostedRuntime, 'decide' | 'reply'>;
  readonly signed: Signed;
}

const ApprovalDecision: v.GenericSchema<unknown, { approved: boolean; reason?: string | undefined }> = v.strictObject({
  approved: v.boolean(),
  reason: v.optional(v.pipe(v.string(), v.maxLength(500))),
});

const Reply: v.GenericSchema<unknown, { askId: string; answer: unknown }> = v.strictObject({
  askId: v.pipe(v.string(), v.minLength(1), v.maxLength(200)),
  answer: v.unknown(),
});

/** The runtime checks the scope, and audits what it rejects. */
const common = { scope: 'tool:approve', checkedBy: 'runtime', problems: [404, 409, 410, 413, 415] } as const;

const decideApproval: SignedOperation = {
  ...common,
  operationId: 'decideApproval',
  summary: 'Decide on a tool call',
  body: shapeOf(ApprovalDecision),
  responses: { 204: empty('The decision is stored') },
};

const replyToRun: SignedOperation = {
  ...common,
  operationId: 'replyToRun',
  summary: 'Answer a question of a plan',
  body: shapeOf(Reply),
  responses: { 204: empty('The answer is stored') },
};

/** Creates the routes. */
export function approvalRoutes({ runtime, signed }: ApprovalRoutesOptions): Hono<SignedEnv> {
  const app = new Hono<SignedEnv>();
  app.post('/runs/:id/approvals/:approvalId', signed(decideApproval), async (c) => {
    const { id, approvalId } = c.req.param();
    const decision = await readAs(c.req.raw, ApprovalDecision, {
      what: 'the decision',
      parseText: parseJson,
    }); // as it was sent
    await runtime.decide(id, approvalId, decision, c.var.principal);
    return c.body(null, 204);
  });
  app.post('/runs/:id/replies', signed(replyToRun), async (c) => {
    const reply = await readAs(c.req.raw, Reply, { what: 'the reply' });
    await runtime.reply(c.req.param('id'), reply, c.var.principal);
    return c.body(null, 204);
  });
  return app;
}
