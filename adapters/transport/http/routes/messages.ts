/** The route by which a caller sends a message to a run that works. */

import * as v from 'valibot';
import {
  type SentMessage as Sent,
  SteeringMessage,
  type SteeringMessageInput,
} from '../../../../src/runtime/steering.ts';
import { readAs } from '../body.ts';
import { json, type Operations, shapeOf } from '../operation.ts';
import type { Served } from '../served.ts';

const SentMessage = v.object({ messageId: v.string(), state: v.picklist(['accepted', 'delivered']) });

/** The operations of these routes. */
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

/** Creates the route under `/runs`. */
export function messageRoutes({ runtime, serve: table }: Served): void {
  const serve = table(messageOperations);
  serve('POST /v1/runs/:id/messages', async (c) => {
    const { principal, trace } = c.var;
    const schema: v.GenericSchema<unknown, SteeringMessageInput> = SteeringMessage;
    const message = await readAs(c.req.raw, schema, { what: 'the message' });
    return c.json(await runtime.send(c.req.param('id'), message, principal, { trace }), 202);
  });
}
