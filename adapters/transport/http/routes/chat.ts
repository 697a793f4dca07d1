/** The routes that the AI SDK's own `DefaultChatTransport` calls: `api: '/v1/agents/<id>/chat'`. */

import type { Context } from 'hono';
import * as v from 'valibot';
import { maxLimit, type Page, type PageOptions } from '../../../../src/base/page.ts';
import { parse } from '../../../../src/base/parse.ts';
import { requireScope } from '../../../../src/base/principal.ts';
import type { UIMessage } from '../../../../src/contracts/ai-types.ts';
import type {
  ChatImport,
  ChatSummary,
  DeletedChat,
  ImportedChat,
  StoredChat,
} from '../../../../src/runtime/chat-record.ts';
import { chatRequest, decideAnswered } from '../../chat/chat-request.ts';
import { parseIdempotencyKey } from '../../signed/caller.ts';
import type { Served, SignedEnv } from '../authentication.ts';
import {
  json,
  named,
  type Operations,
  pageOf,
  type Parameter,
  type Shape,
  shapeOf,
  Time,
  type WithTimes,
} from '../operation.ts';
import { readJson } from '../request.ts';
import { runStream } from '../stream-parts.ts';
import { requireVersion } from './collection.ts';
import { nothingLeft, startWith, streamChatOf, streamResponse } from './runs.ts';

/** What `DefaultChatTransport` sends; its `body` adds fields of a run, such as `planner`. */
const ChatRequest = v.looseObject({
  id: v.pipe(v.string(), v.minLength(1), v.maxLength(200)),
  messages: v.array(v.looseObject({ id: v.string(), role: v.string(), parts: v.array(v.unknown()) })),
  trigger: v.optional(v.picklist(['submit-message', 'regenerate-message'])),
  messageId: v.optional(v.string()),
});

export const chatOperations = {
  'POST /v1/agents/:id/chat': {
    operationId: 'sendChat',
    hasLargeBody: true,
    summary: "Send a chat, as the AI SDK's DefaultChatTransport does",
    scope: 'run:create',
    checkedBy: 'runtime',
    body: shapeOf(ChatRequest),
    responses: { 200: runStream },
    problems: [404, 409, 413, 415, 422],
  },
  'GET /v1/agents/:id/chat/:chatId/stream': {
    operationId: 'resumeChat',
    summary: "Replay the message of the chat's running run, as the AI SDK's DefaultChatTransport asks for it",
    scope: 'run:read',
    responses: { 200: runStream, 204: nothingLeft },
  },
} satisfies Operations;

/** Creates the routes under `/agents/:id/chat`. Answers to approvals within the messages are decisions: they take `tool:approve`. */
export function chatRoutes(endpoint: Served): void {
  const { runtime } = endpoint;
  const serve = endpoint.serve(chatOperations);
  serve('POST /v1/agents/:id/chat', async (c) => {
    const { principal, trace } = c.var;
    const { data, fingerprint } = await readJson(c.req.raw);
    const { id, messages: given, trigger: _, messageId: __, ...body } = parse(ChatRequest, data, { what: 'the chat' });
    const messages = given as unknown as UIMessage[]; // the runtime checks their parts
    const agentId = c.req.param('id');
    requireScope(principal, 'run:create', agentId);
    await decideAnswered(messages, (...decided) => runtime.decide(...decided, principal));
    const request = chatRequest({ id, messages }, { ...body, agentId });
    const key = parseIdempotencyKey(c.req.header('idempotency-key') ?? `"${crypto.randomUUID()}"`);
    const started = await startWith(c, { request, idempotency: { key, fingerprint } }, endpoint);
    const cursor = await runtime.runs.answer(principal, started.runId);
    return streamResponse(endpoint, { cursor, runId: started.runId, traceId: started.known?.traceId ?? trace.traceId });
  });
  serve(
    'GET /v1/agents/:id/chat/:chatId/stream',
    (c) => streamChatOf(c.var.principal, c.req.param('chatId'), endpoint),
  );
}

const ChatAnswer = v.object({
  chatId: v.string(),
  title: v.string(),
  version: v.number(),
  agentIds: v.array(v.string()),
  createdAt: Time,
  updatedAt: Time,
});

const DeletedAnswer = v.object({ messages: v.number(), runs: v.number(), running: v.number() });

/** A chat to import; the runtime checks its messages. */
const ImportBody = v.looseObject({
  id: v.pipe(v.string(), v.minLength(1), v.maxLength(256)),
  title: v.optional(v.string()),
  agentIds: v.optional(v.array(v.string())),
  createdAt: v.optional(Time),
  updatedAt: v.optional(Time),
  messages: v.pipe(
    v.array(v.looseObject({ id: v.string(), role: v.string(), parts: v.array(v.unknown()) })),
    v.minLength(1),
  ),
});

const ImportAnswer = v.object({ ...ChatAnswer.entries, imported: v.number(), known: v.number(), files: v.number() });

const TitleBody = v.strictObject({ title: v.string() });

const ChatQuery = v.strictObject({
  /** Another subject of the tenant; needs the scope `admin`. */
  subject: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(256))),
});

