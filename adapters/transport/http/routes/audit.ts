/** The routes of the audit: who changed what, and whether the stored audit is complete. */

import type { Context } from 'hono';
import * as v from 'valibot';
import { PinnaceError } from '../../../../src/base/errors.ts';
import { parse } from '../../../../src/base/parse.ts';
import type { EventLog, LoggedEvent } from '../../../../src/events/audit.ts';
import { breakReasons, type Verification as ChainVerification } from '../../../../src/events/event-query.ts';
import type { SignedEnv } from '../env.ts';
import { filterFields } from './events.ts';
import { json, named, type Operations, pageOf, shapeOf } from '../operation.ts';
import { ObservedEvent } from '../schemas.ts';
import type { Served } from '../served.ts';
import type { Page } from '../../../../src/base/page.ts';

const QueryTime = v.optional(
  v.pipe(v.string(), v.isoTimestamp('must be a time as 2026-11-21T08:00:00Z'), v.transform(Date.parse)),
);

const AuditQuery = v.strictObject({
  ...filterFields,
  from: QueryTime,
  until: QueryTime,
  limit: v.optional(v.pipe(v.string(), v.regex(/^\d{1,4}$/, 'must be a number'), v.transform(Number))),
  pageToken: v.optional(v.pipe(v.string(), v.maxLength(1000))),
});

/** The head that an earlier verification returned, to detect an audit that was rolled back. */
const VerificationQuery = v.pipe(
  v.strictObject({
    seq: v.optional(
      v.pipe(v.string(), v.regex(/^(0|[1-9]\d{0,14})$/, 'must be the number of an entry'), v.transform(Number)),
    ),
    hash: v.optional(v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, 'must be 64 lower-case hexadecimal digits'))),
  }),
  v.check(({ seq, hash }) => (seq === undefined) === (hash === undefined), 'needs seq and hash together'),
);

const Entry = v.object({ seq: v.number(), event: ObservedEvent, prevHash: v.string(), hash: v.string() });

const Verification = v.object({
  ok: v.boolean(),
  checked: v.pipe(v.number(), v.integer()),
  head: v.pipe(
    v.object({ seq: v.pipe(v.number(), v.integer()), hash: v.string() }),
    v.description('The current end of the chain: store it elsewhere, and pass it as `seq` and `hash` later'),
  ),
  brokenAt: v.optional(v.pipe(v.number(), v.integer())),
  reason: v.optional(v.picklist(breakReasons)),
  anchorExpired: v.optional(v.literal(true)),
});

/** The operations of these routes. */
export const auditOperations = {
  'GET /v1/audit': {
    operationId: 'listAudit',
    summary: 'Who did what',
    scope: 'admin',
    query: AuditQuery,
    responses: {
      200: json<Page<LoggedEvent>>('A page of entries, the oldest first', pageOf(named('AuditEntry', shapeOf(Entry)))),
    },
    problems: [404],
  },
  'GET /v1/audit/verification': {
    operationId: 'verifyAudit',
    summary: 'Whether the audit is complete, and still contains the anchor `seq` and `hash`',
    scope: 'admin',
    query: VerificationQuery,
    responses: {
      200: json<ChainVerification>(
        'The result; where the audit is broken, the number of the entry and the reason',
        shapeOf(Verification),
      ),
    },
    problems: [404],
  },
} satisfies Operations;

/** Creates the routes. They show the caller's tenant only. */
export function auditRoutes({ runtime, serve: table }: Served): void {
  const serve = table(auditOperations);
  const auditOf = (c: Context<SignedEnv>): EventLog => {
    const log = runtime.audit(c.var.principal);
    if (log) return log;
    throw new PinnaceError('not_found', 'This endpoint keeps no audit', { details: { reason: 'no_audit' } });
  };
  serve('GET /v1/audit', async (c) => {
    const log = auditOf(c);
    const { limit, ...query } = parse(AuditQuery, c.req.query(), { what: 'the question to the audit' });
    return c.json(await log.list({ ...query, ...(limit !== undefined && { limit }) }));
  });
  serve('GET /v1/audit/verification', async (c) => {
    const log = auditOf(c);
    const { seq, hash } = parse(VerificationQuery, singleFields(c.req.queries()), { what: 'the anchor of the audit' });
    const anchor = seq === undefined || hash === undefined ? undefined : { seq, hash };
    return c.json(await log.verify({ signal: c.req.raw.signal, anchor }));
  });
}

/** A repeated field stays a list, which no schema of single values accepts. */
function singleFields(fields: Readonly<Record<string, readonly string[]>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, values]) => [name, values.length > 1 ? values : values[0]]),
  );
}
