/** The route that removes what is stored of a person. */

import * as v from 'valibot';
import { PinnaceError } from '../../../../src/base/errors.ts';
import type { Grounding } from '../../../../src/grounding/create-grounding.ts';
import { type ErasedPerson, erasePerson } from '../../../person-data.ts';
import { json, type Operations, shapeOf } from '../operation.ts';
import type { Served } from '../served.ts';

const Erased = v.object({
  chats: v.number(),
  messages: v.number(),
  runs: v.number(),
  running: v.number(),
  memories: v.number(),
});

/** The most characters of a subject. */
const maxSubject = 256;

/** The operations of these routes. */
export const subjectOperations = {
  'DELETE /v1/subjects/:subject': {
    operationId: 'eraseSubject',
    summary: "Remove a subject's stored chats, the logs of their runs, and its memory",
    scope: 'admin',
    responses: { 200: json<ErasedPerson>('How much was removed', shapeOf(Erased)) },
  },
} satisfies Operations;

/** Creates the route under `/subjects`. */
export function subjectRoutes({ runtime, serve: table }: Served, grounding: Grounding | undefined): void {
  const serve = table(subjectOperations);
  serve('DELETE /v1/subjects/:subject', async (c) => {
    const subject = c.req.param('subject');
    if (subject.length > maxSubject) {
      throw new PinnaceError('invalid_argument', `Cannot erase the person: the subject is longer than ${maxSubject}`, {
        details: { reason: 'invalid_subject' },
      });
    }
    const { principal, trace } = c.var;
    return c.json(await erasePerson({ runtime, grounding }, subject, principal, { trace, signal: c.req.raw.signal }));
  });
}
