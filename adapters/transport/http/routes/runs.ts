/** The routes of runs: start, resume, read, cancel. */

import type { Context } from 'hono';
import * as v from 'valibot';
import { PinnaceError } from '../../../../src/base/errors.ts';
import type { Page } from '../../../../src/base/page.ts';
import { parse } from '../../../../src/base/parse.ts';
import type { Principal } from '../../../../src/base/principal.ts';
import { ForkRequest } from '../../../../src/forks/fork-request.ts';
import type { ForkEntry, Started, StartOptions } from '../../../../src/runtime/runtime.ts';
import { countRefusedRun } from '../../../../src/runtime/run-methods.ts';
import type { RunStatus } from '../../../../src/runtime/run-record.ts';
import { RunRequest } from '../../../../src/runtime/run-request.ts';
import type { RunCursor } from '../../../../src/runtime/stored-run.ts';
import { parseIdempotencyKey } from '../../signed/caller.ts';
import type { Served, SignedEnv } from '../authentication.ts';
import {
  empty,
  ErrorData,
  json,
  lastEventId,
  named,
  type Operations,
  pageOf,
  shapeOf,
  Time,
  Usage,
  type WithTimes,
} from '../operation.ts';
import { readJson, runInProgress, traceHeader } from '../request.ts';
import { encodeSse, type SseDialect, sseHeaders, uiStreamHeaders } from '../sse.ts';
import { RunStateName, runStream } from '../stream-parts.ts';

const RunAnswer = v.object({
  runId: v.string(),
  state: RunStateName,
  agentId: v.string(),
  chatId: v.string(),
  traceId: v.string(),
  runtimeId: v.optional(v.string()),
  planId: v.optional(v.string()),
  lastEventId: v.string(),
  startedAt: Time,
  endedAt: v.optional(Time),
  error: v.optional(ErrorData),
  usage: v.optional(Usage),
  parent: v.optional(v.object({ runId: v.string(), step: v.number() })),
  expiresAt: v.optional(Time),
});

export const nothingLeft = empty('Nothing is left to stream');

export const runOperations = {
  'POST /v1/runs': {
    operationId: 'createRun',
    hasLargeBody: true,
    summary: 'Start a run',
    scope: 'run:create',
    checkedBy: 'runtime',
    parameters: [{ name: 'Idempotency-Key', in: 'header', required: true, schema: { type: 'string' } }],
    body: shapeOf(RunRequest),
    responses: { 200: runStream },
    problems: [409, 413, 415, 422],
    usesNonce: true,
  },
  'GET /v1/runs/:id/stream': {
    operationId: 'streamRun',
    summary: 'Resume or replay a run',
    scope: 'run:read',
    parameters: [lastEventId],
    responses: { 200: runStream, 204: nothingLeft },
    problems: [404, 410],
  },
  'GET /v1/chats/:id/stream': {
    operationId: 'streamChat',
    summary: "Replay the message of the chat's running run",
    scope: 'run:read',
    responses: { 200: runStream, 204: nothingLeft },
  },
  'GET /v1/runs/:id': {
    operationId: 'getRun',
    summary: 'State of a run',
    scope: 'run:read',
    responses: {
      200: json<Readonly<Record<string, unknown>> & { readonly state: string }>(
        'The run',
        named('Run', shapeOf(RunAnswer)),
      ),
    },
    problems: [404, 410],
  },
  'DELETE /v1/runs/:id': {
    operationId: 'cancelRun',
    summary: 'Cancel a run',
    scope: 'run:cancel',
    responses: { 202: empty('The run is asked to stop, or has ended') },
    problems: [404, 410],
  },
} satisfies Operations;

export function runRoutes(endpoint: Served): void {
  const { runtime } = endpoint;
  const serve = endpoint.serve(runOperations);
  const { runs } = runtime;
  serve('POST /v1/runs', async (c) => {
    const { idempotency, data: request } = await readStart(c);
    return await answerStart(c, endpoint, await startWith(c, { request, idempotency }, endpoint));
  });
  serve('GET /v1/runs/:id/stream', async (c) => {
    const runId = c.req.param('id');
    const { principal } = c.var;
    const after = afterOf(c, runId);
    const { status: { state, lastSeq, traceId }, cursor } = await runs.follow(principal, runId, after);
    if (state === 'running' || after !== lastSeq) return streamResponse(endpoint, { cursor, runId, traceId });
    cursor.close();
    return c.body(null, 204);
  });
  serve('GET /v1/chats/:id/stream', async (c) => {
    return await streamChatOf(c.var.principal, c.req.param('id'), endpoint);
  });
  serve('GET /v1/runs/:id', async (c) => c.json(toAnswer(await runs.status(c.var.principal, c.req.param('id')))));
  serve('DELETE /v1/runs/:id', async (c) => {
    const { principal, trace } = c.var;
    await runtime.cancel(c.req.param('id'), principal, { trace });
    return c.body(null, 202);
  });
}

