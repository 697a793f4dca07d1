/** The route that streams events to observers as they happen. */

import * as v from 'valibot';
import { PinnaceError } from '../../../../src/base/errors.ts';
import { parse } from '../../../../src/base/parse.ts';
import type { Principal } from '../../../../src/base/principal.ts';
import type { EventFeed, FollowOptions } from '../../../../src/events/event-feed.ts';
import { lastEventId, named, type Operations, shapeOf } from '../operation.ts';
import { createQuotas } from '../quotas.ts';
import { ObservedEvent } from '../schemas.ts';
import { sseHeaders } from '../sse.ts';
import { encodeEvents } from '../sse-events.ts';
import { eventsOf } from '../stream-parts.ts';
import type { Served } from '../served.ts';

const Id = v.pipe(v.string(), v.minLength(1), v.maxLength(300));
/** The fields of a query that select events. */
export const filterFields = {
  traceId: v.optional(v.pipe(v.string(), v.regex(/^[0-9a-f]{32}$/, 'must be 32 hexadecimal digits'))),
  actor: v.optional(Id),
  action: v.optional(Id),
  target: v.optional(Id),
};
const EventQuery = v.strictObject({ ...filterFields, after: v.optional(v.pipe(v.string(), v.maxLength(100))) });

/** The most observers at once. */
export const observerLimits = { runsPerTenant: 8, runsPerSubject: 8, runs: 100 };

/** The operations of these routes. */
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
    return await streamEvents(endpoint, { principal, feed, filter, after, leave: quotas.enter(principal) });
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

interface Observation extends Pick<FollowOptions, 'after' | 'filter'> {
  readonly principal: Principal;
  readonly feed: EventFeed;
  /** Frees the observer's place in the quota. */
  readonly leave: () => void;
}

/** The stream ends with its reader, the runtime, and the session, by expiry or revocation; a client that still may, resumes it. */
async function streamEvents(
  { runtime, watchSession, keepAliveMs, now }: Served,
  { principal, feed, filter, after, leave }: Observation,
): Promise<Response> {
  const stop = new AbortController();
  const unwatch = watchSession(principal, stop);
  const onClosed = (): void => {
    stop.abort();
    leave();
    unwatch();
  };
  const expiresAt = principal.session?.expiresAt ?? Infinity;
  const followed = feed.follow({ after, filter, signal: stop.signal });
  // Read before responding: later events are then observed, and a feed that cannot be read is a problem response.
  const ready = await followed.next().catch((error: unknown) => {
    onClosed();
    throw error;
  });
  const bytes = encodeEvents(followed, {
    origin: feed.origin,
    ready,
    keepAliveMs,
    isOver: () => now() >= expiresAt,
    metrics: runtime.metrics,
    onClosed,
  });
  return new Response(bytes, { headers: sseHeaders });
}
