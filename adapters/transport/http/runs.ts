/** The routes of runs: start, resume, look, cancel. */

import type { Context } from 'hono';
import { PinnaceError } from '../../../src/base/errors.ts';
import type { Principal } from '../../../src/base/principal.ts';
import type { Started } from '../../../src/runtime/runtime.ts';
import type { RunCursor, RunStatus } from '../../../src/runtime/log/runs.ts';
import { countRefusedRun } from '../../../src/runtime/refused-run.ts';
import { parse } from '../../../src/base/parse.ts';
import type { HandlerContext } from './handler.ts';
import { readJson } from './body.ts';
import { runInProgress } from './problem.ts';
import { ApprovalDecision, Reply } from './requests.ts';
import { traceHeader, traceOf } from './trace.ts';
import { parseIdempotencyKey } from '../idempotency-key.ts';
import { encodeSse, sseHeaders } from './sse.ts';

/** Adds the routes under `/v1/runs` and `/v1/chats`. */
export function addRunRoutes(context: HandlerContext): void {
  const { app, runtime: { runs }, authenticator, maxBodyBytes } = context;
  app.post('/v1/runs', async (c) => {
    const principal = await authenticator.authenticate(c.req.raw);
    const { runId, known } = await startRun(c, principal, context);
    if (known?.state === 'running') throw runInProgress(runId, known.lastSeq);
    const { traceId } = known ?? traceOf(c.req.raw);
    const cursor = await runs.answer(principal, runId);
    return streamResponse(context, { cursor, runId, traceId, replayed: known !== undefined });
  });
  app.get('/v1/runs/:id/stream', async (c) => {
    const principal = await authenticator.authenticate(c.req.raw);
    const runId = c.req.param('id');
    const status = await runs.status(principal, runId);
    const after = afterOf(c, runId);
    if (status.state !== 'running' && after === status.lastSeq) return c.body(null, 204);
    const { traceId } = status;
    return streamResponse(context, { cursor: await runs.cursor(principal, runId, after), runId, traceId });
  });
  app.get('/v1/chats/:id/stream', async (c) => {
    const principal = await authenticator.authenticate(c.req.raw);
    const status = await runs.ofChat(principal, c.req.param('id'));
    if (!status) return c.body(null, 204);
    const { runId, traceId } = status;
    return streamResponse(context, { cursor: await runs.cursor(principal, runId, 0), runId, traceId });
  });
  app.get('/v1/runs/:id', async (c) => {
    const principal = await authenticator.authenticate(c.req.raw);
    return c.json(toAnswer(await runs.status(principal, c.req.param('id'))));
  });
  app.post('/v1/runs/:id/approvals/:approvalId', async (c) => {
    const principal = await authenticator.authenticate(c.req.raw);
    const decision = parse(ApprovalDecision, (await readJson(c.req.raw, maxBodyBytes)).data, { what: 'the decision' });
    await context.runtime.decide(c.req.param('id'), c.req.param('approvalId'), decision, principal);
    return c.body(null, 204);
  });
  app.post('/v1/runs/:id/replies', async (c) => {
    const principal = await authenticator.authenticate(c.req.raw);
    const reply = parse(Reply, (await readJson(c.req.raw, maxBodyBytes)).data, { what: 'the reply' });
    await context.runtime.reply(c.req.param('id'), reply, principal);
    return c.body(null, 204);
  });
  app.delete('/v1/runs/:id', async (c) => {
    const principal = await authenticator.authenticate(c.req.raw);
    await context.runtime.cancel(c.req.param('id'), principal, { trace: traceOf(c.req.raw) });
    return c.body(null, 202);
  });
}

async function startRun(c: Context, principal: Principal, context: HandlerContext): Promise<Started> {
  const { runtime, authenticator, maxBodyBytes } = context;
  const key = parseIdempotencyKey(c.req.header('idempotency-key') ?? null);
  const { data, fingerprint } = await readJson(c.req.raw, maxBodyBytes);
  const known = await runtime.runs.find(principal, { key, fingerprint });
  if (known) return { runId: known.runId, known };
  const leave = enter(context, principal);
  const revoked = new AbortController();
  const unwatch = authenticator.onRevoked?.(principal, () => revoked.abort('session_revoked'));
  const release = (): void => {
    leave();
    unwatch?.();
  };
  try {
    const started = await runtime.start(data, principal, {
      signals: [revoked.signal],
      idempotency: { key, fingerprint },
      trace: traceOf(c.req.raw),
    });
    void (started.ended ?? Promise.resolve()).then(release);
    return started;
  } catch (error) {
    release();
    throw error;
  }
}

/** Counts the run against the quotas. @throws PinnaceError as `Quotas.enter`. */
function enter({ quotas, runtime: { metrics } }: HandlerContext, { tenant }: Principal): () => void {
  try {
    return quotas.enter(tenant);
  } catch (error) {
    countRefusedRun(metrics, error);
    throw error;
  }
}

interface StreamedRun {
  readonly cursor: RunCursor;
  readonly runId: string;
  /** The trace of the run, which its events carry. */
  readonly traceId: string;
  /** Whether the run was started by an earlier request with the same idempotency key. */
  readonly replayed?: boolean;
}

function streamResponse(
  { runtime, keepAliveMs }: HandlerContext,
  { cursor, runId, traceId, replayed = false }: StreamedRun,
): Response {
  return new Response(encodeSse(cursor, { runId, keepAliveMs, metrics: runtime.metrics }), {
    headers: {
      ...sseHeaders,
      'x-run-id': runId,
      [traceHeader]: traceId,
      'location': `/v1/runs/${runId}/stream`,
      ...(replayed && { 'idempotency-replayed': 'true' }),
    },
  });
}

/** Where to go on: `Last-Event-ID: <runId>:<seq>`, or the same as `?after=`. */
function afterOf(c: Context, runId: string): number {
  const given = c.req.header('last-event-id') ?? c.req.query('after');
  if (given === undefined || given === '') return 0;
  const seq = given.startsWith(`${runId}:`) ? given.slice(runId.length + 1) : '';
  if (/^\d{1,9}$/.test(seq)) return Number(seq);
  throw new PinnaceError('last_event_id_invalid', 'The event id is not one of this run', { status: 400 });
}

function toAnswer({ lastSeq, startedAt, endedAt, ...status }: RunStatus): Record<string, unknown> {
  return {
    ...status,
    lastEventId: `${status.runId}:${lastSeq}`,
    startedAt: new Date(startedAt).toISOString(),
    ...(endedAt !== undefined && { endedAt: new Date(endedAt).toISOString() }),
  };
}
