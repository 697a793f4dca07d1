import { afterEach, describe, expect, it, vi } from 'vitest';
import type { RunNews } from '../../../../demo/control/runs-control.ts';
import { readRemoteRun } from '../../../../demo/runs/worker/remote-run.ts';
import {
  createEventRing,
  createPrincipal,
  type EventRing,
  localPrincipal,
  type ObservedEvent,
} from '../../../../src/index.ts';
import { memorySink } from '../../../../adapters/sinks/memory.ts';
import { callsTools, says, scriptedModel, stallingStream } from '../../../fixtures/model.ts';
import { lastData, readAll, runRequest, testRuntime } from '../../../fixtures/runtime.ts';
import { signedEndpoint } from '../../../fixtures/signed-endpoint.ts';

const principal = createPrincipal({ ...localPrincipal(), tenant: 't1', subject: 's1' });
let left = new AbortController();

afterEach(() => {
  left.abort();
  left = new AbortController();
});

async function endpoint(model: Parameters<typeof testRuntime>[0]['model'], ring: EventRing = createEventRing()) {
  const { sink, events } = memorySink();
  const runtime = testRuntime({ model, ring, sinks: [sink] });
  const signed = await signedEndpoint(runtime, { planner: runtime.planner });
  const news: RunNews[] = [];
  const read = async (traceId: string, planId?: string, scopes: Parameters<typeof signed.client>[0] = {}) =>
    await readRemoteRun(await signed.client({ scopes: ['admin', 'run:read'], ...scopes }), {
      traceId,
      planId,
      onNews: (one) => news.push(one),
      signal: left.signal,
      newsEveryMs: 0,
    });
  const emitted = (traceId: string): ObservedEvent[] => events.filter((event) => event.traceId === traceId);
  return { runtime, read, news, emitted };
}

const plans = (prompt: string) =>
  prompt.includes('You are sub-agent')
    ? says('Sound')
    : prompt.includes('The result of sub-agent')
    ? says('All sound')
    : callsTools({ tool: 'create', input: { goal: 'The bow' } });

describe('readRemoteRun', () => {
  it('reports a run’s progress to its end', async () => {
    const gate = Promise.withResolvers<void>();
    const { model } = scriptedModel(() =>
      new ReadableStream({
        async start(controller) {
          await gate.promise;
          for (const part of says('Hi')) controller.enqueue(part);
          controller.close();
        },
      })
    );
    const { runtime, read, news, emitted } = await endpoint(model);
    const { runId } = await runtime.start(runRequest(), principal, {});
    const { traceId } = await runtime.runs.status(principal, runId);
    await vi.waitFor(() => expect(emitted(traceId).map(({ action }) => action)).toContain('model.call'));
    const record = await read(traceId);
    expect(record.head.durationMs).toBeUndefined();
    gate.resolve();
    await vi.waitFor(() => expect(news.at(-1)?.head.status).toBe('ok'));
    const all = [...record.events];
    for (const { from, events } of news) {
      expect(from).toBe(all.length);
      all.push(...events);
    }
    expect(all).toEqual(emitted(traceId));
  });

  it('gives the run that has begun a plan, for one that follows it', async () => {
    const { model } = scriptedModel(({ prompt }) =>
      new ReadableStream({
        start(controller) {
          for (const part of plans(JSON.stringify(prompt))) controller.enqueue(part);
          controller.close();
        },
      })
    );
    const { runtime, read } = await endpoint(model);
    const first = await readAll(await runtime.run(runRequest({ planner: {} }), principal));
    const { planId } = lastData(first, 'data-plan');
    const second = await readAll(await runtime.run(runRequest({ planner: { planId } }), principal));
    const { traceId } = lastData(second, 'data-run');
    const { head, events } = await read(String(traceId), String(planId));
    expect(head).toMatchObject({ traceId: lastData(first, 'data-run')['traceId'], planId });
    expect(events.map(({ action }) => action)).toContain('plan.end');
  });

  it('says that a run is partial where its first events were dropped', async () => {
    const { runtime, read } = await endpoint(scriptedModel(says('Hi')).model, createEventRing({ capacity: 3 }));
    const { traceId } = lastData(await readAll(await runtime.run(runRequest(), principal)), 'data-run');
    expect(await read(String(traceId))).toMatchObject({ isPartial: true, head: { traceId, status: 'ok' } });
  });

  it.each(
    [
      ['forbidden', 'a caller without the scope', { scopes: ['run:read'] }],
      ['not_found', 'another tenant’s run', { tenant: 't2' }],
    ] as const,
  )('rejects with %s for %s', async (code, _, session) => {
    const { runtime, read } = await endpoint(scriptedModel(() => stallingStream([])).model);
    const { runId } = await runtime.start(runRequest(), principal, {});
    const { traceId } = await runtime.runs.status(principal, runId);
    await expect(read(traceId, undefined, session)).rejects.toMatchObject({ code });
    await runtime.close();
  });
});
