/** The routes of the audit: who changed what, and whether the stored audit is complete. */

import type { Context } from 'hono';
import * as v from 'valibot';
import { PinnaceError } from '../../../../src/base/errors.ts';
import type { Page } from '../../../../src/base/page.ts';
import { parse } from '../../../../src/base/parse.ts';
import type { Principal } from '../../../../src/base/principal.ts';
import type { EventLog, LoggedEvent } from '../../../../src/events/audit.ts';
import { breakReasons, type Verification as ChainVerification } from '../../../../src/events/event-query.ts';
import type { EventFeed, FollowOptions } from '../../../../src/events/event-feed.ts';
import { createQuotas } from '../admission.ts';
import type { Served, SignedEnv } from '../authentication.ts';
import { json, lastEventId, named, ObservedEvent, type Operations, pageOf, shapeOf } from '../operation.ts';
import { encodeEvents, sseHeaders } from '../sse.ts';
import { eventsOf } from '../stream-parts.ts';

const Id = v.pipe(v.string(), v.minLength(1), v.maxLength(300));
/** The fields of a query that select events. */
const filterFields = {
  traceId: v.optional(v.pipe(v.string(), v.regex(/^[0-9a-f]{32}$/, 'must be 32 hexadecimal digits'))),
  actor: v.optional(Id),
  action: v.optional(Id),
  target: v.optional(Id),
};
const EventQuery = v.strictObject({ ...filterFields, after: v.optional(v.pipe(v.string(), v.maxLength(100))) });

/** The most observers at once. */
export const observerLimits = { runsPerTenant: 8, runsPerSubject: 8, runs: 100 };

export const eventOperations = {
  'GET /v1/events': {
    operationId: 'watchEvents',
    summary: 'Observe events as they happen',
    scope: 'admin',
    query: EventQuery,
    parameters: [lastEventId],
    responses: {
      200: eventsOf(
        'Events, each with its id: `ready` first, `gap` where some are missing, and `live` before those that happen now',
        named('ObservedEvent', shapeOf(ObservedEvent)),
      ),
    },
  },
} satisfies Operations;

/** Creates the route. It shows events of the caller's tenant only. */
export function eventRoutes(endpoint: Served): void {
  const serve = endpoint.serve(eventOperations);
  const quotas = createQuotas(observerLimits, 'event streams');
  serve('GET /v1/events', async (c) => {
    const { principal } = c.var;
    const feed = endpoint.runtime.feed(principal);
    const { after: given, ...filter } = parse(EventQuery, c.req.query(), { what: 'what to watch' });
    const after = positionOf(c.req.header('last-event-id') ?? given, feed);
    const { signal, framing, ready } = observe(endpoint, principal, quotas);
    const followed = feed.follow({ after, filter, signal });
    // Read before responding: later events are then observed, and a feed that cannot be read is a problem response.
    const first = await ready(followed.next());
    const bytes = encodeEvents(followed, { origin: feed.origin, ready: first, ...framing });
    return new Response(bytes, { headers: sseHeaders });
  });
}

/** Reads `<origin>:<seq>`, or `0` for everything that is still stored. A number of another origin means nothing here. */
function positionOf(given: string | undefined, { origin }: EventFeed): FollowOptions['after'] {
  if (given === undefined || given === '') return undefined;
  if (given === '0') return 0;
  const [, of, seq] = /^([\w-]{1,64}):(\d{1,15})$/.exec(given) ?? [];
  if (of === undefined) {
    throw new PinnaceError('last_event_id_invalid', 'The event id is none of this endpoint');
  }
  return of === origin ? Number(seq) : 'elsewhere';
}

/** A place in the quota of observers, for one stream: it ends with its reader, and with the session, by expiry or revocation. */
export function observe(
  { runtime: { metrics }, watchSession, keepAliveMs, now }: Served,
  principal: Principal,
  quotas: ReturnType<typeof createQuotas>,
) {
  const leave = quotas.enter(principal);
  const stop = new AbortController();
  const unwatch = watchSession(principal, stop);
  const onClosed = (): void => {
    stop.abort();
    leave();
    unwatch();
  };
  const expiresAt = principal.session?.expiresAt ?? Infinity;
  return {
    signal: stop.signal,
    /** For the encoder of the stream. */
    framing: { keepAliveMs, isOver: () => now() >= expiresAt, metrics, onClosed },
    /** What is read before the response: where that fails, there is no stream. */
    ready: async <T>(first: Promise<T>): Promise<T> =>
      await first.catch((error: unknown) => {
        onClosed();
        throw error;
      }),
  };
}

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
