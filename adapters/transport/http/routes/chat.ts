/** The routes that the AI SDK's own `DefaultChatTransport` calls: `api: '/v1/agents/<id>/chat'`. */

import * as v from 'valibot';
import { requireScope } from '../../../../src/base/principal.ts';
import type { UIMessage } from '../../../../src/contracts/ai-types.ts';
import { chatRequest } from '../../chat/chat-request.ts';
import { decideAnswered } from '../../chat/decide-answered.ts';
import { readJson } from '../body.ts';
import { type Operations, shapeOf } from '../operation.ts';
import { runStream } from '../stream-parts.ts';
import { parse } from '../../../../src/base/parse.ts';
import { parseIdempotencyKey } from '../../idempotency-key.ts';
import { nothingLeft, startWith, streamChatOf, streamResponse } from './runs.ts';
import type { Served } from '../served.ts';

/** What `DefaultChatTransport` sends; its `body` adds fields of a run, such as `planner`. */
const ChatRequest = v.looseObject({
  /** The chat. */
  id: v.pipe(v.string(), v.minLength(1), v.maxLength(200)),
  messages: v.array(v.looseObject({ id: v.string(), role: v.string(), parts: v.array(v.unknown()) })),
  trigger: v.optional(v.picklist(['submit-message', 'regenerate-message'])),
  messageId: v.optional(v.string()),
});

/** The operations of these routes. */
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
