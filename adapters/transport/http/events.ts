/** The route for those who watch what happens as it happens. */

import * as v from 'valibot';
import { PinnaceError } from '../../../src/base/errors.ts';
import type { EventFeed, FollowOptions } from '../../../src/events/event-feed.ts';
import { parse } from '../../../src/base/parse.ts';
import type { Principal } from '../../../src/base/principal.ts';
import type { HandlerContext } from './handler.ts';
import { createQuotas } from './quotas.ts';
import { sseHeaders } from './sse.ts';
import { encodeEvents } from './sse-events.ts';

const Id = v.pipe(v.string(), v.minLength(1), v.maxLength(300));
/** The fields of a query that choose events. */
export const filterFields = {
  traceId: v.optional(v.pipe(v.string(), v.regex(/^[0-9a-f]{32}$/, 'must be 32 hexadecimal digits'))),
  actor: v.optional(Id),
  action: v.optional(Id),
  target: v.optional(Id),
};
/** What `GET /v1/events` takes. */
export const EventWatch = v.strictObject({ ...filterFields, after: v.optional(v.pipe(v.string(), v.maxLength(100))) });

/** The most who watch at once. */
const watchers = { runsPerTenant: 8, runs: 100 };

/** Adds the route. It takes the scope `admin`, and tells of the caller's tenant alone. */
export function addEventRoute(context: HandlerContext): void {
  const { app, authenticator, runtime } = context;
  const quotas = createQuotas(watchers, 'event streams');
  app.get('/v1/events', async (c) => {
    const principal = await authenticator.authenticate(c.req.raw);
    const feed = runtime.feed(principal);
    const { after: given, ...filter } = parse(EventWatch, c.req.query(), { what: 'what to watch' });
    const after = placeOf(c.req.header('last-event-id') ?? given, feed);
    return await watch(context, { principal, feed, filter, after, leave: quotas.enter(principal.tenant) });
  });
}

/** Reads `<origin>:<seq>`, or `0` for all that is still there. What somebody else has numbered says nothing here. */
function placeOf(given: string | undefined, { origin }: EventFeed): FollowOptions['after'] {
  if (given === undefined || given === '') return undefined;
  if (given === '0') return 0;
  const [, of, seq] = /^([\w-]{1,64}):(\d{1,15})$/.exec(given) ?? [];
  if (of === undefined) {
    throw new PinnaceError('last_event_id_invalid', 'The event id is none of this endpoint', { status: 400 });
  }
  return of === origin ? Number(seq) : 'elsewhere';
}

interface Watching extends Pick<FollowOptions, 'after' | 'filter'> {
  readonly principal: Principal;
  readonly feed: EventFeed;
  /** Makes room for another watcher. */
  readonly leave: () => void;
}

/** Ends with the reader, the runtime, the session's certificate, or its revocation; whoever may go on, resumes. */
async function watch(
  { runtime, authenticator, keepAliveMs, now }: HandlerContext,
  { principal, feed, filter, after, leave }: Watching,
): Promise<Response> {
  const stop = new AbortController();
  const unwatch = authenticator.onRevoked?.(principal, () => stop.abort('session_revoked'));
  const onClosed = (): void => {
    stop.abort();
    leave();
    unwatch?.();
  };
  const expiresAt = principal.session?.expiresAt ?? Infinity;
  const followed = feed.follow({ after, filter, signal: stop.signal });
  // What comes from now on is known now, and so is whether it can be read.
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
  const { 'x-vercel-ai-ui-message-stream': _, ...headers } = sseHeaders;
  return new Response(bytes, { headers });
}
