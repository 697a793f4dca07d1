/** The route for those who watch what happens as it happens. */

import * as v from 'valibot';
import { PinnaceError } from '../../src/errors.ts';
import type { EventFilter } from '../../src/event-query.ts';
import { parse } from '../../src/parse.ts';
import { type Principal, requireScope } from '../../src/runtime/principal.ts';
import type { HandlerContext } from './http.ts';
import { createQuotas } from './http-quotas.ts';
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
  const { app, authenticator } = context;
  const quotas = createQuotas(watchers, 'event streams');
  const instance = crypto.randomUUID().slice(0, 8);
  app.get('/v1/events', async (c) => {
    const principal = await authenticator.authenticate(c.req.raw);
    requireScope(principal, 'admin');
    const { after, ...filter } = parse(EventWatch, c.req.query(), { what: 'what to watch' });
    const place = placeOf(c.req.header('last-event-id') ?? after, instance);
    return watch(context, { principal, filter, place, instance, leave: quotas.enter(principal.tenant) });
  });
}

/** Where a watcher goes on. */
interface Place {
  /** The number; those that come from now on when absent. */
  readonly after: number | undefined;
  readonly isElsewhere: boolean;
}

/** Reads `<instance>:<seq>`, or `0` for all that are still there. What another instance has numbered says nothing here. */
function placeOf(given: string | undefined, instance: string): Place {
  if (given === undefined || given === '') return { after: undefined, isElsewhere: false };
  if (given === '0') return { after: 0, isElsewhere: false };
  const [, of, seq] = /^([\w-]{1,64}):(\d{1,15})$/.exec(given) ?? [];
  if (of === undefined) {
    throw new PinnaceError('last_event_id_invalid', 'The event id is none of this endpoint', { status: 400 });
  }
  return of === instance ? { after: Number(seq), isElsewhere: false } : { after: 0, isElsewhere: true };
}

interface Watching {
  readonly principal: Principal;
  readonly filter: EventFilter;
  readonly place: Place;
  readonly instance: string;
  /** Makes room for another watcher. */
  readonly leave: () => void;
}

/** Ends with the reader, the runtime, the session's certificate, or its revocation; whoever may go on, resumes. */
function watch({ runtime, authenticator, keepAliveMs, now }: HandlerContext, watching: Watching): Response {
  const { principal, filter, place: { after, isElsewhere }, instance, leave } = watching;
  const revoked = new AbortController();
  const unwatch = authenticator.onRevoked?.(principal, () => revoked.abort('session_revoked'));
  const expiresAt = principal.session?.expiresAt ?? Infinity;
  const from = after ?? runtime.lastEventSeq();
  const bytes = encodeEvents(runtime.events(principal, { filter, after: from, signal: revoked.signal }), {
    instance,
    from,
    isElsewhere,
    keepAliveMs,
    isOver: () => now() >= expiresAt,
    metrics: runtime.metrics,
    onClosed() {
      leave();
      unwatch?.();
    },
  });
  const { 'x-vercel-ai-ui-message-stream': _, ...headers } = sseHeaders;
  return new Response(bytes, { headers });
}