async function readStart(
  c: Context<SignedEnv>,
): Promise<{ readonly data: unknown; readonly idempotency: RunToStart['idempotency'] }> {
  const key = parseIdempotencyKey(c.req.header('idempotency-key') ?? null);
  const { data, fingerprint } = await readJson(c.req.raw);
  return { data, idempotency: { key, fingerprint } };
}

/** Responds with the stream of a run that was started, or with that of its key once it has ended. */
async function answerStart(
  c: Context<SignedEnv>,
  endpoint: Served,
  { runId, known }: Started,
): Promise<Response> {
  if (known) await c.var.nonce?.commit(); // a replay must not learn that the run exists
  if (known?.state === 'running') throw runInProgress(runId, known.lastSeq);
  const { traceId } = known ?? c.var.trace;
  const cursor = await endpoint.runtime.runs.answer(c.var.principal, runId);
  return streamResponse(endpoint, { cursor, runId, traceId, replayed: known !== undefined });
}

/** The message of the chat's running run as a stream from its start; 204 when no run is running. */
export async function streamChatOf(
  principal: Principal,
  chatId: string,
  endpoint: Served,
): Promise<Response> {
  const { runs } = endpoint.runtime;
  const status = await runs.ofChat(principal, chatId);
  if (!status) return new Response(null, { status: 204 });
  const { runId, traceId } = status;
  const earlier = await runs.earlier(principal, runId);
  return streamResponse(endpoint, { cursor: await runs.cursor(principal, runId, 0), runId, traceId, earlier });
}

interface RunToStart {
  readonly request: unknown;
  readonly idempotency: NonNullable<StartOptions['idempotency']>;
  readonly forkOf?: string;
}

/** Starts a run within the quotas, or finds the run of its key. */
export async function startWith(
  c: Context<SignedEnv>,
  { request, idempotency, forkOf }: RunToStart,
  { runtime, quotas, admission, watchSession, watchSubject }: Served,
): Promise<Started> {
  const { principal, trace, nonce } = c.var;
  const leave = await enter(c, { quotas, runtime, idempotency });
  if (typeof leave !== 'function') return leave;
  const started = admit({ admission, runtime }, leave);
  const revoked = new AbortController();
  const unwatch = watchSession(principal, revoked);
  const release = (): void => {
    leave();
    unwatch();
  };
  try {
    const given = { signals: [revoked.signal], idempotency, trace, nonce };
    const run = forkOf === undefined
      ? await runtime.start(request, principal, given)
      : await runtime.startFork(forkOf, request, principal, given);
    void (run.settled ?? Promise.resolve()).then(release);
    watchSubject(principal, { chatId: chatIdOf(request), idempotencyKey: idempotency.key });
    return run;
  } catch (error) {
    release();
    throw error;
  } finally {
    started();
  }
}

/** The chat of a request that has started a run; a fork has that of its run. */
function chatIdOf(request: unknown): string | undefined {
  const { chat } = request as { readonly chat?: { readonly id: string } }; // safe: the runtime has parsed it
  return chat?.id;
}

/** Counts the run against the quotas; a known run needs no place. @throws PinnaceError as `Quotas.enter`. */
async function enter(
  { var: { principal, nonce } }: Context<SignedEnv>,
  { quotas, runtime, idempotency }: Pick<Served, 'quotas' | 'runtime'> & {
    readonly idempotency: NonNullable<StartOptions['idempotency']>;
  },
): Promise<(() => void) | Started> {
  try {
    return quotas.enter(principal);
  } catch (error) {
    await nonce?.commit();
    const known = await runtime.runs.find(principal, idempotency);
    if (known) return { runId: known.runId, known };
    countRefusedRun(runtime.metrics, error);
    throw error;
  }
}

/** Counts the start, before its key is claimed. @throws PinnaceError as `Admission.enter`. */
function admit(
  { admission, runtime }: Pick<Served, 'admission' | 'runtime'>,
  leaveQuota: () => void,
): () => void {
  try {
    return admission.enter();
  } catch (error) {
    leaveQuota();
    countRefusedRun(runtime.metrics, error);
    throw error;
  }
}

