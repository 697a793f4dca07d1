/** The routes by which a person answers a run: decide on a tool call, reply to a plan's question. */

import * as v from 'valibot';
import { parseJson } from '../../../../src/base/json.ts';
import { readAs } from '../body.ts';
import { empty, type Operations, shapeOf } from '../operation.ts';
import type { Served } from '../served.ts';

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

/** The operations of these routes. */
export const approvalOperations = {
  'POST /v1/runs/:id/approvals/:approvalId': {
    ...common,
    operationId: 'decideApproval',
    summary: 'Decide on a tool call',
    body: shapeOf(ApprovalDecision),
    responses: { 204: empty('The decision is stored') },
  },
  'POST /v1/runs/:id/replies': {
    ...common,
    operationId: 'replyToRun',
    summary: 'Answer a question of a plan',
    body: shapeOf(Reply),
    responses: { 204: empty('The answer is stored') },
  },
} satisfies Operations;

/** Creates the routes. */
export function approvalRoutes(endpoint: Served): void {
  const { runtime } = endpoint;
  const serve = endpoint.serve(approvalOperations);
  serve('POST /v1/runs/:id/approvals/:approvalId', async (c) => {
    const { id, approvalId } = c.req.param();
    const decision = await readAs(c.req.raw, ApprovalDecision, {
      what: 'the decision',
      parseText: parseJson,
    }); // as it was sent
    await runtime.decide(id, approvalId, decision, c.var.principal);
    return c.body(null, 204);
  });
  serve('POST /v1/runs/:id/replies', async (c) => {
    const reply = await readAs(c.req.raw, Reply, { what: 'the reply' });
    await runtime.reply(c.req.param('id'), reply, c.var.principal);
    return c.body(null, 204);
  });
}
