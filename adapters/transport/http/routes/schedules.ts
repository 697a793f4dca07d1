/** The routes of schedules. The runtime reads the bodies, so that what reads cron patterns is loaded with the first schedule. */

import type { Context } from 'hono';
import * as v from 'valibot';
import { parse } from '../../../../src/base/parse.ts';
import type { Page } from '../../../../src/base/page.ts';
import {
  mapTimes,
  type Schedule,
  type ScheduleFire,
  type ScheduleInput,
  type TimedSchedule,
} from '../../../../src/runtime/schedule.ts';
import { readBody } from '../../signed/body.ts';
import { parseIdempotencyKey } from '../../signed/caller.ts';
import type { Served, SignedEnv } from '../authentication.ts';
import { empty, json, named, type Operations, pageOf, shapeOf, Time, type WithTimes } from '../operation.ts';
import { readAs } from '../request.ts';
import { ifMatch, requireVersion } from './collection.ts';

const Budget = v.object({
  tokens: v.optional(v.number()),
  cost: v.optional(v.object({ amount: v.number(), currency: v.string() })),
});
const When = v.union([
  v.object({ cron: v.string(), timeZone: v.optional(v.string()) }),
  v.object({ everyMs: v.number(), from: v.optional(Time) }),
  v.object({ at: Time }),
  v.object({ hook: v.object({ secret: v.union([v.string(), v.array(v.string())]) }) }),
]);
const Chat = v.union([v.literal('new'), v.object({ id: v.string() })]);
const Overlap = v.picklist(['skip', 'queue', 'allow']);

const ScheduleBody = v.object({
  agentId: v.string(),
  name: v.string(),
  message: v.string(),
  when: When,
  chat: v.optional(Chat),
  budget: v.optional(Budget),
  overlap: v.optional(Overlap),
  catchUpMs: v.optional(v.number()),
  expiresAt: v.optional(Time),
});

const ScheduleAnswer = v.object({
  ...ScheduleBody.entries,
  id: v.string(),
  subject: v.string(),
  chat: Chat,
  overlap: Overlap,
  catchUpMs: v.number(),
  expiresAt: Time,
  paused: v.optional(v.object({ by: v.string(), at: Time, reason: v.string() })),
  next: v.array(Time),
  last: v.optional(v.object({ at: Time, runId: v.optional(v.string()), state: v.optional(v.string()) })),
  failures: v.number(),
  revision: v.number(),
  createdAt: Time,
  updatedAt: Time,
});

const Fire = v.object({
  at: Time,
  firedAt: Time,
  outcome: v.picklist(['claimed', 'started', 'overlap', 'missed', 'refused']),
  count: v.optional(v.number()),
  runId: v.optional(v.string()),
  error: v.optional(v.object({ code: v.string(), message: v.string(), reason: v.optional(v.string()) })),
});

const PageQuery = v.strictObject({
  limit: v.optional(v.pipe(v.string(), v.regex(/^\d{1,3}$/))),
  pageToken: v.optional(v.pipe(v.string(), v.maxLength(1000))),
});
const ListQuery = v.strictObject({
  ...PageQuery.entries,
  /** Another subject of the tenant; needs the scope `admin`. */
  subject: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(256))),
});

const Started = v.object({ runId: v.string() });
const shape = named('Schedule', shapeOf(ScheduleAnswer));
const answer = json<TimedSchedule<string>>('The schedule', shape);
/** The largest event. */
const mostHookBytes = 65_536;
const changes = { scope: 'run:create', checkedBy: 'runtime' } as const;
type WireFire = WithTimes<ScheduleFire, 'at' | 'firedAt'>;

export const scheduleOperations = {
  'GET /v1/schedules': {
    operationId: 'listSchedules',
    summary: "The caller's schedules",
    scope: 'run:read',
    query: ListQuery,
    responses: { 200: json<Page<TimedSchedule<string>>>('A page of schedules', pageOf(shape)) },
  },
  'POST /v1/schedules': {
    ...changes,
    operationId: 'createSchedule',
    summary: 'Start runs at times, at intervals, or for signed requests; with an Idempotency-Key once',
    body: shapeOf(ScheduleBody),
    responses: { 201: answer },
    problems: [404, 413, 415],
  },
  'GET /v1/schedules/:id': {
    operationId: 'getSchedule',
    summary: 'A schedule, with its next three times and its last run',
    scope: 'run:read',
    responses: { 200: answer },
    problems: [404],
  },
  'PATCH /v1/schedules/:id': {
    ...changes,
    operationId: 'changeSchedule',
    summary: 'Change fields of a schedule; its runs have the rights of this caller from now on',
    parameters: [ifMatch(true)],
    body: shapeOf(v.partial(ScheduleBody)),
    responses: { 200: answer },
    problems: [404, 409, 413, 415, 428],
  },
  'DELETE /v1/schedules/:id': {
    ...changes,
    operationId: 'deleteSchedule',
    summary: 'Delete a schedule with its history',
    responses: { 204: empty('The schedule is deleted') },
    problems: [404],
  },
  'POST /v1/schedules/:id/pause': {
    ...changes,
    operationId: 'pauseSchedule',
    summary: 'Start no runs until it is resumed',
    responses: { 200: answer },
    problems: [404],
  },
  'POST /v1/schedules/:id/resume': {
    ...changes,
    operationId: 'resumeSchedule',
    summary: 'Go on from now',
    responses: { 200: answer },
    problems: [404],
  },
  'POST /v1/schedules/:id/run': {
    ...changes,
    operationId: 'runSchedule',
    summary: 'Start a run now',
    responses: { 202: json<{ readonly runId: string }>('The run', shapeOf(Started)) },
    problems: [404],
  },
  'POST /v1/hooks/:id': {
    operationId: 'receiveHook',
    summary: 'Start the run of a schedule with a hook, by an event that is signed as Standard Webhooks are',
    parameters: ['id', 'timestamp', 'signature'].map((name) => ({
      name: `webhook-${name}`,
      in: 'header' as const,
      required: true,
      schema: { type: 'string' },
    })),
    body: () => ({}),
    responses: {
      200: json<{ readonly runId: string }>('The run that this event has started before', shapeOf(Started)),
      202: json<{ readonly runId: string }>('The run', shapeOf(Started)),
    },
    problems: [400, 401, 403, 404, 409, 413, 429, 503],
  },
  'GET /v1/schedules/:id/fires': {
    operationId: 'listScheduleFires',
    summary: 'What became of its occurrences, the last one first',
    scope: 'run:read',
    query: PageQuery,
    responses: { 200: json<Page<WireFire>>('A page of occurrences', pageOf(named('ScheduleFire', shapeOf(Fire)))) },
    problems: [404],
  },
} satisfies Operations;

