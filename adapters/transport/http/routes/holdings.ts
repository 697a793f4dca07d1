/** The routes of stored files: upload, read, delete. */

import * as v from 'valibot';
import { PinnaceError } from '../../../../src/base/errors.ts';
import { parse } from '../../../../src/base/parse.ts';
import type { Grounding } from '../../../../src/grounding/create-grounding.ts';
import type { BudgetView } from '../../../../src/runtime/budgets.ts';
import type { StoredFile as BlobFile } from '../../../../src/runtime/message-files.ts';
import { type ErasedPerson, erasePerson } from '../../../upkeep/person-data.ts';
import { readBody } from '../../signed/body.ts';
import type { Served } from '../authentication.ts';
import { empty, fileShape, json, named, type Operations, shapeOf, Time, type WithTimes } from '../operation.ts';

const StoredFile = v.object({ id: v.string(), url: v.string(), mediaType: v.string(), size: v.number() });

const FileQuery = v.strictObject({
  /** Another subject of the tenant; needs the scope `admin`. */
  subject: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(256))),
});

export const blobOperations = {
  'POST /v1/blobs': {
    operationId: 'uploadFile',
    hasLargeBody: true,
    summary: 'Store a file for messages to refer to',
    scope: 'run:create',
    bodyIsFile: true,
    responses: {
      201: json<BlobFile>(
        'The file, and the address that messages name it by',
        named('StoredFile', shapeOf(StoredFile)),
      ),
    },
    problems: [413],
  },
  'GET /v1/blobs/:id': {
    operationId: 'readFile',
    summary: 'Read a stored file',
    scope: 'run:read',
    query: FileQuery,
    responses: { 200: { description: 'The file', content: { '*/*': fileShape } } },
    problems: [404],
  },
  'DELETE /v1/blobs/:id': {
    operationId: 'deleteFile',
    summary: 'Delete a stored file',
    scope: 'admin',
    query: FileQuery,
    responses: { 204: empty('The file is deleted, or there was none') },
  },
} satisfies Operations;

export function blobRoutes({ runtime: { blobs }, serve: table }: Served): void {
  const serve = table(blobOperations);
  serve('POST /v1/blobs', async (c) => {
    const { principal, trace } = c.var;
    const bytes = await readBody(c.req.raw);
    const declared = c.req.header('content-type') ?? '';
    const file = await blobs.put(bytes, declared, principal, { trace, signal: c.req.raw.signal });
    return c.json(file, 201, { location: `/v1/blobs/${file.id}` });
  });
  serve('GET /v1/blobs/:id', async (c) => {
    const { principal, trace } = c.var;
    const call = { ...parse(FileQuery, c.req.query(), { what: 'the query' }), trace, signal: c.req.raw.signal };
    const { bytes, mediaType } = await blobs.get(c.req.param('id'), principal, call);
    return c.body(bytes, 200, { ...fileHeaders, 'content-type': mediaType });
  });
  serve('DELETE /v1/blobs/:id', async (c) => {
    const { principal, trace } = c.var;
    const { subject } = parse(FileQuery, c.req.query(), { what: 'the query' });
    await blobs.delete(c.req.param('id'), principal, { subject, trace });
    return c.body(null, 204);
  });
}

/** A file is the content of a stranger: no browser may run it as a page of this origin. */
const fileHeaders = {
  'cache-control': 'private, no-store',
  'content-disposition': 'attachment',
  'content-security-policy': "sandbox; default-src 'none'",
  'x-content-type-options': 'nosniff',
};

const Amounts = v.object({
  tokens: v.optional(v.number()),
  cost: v.optional(v.object({ amount: v.number(), currency: v.string() })),
  runs: v.optional(v.number()),
  bytes: v.optional(v.number()),
});

const Budget = v.object({
  id: v.string(),
  of: v.picklist(['tenant', 'subject', 'agent']),
  agentId: v.optional(v.string()),
  every: v.picklist(['hour', 'day', 'week', 'month']),
  timeZone: v.string(),
  resetsAt: v.pipe(Time, v.description('When the next period starts')),
  share: v.pipe(v.number(), v.description('From 0 to 1: of what is used up most')),
  limit: v.optional(v.pipe(Amounts, v.description('Absent for the budget of a tenant, without the scope `admin`'))),
  used: v.optional(Amounts),
});

export const budgetOperations = {
  'GET /v1/budgets': {
    operationId: 'listBudgets',
    summary: "The caller's budgets, and what is used of them",
    scope: 'run:read',
    responses: {
      200: json<{ readonly items: readonly WithTimes<BudgetView, 'resetsAt'>[] }>(
        'The budgets, in the order of the composition',
        named('Budgets', shapeOf(v.object({ items: v.array(Budget) }))),
      ),
    },
  },
} satisfies Operations;

export function budgetRoutes({ runtime, serve: table }: Served): void {
  const serve = table(budgetOperations);
  serve('GET /v1/budgets', async (c) => {
    const budgets = await runtime.budgets(c.var.principal);
    return c.json({ items: budgets.map((one) => ({ ...one, resetsAt: new Date(one.resetsAt).toISOString() })) });
  });
}

const Erased = v.object({
  chats: v.number(),
  messages: v.number(),
  runs: v.number(),
  running: v.number(),
  memories: v.number(),
  schedules: v.number(),
});

/** The most characters of a subject. */
const maxSubject = 256;

export const subjectOperations = {
  'DELETE /v1/subjects/:subject': {
    operationId: 'eraseSubject',
    summary: "Remove a subject's stored chats, the logs of their runs, its schedules and its memory",
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
