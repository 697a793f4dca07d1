/** The route by which a caller sends a message to a run that works. */

import * as v from 'valibot';
import { parseJson } from '../../../../src/base/json.ts';
import type { Planner, PlanView } from '../../../../src/planner/planner.ts';
import {
  type SentMessage as Sent,
  SteeringMessage,
  type SteeringMessageInput,
} from '../../../../src/runtime/steering.ts';
import type { Served } from '../authentication.ts';
import { empty, json, type Operations, shapeOf } from '../operation.ts';
import { readAs } from '../request.ts';
import { planShape } from '../stream-parts.ts';

const SentMessage = v.object({ messageId: v.string(), state: v.picklist(['accepted', 'delivered']) });

export const messageOperations = {
  'POST /v1/runs/:id/messages': {
    operationId: 'sendMessage',
    summary: 'Send a message to a running agent',
    scope: 'run:create',
    checkedBy: 'runtime',
    body: shapeOf(SteeringMessage),
    responses: {
      202: json<Sent>('The message waits for the next step of the run, or was delivered before', shapeOf(SentMessage)),
    },
    problems: [404, 409, 410, 413, 415, 429],
  },
} satisfies Operations;

export function messageRoutes({ runtime, serve: table }: Served): void {
  const serve = table(messageOperations);
  serve('POST /v1/runs/:id/messages', async (c) => {
    const { principal, trace } = c.var;
    const schema: v.GenericSchema<unknown, SteeringMessageInput> = SteeringMessage;
    const message = await readAs(c.req.raw, schema, { what: 'the message' });
    return c.json(await runtime.send(c.req.param('id'), message, principal, { trace }), 202);
  });
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

/** The body of a cancellation: one agent of the plan with its sub-agents, or without `address` the whole plan. */
const PlanCancellation = v.strictObject({
  address: v.optional(v.pipe(v.string(), v.regex(/^1(-\d{1,6}){0,64}$/, 'must be an address such as "1-3-2"'))),
  reason: v.optional(v.pipe(v.string(), v.maxLength(500))),
});

const steering = { scope: 'run:cancel', responses: { 202: empty('Accepted') }, problems: [404] } as const;
export const planOperations = {
  'GET /v1/plans/:id': {
    operationId: 'getPlan',
    summary: 'State of a plan, with its tasks as data-plan shows them',
    scope: 'run:read',
    responses: { 200: json<PlanView>('The plan', planShape) },
    problems: [404],
  },
  'POST /v1/plans/:id/pause': {
    ...steering,
    operationId: 'pausePlan',
    summary: 'Start no more activities of a plan',
  },
  'POST /v1/plans/:id/resume': { ...steering, operationId: 'resumePlan', summary: 'Resume a paused plan' },
  'POST /v1/plans/:id/cancel': {
    ...steering,
    operationId: 'cancelPlan',
    summary: 'Cancel a plan, or one of its agents with all its sub-agents',
    body: shapeOf(PlanCancellation),
    bodyIsOptional: true,
  },
} satisfies Operations;

/** Creates the routes. Repeating a request changes nothing. */
export function planRoutes({ serve: table }: Served, planner: Planner): void {
  const serve = table(planOperations);
  serve('GET /v1/plans/:id', async (c) => c.json(await planner.view(c.req.param('id'), c.var.principal)));
  serve('POST /v1/plans/:id/pause', async (c) => {
    await planner.pause(c.req.param('id'), c.var.principal);
    return c.body(null, 202);
  });
  serve('POST /v1/plans/:id/resume', async (c) => {
    await planner.resume(c.req.param('id'), c.var.principal);
    return c.body(null, 202);
  });
  serve('POST /v1/plans/:id/cancel', async (c) => {
    const { address, reason } = c.req.header('content-type') === undefined
      ? {}
      : await readAs(c.req.raw, PlanCancellation, { what: 'the cancellation' });
    await planner.cancel(c.req.param('id'), c.var.principal, {
      ...(address !== undefined && { address }),
      ...(reason !== undefined && { reason }),
    });
    return c.body(null, 202);
  });
}