export function scheduleRoutes({ runtime: { schedules }, serve: table }: Served): void {
  const serve = table(scheduleOperations);
  const Given = v.record(v.string(), v.unknown());
  serve('GET /v1/schedules', async (c) => {
    const { subject, ...page } = parse(ListQuery, c.req.query(), { what: 'the query' });
    const found = await schedules.list(c.var.principal, { ...pageIn(page), ...(subject !== undefined && { subject }) });
    return c.json({ ...found, items: found.items.map(onWire) });
  });
  serve('POST /v1/schedules', async (c) => {
    const { principal, trace } = c.var;
    const input = await readAs(c.req.raw, Given, { what: 'the schedule' });
    const schedule = await schedules.create(input as unknown as ScheduleInput, principal, { trace, ...keyOf(c) }); // the runtime parses it
    return c.json(onWire(schedule), 201, { location: `/v1/schedules/${schedule.id}`, etag: `"${schedule.revision}"` });
  });
  serve('GET /v1/schedules/:id', async (c) => {
    const schedule = await schedules.get(c.req.param('id'), c.var.principal);
    return c.json(onWire(schedule), 200, { etag: `"${schedule.revision}"` });
  });
  serve('PATCH /v1/schedules/:id', async (c) => {
    const { principal, trace } = c.var;
    const change = { ...await readAs(c.req.raw, Given, { what: 'the change' }), revision: requireVersion(c) };
    const schedule = await schedules.update(c.req.param('id'), change, principal, { trace });
    return c.json(onWire(schedule), 200, { etag: `"${schedule.revision}"` });
  });
  serve('DELETE /v1/schedules/:id', async (c) => {
    await schedules.delete(c.req.param('id'), c.var.principal, { trace: c.var.trace });
    return c.body(null, 204);
  });
  for (const change of ['pause', 'resume'] as const) {
    serve(`POST /v1/schedules/:id/${change}`, async (c) => {
      const { principal, trace } = c.var;
      return c.json(onWire(await schedules[change](c.req.param('id'), principal, { trace })));
    });
  }
  serve('POST /v1/schedules/:id/run', async (c) => {
    const { principal, trace } = c.var;
    return c.json(await schedules.run(c.req.param('id'), principal, { trace, ...keyOf(c) }), 202);
  });
  serve('POST /v1/hooks/:id', async (c) => {
    const body = await readBody(c.req.raw, { maxBytes: mostHookBytes });
    const header = (name: string): string => c.req.header(`webhook-${name}`) ?? c.req.header(`svix-${name}`) ?? '';
    const headers = { id: header('id'), timestamp: header('timestamp'), signature: header('signature') };
    const { runId, isKnown } = await schedules.receive(c.req.param('id'), { headers, body });
    return c.json({ runId }, isKnown ? 200 : 202);
  });
  serve('GET /v1/schedules/:id/fires', async (c) => {
    const page = pageIn(parse(PageQuery, c.req.query(), { what: 'the query' }));
    const { items, ...more } = await schedules.fires(c.req.param('id'), c.var.principal, page);
    return c.json({
      items: items.map((fire) => ({ ...fire, at: toText(fire.at), firedAt: toText(fire.firedAt) })),
      ...more,
    });
  });
}

function keyOf(c: Context<SignedEnv>): { readonly idempotencyKey?: string } {
  const header = c.req.header('idempotency-key');
  return header === undefined ? {} : { idempotencyKey: parseIdempotencyKey(header) };
}

function pageIn({ limit, pageToken }: v.InferOutput<typeof PageQuery>) {
  return { ...(limit !== undefined && { limit: Number(limit) }), ...(pageToken !== undefined && { pageToken }) };
}

function toText(time: number): string {
  return new Date(time).toISOString();
}

function onWire(schedule: Schedule): TimedSchedule<string> {
  return mapTimes(schedule, toText);
}
