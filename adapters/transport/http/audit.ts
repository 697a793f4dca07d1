/** The routes of the audit: who did what, and whether what is written there is whole. */

import * as v from 'valibot';
import { PinnaceError } from '../../../src/base/errors.ts';
import type { EventLog } from '../../../src/events/event-log.ts';
import { parse } from '../../../src/base/parse.ts';
import { type Principal, requireScope } from '../../../src/base/principal.ts';
import type { HandlerContext } from './handler.ts';
import { filterFields } from './events.ts';

const Time = v.optional(
  v.pipe(v.string(), v.isoTimestamp('must be a time as 2026-11-21T08:00:00Z'), v.transform(Date.parse)),
);

/** What `GET /v1/audit` takes. */
export const AuditQuery = v.strictObject({
  ...filterFields,
  from: Time,
  until: Time,
  limit: v.optional(v.pipe(v.string(), v.regex(/^\d{1,4}$/, 'must be a number'), v.transform(Number))),
  pageToken: v.optional(v.pipe(v.string(), v.maxLength(1000))),
});

/** What `GET /v1/audit/verification` takes: the head that an earlier verification returned, to detect an audit that was rolled back. */
export const VerificationQuery = v.pipe(
  v.strictObject({
    seq: v.optional(
      v.pipe(v.string(), v.regex(/^(0|[1-9]\d{0,14})$/, 'must be the number of an entry'), v.transform(Number)),
    ),
    hash: v.optional(v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, 'must be 64 lower-case hexadecimal digits'))),
  }),
  v.check(({ seq, hash }) => (seq === undefined) === (hash === undefined), 'needs seq and hash together'),
);

/** Adds the routes. Both take the scope `admin`, and tell of the caller's tenant alone. */
export function addAuditRoutes({ app, runtime, authenticator }: HandlerContext): void {
  const auditOf = async (request: Request): Promise<EventLog> => {
    const principal: Principal = await authenticator.authenticate(request);
    requireScope(principal, 'admin');
    const log = runtime.audit(principal);
    if (log) return log;
    throw new PinnaceError('not_found', 'This endpoint keeps no audit', { details: { reason: 'no_audit' } });
  };
  app.get('/v1/audit', async (c) => {
    const log = await auditOf(c.req.raw);
    const { limit, ...query } = parse(AuditQuery, c.req.query(), { what: 'the question to the audit' });
    return c.json(await log.list({ ...query, ...(limit !== undefined && { limit }) }));
  });
  app.get('/v1/audit/verification', async (c) => {
    const log = await auditOf(c.req.raw);
    const { seq, hash } = parse(VerificationQuery, singleFields(c.req.queries()), { what: 'the anchor of the audit' });
    const anchor = seq === undefined || hash === undefined ? undefined : { seq, hash };
    return c.json(await log.verify({ signal: c.req.raw.signal, anchor }));
  });
}

/** A field that is repeated stays a list, which no schema of single values accepts. */
function singleFields(fields: Readonly<Record<string, readonly string[]>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, values]) => [name, values.length > 1 ? values : values[0]]),
  );
}
