/** The route by which a caller sends a message to a run that works. */

import { Hono } from 'hono';
import * as v from 'valibot';
import type { HostedRuntime } from '../../../../src/runtime/runtime.ts';
import { SteeringMessage, type SteeringMessageInput } from '../../../../src/runtime/steering.ts';
import type { Signed } from '../authentication.ts';
import { readAs } from '../body.ts';
import type { SignedEnv } from '../env.ts';
import { json, shapeOf, type SignedOperation } from '../operation.ts';

/** What the route needs. */
export interface MessageRoutesOptions {
  readonly runtime: Pick<HostedRuntime, 'send'>;
  readonly signed: Signed;
}

const SentMessage = v.object({ messageId: v.string(), state: v.picklist(['accepted', 'delivered']) });

const sendMessage: SignedOperation = {
  operationId: 'sendMessage',
  summary: 'Send a message to a running agent',
  scope: 'run:create',
  checkedBy: 'runtime',
  body: shapeOf(SteeringMessage),
  responses: {
    202: json('The message waits for the next step of the run, or was delivered before', shapeOf(SentMessage)),
  },
  problems: [404, 409, 410, 413, 415, 429],
};

/** Creates the route under `/runs`. */
export function messageRoutes({ runtime, signed }: MessageRoutesOptions): Hono<SignedEnv> {
  const app = new Hono<SignedEnv>();
  app.post('/runs/:id/messages', signed(sendMessage), async (c) => {
    const { principal, trace } = c.var;
    const schema: v.GenericSchema<unknown, SteeringMessageInput> = SteeringMessage;
    const message = await readAs(c.req.raw, schema, { what: 'the message' });
    return c.json(await runtime.send(c.req.param('id'), message, principal, { trace }), 202);
  });
  return app;
}
