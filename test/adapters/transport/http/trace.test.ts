import { describe, expect, it } from 'vitest';
import { memorySink } from '../../../../adapters/sinks/memory.ts';
import { developmentAuthenticator } from '../../../../adapters/transport/development-authenticator.ts';
import { createHandler, type Handler } from '../../../../adapters/transport/http.ts';
import type { ObservedEvent } from '../../../../src/index.ts';
import { says, scriptedModel } from '../../../fixtures/model.ts';
import { runRequest, testRuntime } from '../../../fixtures/runtime.ts';

const token = 'a-token-for-tests-only';
const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;

function endpoint(): { readonly serve: Handler; readonly events: readonly ObservedEvent[] } {
  const { sink, events } = memorySink();
  const runtime = testRuntime({ model: scriptedModel(says('Hi')).model, sinks: [sink] });
  const origins = ['https://app.example'];
  return { serve: createHandler(runtime, { authenticator: developmentAuthenticator({ token }), origins }), events };
}

function ask(path: string, { body, ...headers }: Record<string, string> & { body?: string } = {}): Request {
  return new Request(`http://127.0.0.1${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      'authorization': `Bearer ${token}`,
      'content-type': 'application/json',
      'idempotency-key': `"${crypto.randomUUID()}"`,
      ...headers,
    },
    ...(body !== undefined && { body }),
  });
}

const start = (headers: Record<string, string> = {}, overrides = {}) =>
  ask('/v1/runs', { body: JSON.stringify({ ...runRequest(), ...overrides }), ...headers });

describe('the trace of a request', () => {
  it('is that of its traceparent, in the problem answer and in the events of the refused run', async () => {
    const { serve, events } = endpoint();
    const response = await serve(start({ traceparent }, { agentId: 'nobody' }));
    expect(response.status).toBe(404);
    expect(response.headers.get('x-trace-id')).toBe(traceId);
    expect(await response.json()).toMatchObject({ traceId });
    expect(events.filter((event) => event.traceId === traceId).map(({ action }) => action)).toContain('run.end');
  });

  it('is named in a stream, and a replay names the trace of the run', async () => {
    const { serve, events } = endpoint();
    const key = { 'idempotency-key': '"the-key-of-this-run"' };
    const first = await serve(start({ traceparent, ...key }));
    await first.text();
    const replay = await serve(start(key));
    await replay.text();
    const runId = first.headers.get('x-run-id') ?? '';
    const resumed = await serve(ask(`/v1/runs/${runId}/stream`));
    await resumed.text();
    const named = [first, replay, resumed].map(({ headers }) => headers.get('x-trace-id'));
    expect(named).toEqual([traceId, traceId, traceId]);
    expect(events.some((event) => event.traceId === traceId && event.action === 'run.start')).toBe(true);
  });

  it('can be read by a page of a listed origin', async () => {
    const { serve } = endpoint();
    const response = await serve(ask('/v1/healthz', { origin: 'https://app.example' }));
    expect(response.headers.get('access-control-expose-headers')).toContain('x-trace-id');
  });
});
