/** The route that removes what is stored of a person. */

import { Hono } from 'hono';
import * as v from 'valibot';
import { PinnaceError } from '../../../../src/base/errors.ts';
import type { Grounding } from '../../../../src/grounding/create-grounding.ts';
import { erasePerson, type PersonStores } from '../../../person-data.ts';
import type { Signed } from '../authentication.ts';
import type { SignedEnv } from '../env.ts';
import { json, shapeOf, type SignedOperation } from '../operation.ts';

const Erased = v.object({
  chats: v.number(),
  messages: v.number(),
  runs: v.number(),
  running: v.number(),
  memories: v.number(),
});

const eraseSubject: SignedOperation = {
  operationId: 'eraseSubject',
  summary: "Remove a subject's stored chats, the logs of their runs, and its memory",
  scope: 'admin',
  responses: { 200: json('How much was removed', shapeOf(Erased)) },
};

/** What the route needs. */
export interface SubjectRoutesOptions {
  readonly runtime: PersonStores['runtime'];
  readonly grounding: Grounding | undefined;
  readonly signed: Signed;
}

/** The most characters of a subject. */
const maxSubject = 256;

/** Creates the route under `/subjects`. */
export function subjectRoutes({ runtime, grounding, signed }: SubjectRoutesOptions): Hono<SignedEnv> {
  const app = new Hono<SignedEnv>();
  app.delete('/subjects/:subject', signed(eraseSubject), async (c) => {
    const subject = c.req.param('subject');
    if (subject.length > maxSubject) {
      throw new PinnaceError('invalid_argument', `Cannot erase the person: the subject is longer than ${maxSubject}`, {
        details: { reason: 'invalid_subject' },
      });
    }
    const { principal, trace } = c.var;
    return c.json(await erasePerson({ runtime, grounding }, subject, principal, { trace, signal: c.req.raw.signal }));
  });
  return app;
}