const ChatsQuery = v.strictObject({
  ...ChatQuery.entries,
  limit: v.optional(v.pipe(v.string(), v.regex(/^\d{1,3}$/, `must be 1 to ${maxLimit}`))),
  pageToken: v.optional(v.pipe(v.string(), v.maxLength(4_000))),
});

type ChatOnWire<T extends ChatSummary> = WithTimes<T, 'createdAt' | 'updatedAt'>;

const summary = named('ChatSummary', shapeOf(ChatAnswer));

const chatShape: Shape = (components) => ({
  allOf: [summary(components)],
  type: 'object',
  properties: {
    messages: { type: 'array', items: { type: 'object' } },
    runId: { type: 'string', description: 'The run that writes the next message' },
    nextPageToken: { type: 'string' },
  },
  required: ['messages'],
});

const ifMatch: Parameter = { name: 'If-Match', in: 'header', required: true, schema: { type: 'string' } };

export const storedChatOperations = {
  'GET /v1/chats': {
    operationId: 'listChats',
    summary: 'List stored chats, the newest first',
    scope: 'run:read',
    query: ChatsQuery,
    responses: { 200: json<Page<ChatOnWire<ChatSummary>>>('A page of chats', pageOf(summary)) },
  },
  'GET /v1/chats/:id': {
    operationId: 'readChat',
    summary: 'Read a stored chat with a page of its messages',
    scope: 'run:read',
    query: ChatsQuery,
    responses: { 200: json<ChatOnWire<StoredChat>>('The chat', named('StoredChat', chatShape)) },
    problems: [404],
  },
  'POST /v1/chats/import': {
    operationId: 'importChat',
    hasLargeBody: true,
    summary: 'Store a chat that another app has written; a repeat changes nothing',
    scope: 'run:create',
    query: ChatQuery,
    body: shapeOf(ImportBody),
    responses: { 200: json<ChatOnWire<ImportedChat>>('What was stored', shapeOf(ImportAnswer)) },
    problems: [409, 413, 415],
  },
  'PATCH /v1/chats/:id': {
    operationId: 'renameChat',
    summary: 'Rename a stored chat',
    scope: 'run:create',
    parameters: [ifMatch],
    query: ChatQuery,
    body: shapeOf(TitleBody),
    responses: { 200: json<ChatOnWire<ChatSummary>>('The chat', summary) },
    problems: [404, 409, 413, 415, 428],
  },
  'DELETE /v1/chats/:id': {
    operationId: 'deleteChat',
    summary: 'Delete a stored chat with its messages and the logs of its runs',
    scope: 'run:create',
    query: ChatQuery,
    responses: { 200: json<DeletedChat>('What was removed', shapeOf(DeletedAnswer)) },
  },
} satisfies Operations;

export function storedChatRoutes({ runtime: { chats }, serve: table }: Served): void {
  const serve = table(storedChatOperations);
  serve('GET /v1/chats', async (c) => {
    const { items, ...page } = await chats.list(c.var.principal, pageQueryOf(c));
    return c.json({ items: items.map(toAnswer), ...page }, 200, privately);
  });
  serve('GET /v1/chats/:id', async (c) => {
    const { messages, runId, nextPageToken, ...chat } = await chats.get(
      c.req.param('id'),
      c.var.principal,
      pageQueryOf(c),
    );
    const answer = { ...toAnswer(chat), messages, runId, nextPageToken };
    return c.json(answer, 200, { ...privately, ...etagOf(chat) });
  });
  serve('POST /v1/chats/import', async (c) => {
    const { principal, trace } = c.var;
    const { subject } = parse(ChatQuery, c.req.query(), { what: 'the query' });
    const { data } = await readJson(c.req.raw);
    const { imported, known, files, ...chat } = await chats.import(data as ChatImport, principal, { subject, trace }); // checked there
    return c.json({ ...toAnswer(chat), imported, known, files });
  });
  serve('PATCH /v1/chats/:id', async (c) => {
    const { principal, trace } = c.var;
    const { subject } = parse(ChatQuery, c.req.query(), { what: 'the query' });
    const version = requireVersion(c);
    const { title } = parse(TitleBody, (await readJson(c.req.raw)).data, { what: 'the new title' });
    const chat = await chats.rename(c.req.param('id'), { title, version }, principal, { subject, trace });
    return c.json(toAnswer(chat), 200, etagOf(chat));
  });
  serve('DELETE /v1/chats/:id', async (c) => {
    const { principal, trace } = c.var;
    const { subject } = parse(ChatQuery, c.req.query(), { what: 'the query' });
    return c.json(await chats.delete(c.req.param('id'), principal, { subject, trace }));
  });
}

const privately = { 'cache-control': 'private, no-store' };

function pageQueryOf(c: Context<SignedEnv>): PageOptions & { readonly subject?: string | undefined } {
  const { limit, ...query } = parse(ChatsQuery, c.req.query(), { what: 'the query' });
  return { ...query, ...(limit !== undefined && { limit: Number(limit) }) };
}

function etagOf({ version }: Pick<ChatSummary, 'version'>): { readonly etag: string } {
  return { etag: `"${version}"` };
}

function toAnswer({ createdAt, updatedAt, ...chat }: ChatSummary): Record<string, unknown> {
  return {
    ...chat,
    createdAt: new Date(createdAt).toISOString(),
    updatedAt: new Date(updatedAt).toISOString(),
  };
}
