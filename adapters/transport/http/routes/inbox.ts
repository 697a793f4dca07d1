/** The routes of the inbox: what waits for people, of runs, programs and plans. */

import * as v from 'valibot';
import { parseJson } from '../../../../src/base/json.ts';
import { parse } from '../../../../src/base/parse.ts';
import {
  type InboxDecision,
  InboxDecisions,
  type InboxDetail,
  type InboxItem,
  type InboxPage,
  type InboxResult,
} from '../../../../src/runtime/inbox.ts';
import { createQuotas } from '../admission.ts';
import type { Served } from '../authentication.ts';
import { ErrorData, json, named, type Operations, shapeOf, Time, type WithTimes } from '../operation.ts';
import { readAs } from '../request.ts';
import { encodeChanges, sseHeaders } from '../sse.ts';
import { observe, observerLimits } from './audit.ts';
import { eventsOf } from '../stream-parts.ts';
import { UndoneReport } from './undo.ts';

const Kind = v.picklist(['approval', 'question', 'sign_in', 'elicitation', 'undo']);
const Name = v.pipe(v.string(), v.minLength(1), v.maxLength(300));

const itemFields = {
  id: v.string(),
  kind: Kind,
  title: v.string(),
  quote: v.optional(v.string()),
  toolId: v.optional(v.string()),
  cannotUndo: v.optional(v.literal(true)),
  agentId: v.string(),
  subject: v.string(),
  actor: v.optional(v.string()),
  approvers: v.optional(v.array(v.string())),
  fourEyes: v.optional(v.literal(true)),
  runId: v.string(),
  chatId: v.optional(v.string()),
  goesOn: v.boolean(),
  openedAt: Time,
  expiresAt: Time,
  seen: v.string(),
  blocked: v.optional(v.picklist(['own_request', 'not_an_approver', 'owner_only'])),
};
const itemShape = named('InboxItem', shapeOf(v.object(itemFields)));
const Detail = v.object({
  ...itemFields,
  facts: v.record(v.string(), v.unknown()),
  edit: v.optional(v.object({ input: v.unknown(), schema: v.record(v.string(), v.unknown()) })),
});
const Results = v.object({
  results: v.array(v.object({
    id: v.string(),
    state: v.picklist(['stored', 'refused']),
    runId: v.optional(v.string()),
    undo: v.optional(UndoneReport),
    error: v.optional(ErrorData),
  })),
});

const InboxListing = v.strictObject({
  kind: v.optional(Kind),
  agentId: v.optional(Name),
  toolId: v.optional(Name),
  before: v.optional(
    v.pipe(v.string(), v.isoTimestamp('must be a time as 2026-11-21T08:00:00Z'), v.transform(Date.parse)),
  ),
  of: v.optional(v.picklist(['me', 'tenant'])),
  limit: v.optional(v.pipe(v.string(), v.regex(/^\d{1,4}$/, 'must be a number'), v.transform(Number))),
  pageToken: v.optional(v.pipe(v.string(), v.maxLength(1000))),
});
const InboxWatched = v.strictObject({ of: InboxListing.entries.of });
const Body: v.GenericSchema<unknown, { readonly decisions: readonly InboxDecision[] }> = v.strictObject({
  decisions: InboxDecisions,
});

type Times = 'openedAt' | 'expiresAt';

/** The runtime checks the scope, and audits what it rejects. */
const common = { scope: 'tool:approve', checkedBy: 'runtime' } as const;

export const inboxOperations = {
  'GET /v1/inbox': {
    ...common,
    operationId: 'listInbox',
    summary: 'What waits for a decision of the caller, the oldest first',
    query: InboxListing,
    responses: {
      200: json<Omit<InboxPage, 'items'> & { readonly items: readonly WithTimes<InboxItem, Times>[] }>(
        'A page of items, and how many wait from its first item on, up to 1,000',
        (components) => ({
          type: 'object',
          properties: {
            items: { type: 'array', items: itemShape(components) },
            waiting: { type: 'integer' },
            nextPageToken: { type: 'string' },
          },
          required: ['items', 'waiting'],
        }),
      ),
    },
  },
  'GET /v1/inbox/stream': {
    ...common,
    operationId: 'watchInbox',
    summary: 'A snapshot of what waits, then each change; a new connection starts with a new snapshot',
    query: InboxWatched,
    responses: {
      200: eventsOf('Events `snapshot` with `items`, `opened` with `item`, `settled` with `id`', itemShape),
    },
  },
  'GET /v1/inbox/:id': {
    ...common,
    operationId: 'getInboxItem',
    summary: 'An item with all that a person is shown',
    responses: { 200: json<WithTimes<InboxDetail, Times>>('The item', named('InboxDetail', shapeOf(Detail))) },
    problems: [404, 409, 410],
  },
  'POST /v1/inbox/decisions': {
    ...common,
    operationId: 'decideInbox',
    summary: 'Decide on 1 to 100 items, each for itself',
    body: shapeOf(Body),
    responses: {
      200: json<{ readonly results: readonly InboxResult[] }>(
        'One result for each decision, in order',
        shapeOf(Results),
      ),
    },
    problems: [413, 415],
  },
} satisfies Operations;

export function inboxRoutes(endpoint: Served): void {
  const { inbox } = endpoint.runtime;
  const serve = endpoint.serve(inboxOperations);
  const quotas = createQuotas(observerLimits, 'inbox streams');
  serve('GET /v1/inbox', async (c) => {
    const query = parse(InboxListing, c.req.query(), { what: 'the query' });
    const { limit, ...wanted } = query;
    const { items, ...page } = await inbox.list(c.var.principal, { ...wanted, ...(limit !== undefined && { limit }) });
    return c.json({ items: items.map(withTexts), ...page });
  });
  serve('GET /v1/inbox/stream', async (c) => {
    const { principal } = c.var;
    const { of } = parse(InboxWatched, c.req.query(), { what: 'the query' });
    const { signal, framing, ready } = observe(endpoint, principal, quotas);
    const changes = await ready(inbox.watch(principal, { of, signal }));
    const frames = changes.pipeThrough(
      new TransformStream({
        transform(change, controller) {
          if (change.type === 'snapshot') controller.enqueue({ ...change, items: change.items.map(withTexts) });
          else controller.enqueue(change.type === 'opened' ? { ...change, item: withTexts(change.item) } : change);
        },
      }),
    );
    return new Response(encodeChanges(frames, framing), { headers: sseHeaders });
  });
  serve('GET /v1/inbox/:id', async (c) => c.json(withTexts(await inbox.get(c.req.param('id'), c.var.principal))));
  serve('POST /v1/inbox/decisions', async (c) => {
    const { decisions } = await readAs(c.req.raw, Body, { what: 'the decisions', parseText: parseJson }); // as they were sent
    return c.json({ results: await inbox.decide(decisions, c.var.principal) });
  });
}

function withTexts<T extends Pick<InboxItem, Times>>(item: T): WithTimes<T, Times> {
  const { openedAt, expiresAt } = item;
  return { ...item, openedAt: new Date(openedAt).toISOString(), expiresAt: new Date(expiresAt).toISOString() };
}
