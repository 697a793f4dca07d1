/** The route that clients of AG-UI call: `new HttpAgent({ url: '…/v1/agents/<id>/agui' })`. */

import * as v from 'valibot';
import { sha256 } from '../../../../src/base/hash.ts';
import { withoutNulls } from '../../../../src/base/is-record.ts';
import { loadOnce } from '../../../../src/base/load-once.ts';
import { parse } from '../../../../src/base/parse.ts';
import { requireScope } from '../../../../src/base/principal.ts';
import { parseIdempotencyKey } from '../../signed/caller.ts';
import type { Served } from '../authentication.ts';
import { type Operations, shapeOf } from '../operation.ts';
import { readJson } from '../request.ts';
import { startWith, streamResponse } from './runs.ts';

/* Most endpoints have no client of AG-UI. */
const dialect = /* @__PURE__ */ loadOnce(() => import('./agui-dialect.ts'));

const Id = v.pipe(v.string(), v.minLength(1), v.maxLength(256));

const Source = v.looseObject({
  type: v.picklist(['data', 'url', 'file']),
  value: v.string(),
  mimeType: v.optional(v.string()),
});

const Content = v.variant('type', [
  v.looseObject({ type: v.literal('text'), text: v.string() }),
  v.looseObject({ type: v.picklist(['image', 'audio', 'video', 'document']), source: Source }),
  /** A file as clients before 1.0 send it. */
  v.looseObject({
    type: v.literal('binary'),
    mimeType: v.optional(v.string()),
    data: v.optional(v.string()),
    url: v.optional(v.string()),
    filename: v.optional(v.string()),
  }),
], 'must be of the type text, image, audio, video or document');
const Contents = v.pipe(v.array(Content, 'must be a text, or a list of parts'), v.minLength(1), v.maxLength(50));
export type AguiContent = v.InferOutput<typeof Content>;

/** Of the messages before the last one nothing is read but the ids of calls. */
const Message = v.looseObject({
  id: v.optional(v.unknown()),
  role: v.optional(v.unknown()),
  content: v.optional(v.unknown()),
  /** The calls of an answer, which the client has already. */
  toolCalls: v.optional(v.array(v.looseObject({ id: v.string() }))),
});

/** A message of a person. The endpoint has stored all others itself. */
export const AguiUserMessage = v.looseObject({
  id: Id,
  content: v.lazy((given): v.GenericSchema<unknown, string | AguiContent[]> =>
    typeof given === 'string' ? v.string() : Contents
  ),
});
export type AguiUserMessage = v.InferOutput<typeof AguiUserMessage>;

export const AguiInput = v.looseObject({
  threadId: Id,
  /** Names the run for the client. Sending it again never starts a second run. */
  runId: Id,
  messages: v.array(Message),
  /** What the model should know: data, never instructions. */
  context: v.optional(v.pipe(v.array(v.looseObject({ description: v.string(), value: v.string() })), v.maxLength(40))),
  tools: v.optional(v.array(v.looseObject({ name: v.pipe(v.string(), v.maxLength(256)) }))),
  state: v.optional(v.unknown()),
  /** Fields of a run: `limits`, `budget`, `output`. Others are not used. */
  forwardedProps: v.optional(v.unknown()),
  /** Answers to the interrupts of the run before. */
  resume: v.optional(v.pipe(
    v.array(v.looseObject({
      interruptId: v.pipe(v.string(), v.maxLength(1024)),
      status: v.picklist(['resolved', 'cancelled']),
      payload: v.optional(v.unknown()),
    })),
    v.maxLength(64),
  )),
});
export type AguiInput = v.InferOutput<typeof AguiInput>;

/** Where null means what the application means by it. */
const ofApplication: ReadonlySet<string> = new Set(['state', 'payload', 'output']);

export const aguiOperations = {
  'POST /v1/agents/:id/agui': {
    operationId: 'runAgui',
    hasLargeBody: true,
    summary: 'Run an agent for a client of AG-UI 1.0, which receives events of that protocol',
    scope: 'run:create',
    checkedBy: 'runtime',
    body: shapeOf(AguiInput),
    responses: {
      200: {
        description: 'Events of AG-UI 1.0, each as JSON in the data of a server-sent event',
        content: { 'text/event-stream': () => ({ type: 'string' }) },
      },
    },
    problems: [404, 409, 413, 415, 422],
  },
} satisfies Operations;

/** Creates the route. Answers to interrupts are decisions: they take `tool:approve`. */
export function aguiRoutes(endpoint: Served): void {
  const { runtime } = endpoint;
  const serve = endpoint.serve(aguiOperations);
  serve('POST /v1/agents/:id/agui', async (c) => {
    const { principal, trace } = c.var;
    const { data, fingerprint } = await readJson(c.req.raw);
    const input = parse(AguiInput, withoutNulls(data, ofApplication), { what: 'the input of the run' });
    const agentId = c.req.param('id');
    requireScope(principal, 'run:create', agentId);
    const { aguiRequest, createAguiDialect, decideResumed } = await dialect();
    const request = aguiRequest(agentId, input);
    await decideResumed(input, (...decided) => runtime.decide(...decided, principal));
    const { threadId, runId: named } = input;
    const given = c.req.header('idempotency-key') ??
      `"agui-${await sha256(JSON.stringify([principal.subject, agentId, threadId, named]))}"`;
    const idempotency = { key: parseIdempotencyKey(given), fingerprint };
    const { runId, known } = await startWith(c, { request, idempotency }, endpoint);
    const cursor = await runtime.runs.answer(principal, runId);
    const traceId = known?.traceId ?? trace.traceId;
    return streamResponse(endpoint, { cursor, runId, traceId, dialect: createAguiDialect(input) });
  });
}