interface StreamedRun {
  readonly cursor: RunCursor;
  readonly runId: string;
  readonly traceId: string;
  /** The chunks that earlier runs have added to the message. */
  readonly earlier?: readonly string[];
  /** Whether the run was started by an earlier request with the same idempotency key. */
  readonly replayed?: boolean;
  /** How the chunks are written; as the AI SDK reads them when absent. */
  readonly dialect?: SseDialect;
}

export function streamResponse(
  { runtime, keepAliveMs }: Pick<Served, 'runtime' | 'keepAliveMs'>,
  { cursor, runId, traceId, earlier = [], replayed = false, dialect }: StreamedRun,
): Response {
  return new Response(encodeSse(cursor, { runId, earlier, keepAliveMs, metrics: runtime.metrics, dialect }), {
    headers: {
      ...sseHeaders,
      ...(!dialect && uiStreamHeaders),
      'x-run-id': runId,
      [traceHeader]: traceId,
      'location': `/v1/runs/${runId}/stream`,
      ...(replayed && { 'idempotency-replayed': 'true' }),
    },
  });
}

/** Where to resume: `Last-Event-ID: <runId>:<seq>`, or the same as `?after=`. */
function afterOf(c: Context, runId: string): number {
  const given = c.req.header('last-event-id') ?? c.req.query('after');
  if (given === undefined || given === '') return 0;
  const seq = given.startsWith(`${runId}:`) ? given.slice(runId.length + 1) : '';
  if (/^\d{1,9}$/.test(seq)) return Number(seq);
  throw new PinnaceError('last_event_id_invalid', 'The event id is not one of this run');
}

function toAnswer({ lastSeq, startedAt, endedAt, expiresAt, ...status }: RunStatus): Record<string, unknown> {
  return {
    ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt).toISOString() }),
    ...status,
    lastEventId: `${status.runId}:${lastSeq}`,
    startedAt: new Date(startedAt).toISOString(),
    ...(endedAt !== undefined && { endedAt: new Date(endedAt).toISOString() }),
  };
}

const Fork = v.object({
  runId: v.string(),
  chatId: v.string(),
  atStep: v.number(),
  changed: v.array(v.string()),
  effects: v.picklist(['dry', 'live']),
  startedAt: Time,
});

const ForksQuery = v.strictObject({
  limit: v.optional(v.pipe(v.string(), v.regex(/^\d{1,4}$/, 'must be a number'), v.transform(Number))),
  pageToken: v.optional(v.pipe(v.string(), v.maxLength(1000))),
});

export const forkOperations = {
  'POST /v1/runs/:id/forks': {
    operationId: 'forkRun',
    hasLargeBody: true,
    summary: 'Start a run that goes on from a step of this one',
    scope: 'run:create',
    checkedBy: 'runtime',
    parameters: [{ name: 'Idempotency-Key', in: 'header', required: true, schema: { type: 'string' } }],
    body: shapeOf(ForkRequest),
    responses: { 200: runStream },
    problems: [404, 409, 410, 413, 415, 422],
    usesNonce: true,
  },
  'GET /v1/runs/:id/forks': {
    operationId: 'listForks',
    summary: 'The forks of a run',
    scope: 'run:read',
    query: ForksQuery,
    responses: {
      200: json<Page<WithTimes<ForkEntry, 'startedAt'>>>('A page of forks', pageOf(named('Fork', shapeOf(Fork)))),
    },
    problems: [404, 410],
  },
} satisfies Operations;

export function forkRoutes(endpoint: Served): void {
  const { runtime } = endpoint;
  const serve = endpoint.serve(forkOperations);
  serve('POST /v1/runs/:id/forks', async (c) => {
    const { data: request, idempotency } = await readStart(c);
    return await answerStart(
      c,
      endpoint,
      await startWith(c, { request, idempotency, forkOf: c.req.param('id') }, endpoint),
    );
  });
  serve('GET /v1/runs/:id/forks', async (c) => {
    const { limit, pageToken } = parse(ForksQuery, c.req.query(), { what: 'the query' });
    const wanted = { ...(limit !== undefined && { limit }), pageToken };
    const { items, ...more } = await runtime.forks(c.req.param('id'), c.var.principal, wanted);
    const shown = items.map((fork) => ({ ...fork, startedAt: new Date(fork.startedAt).toISOString() }));
    return c.json({ items: shown, ...more });
  });
}
