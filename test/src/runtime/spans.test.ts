import { describe, expect, it, vi } from 'vitest';
import { mortal } from '../../fixtures/processes/lost-instance.ts';
import { staticCatalog } from '../../../adapters/catalog/static.ts';
import { memorySecrets } from '../../../adapters/secrets/memory.ts';
import { memorySink } from '../../../adapters/sinks/memory.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { createRuntime, defineTool, type Egress, localPrincipal, PinnaceError } from '../../../src/index.ts';
import { createPrincipal } from '../../../src/base/principal.ts';
import { readSummary } from '../../../src/events/payload-summary.ts';
import { linesOf } from '../../fixtures/events.ts';
import { eventProblems } from '../../../src/simulation/invariants.ts';
import { callsTools, says, scriptedModel, stallingStream } from '../../fixtures/model.ts';
import { readAll, runRequest, testRuntime } from '../../fixtures/runtime.ts';
import * as v from 'valibot';

const me = localPrincipal();

function watched() {
  const { sink, events } = memorySink();
  return { sinks: [sink], events };
}

describe('the events of a run', () => {
  it('show every attempt of a model call, with its error', async () => {
    const { sinks, events } = watched();
    const { model } = scriptedModel(says('Hi'));
    let tries = 0;
    const moody = {
      ...model,
      doStream: (options: Parameters<typeof model.doStream>[0]) =>
        ++tries === 1
          ? Promise.reject(new PinnaceError('unavailable', 'The model is busy', { retryable: true }))
          : model.doStream(options),
    };
    await readAll(await testRuntime({ model: moody, sinks, limits: { modelRetries: 0 } }).run(runRequest(), me));
    expect(linesOf(events)).toEqual([
      'run pending',
      'run > step pending',
      'run > step > model.call pending',
      'run > step > model.call error',
      'run > step error',
      'run error',
    ]);
    expect(events[3]).toMatchObject({ error: { code: 'unavailable', retryable: true } });
  });

  it('end with a run that is stopped in the middle of a call, the innermost first', async () => {
    const { sinks, events } = watched();
    const stop = new AbortController();
    const wait = defineTool({
      id: 'wait',
      description: 'Waits',
      input: v.object({}),
      execute: () => {
        stop.abort('user');
        return new Promise(() => undefined);
      },
    });
    const { model } = scriptedModel(callsTools({ tool: 'wait', input: {} }));
    const runtime = testRuntime({ model, tools: [wait], sinks });
    await readAll(await runtime.run(runRequest(), me, { signal: stop.signal }));
    await runtime.close();
    expect(linesOf(events).slice(-5)).toEqual([
      'run > step > tool.call pending',
      'run > step > tool.call > error error',
      'run > step > tool.call error',
      'run > step cancelled',
      'run cancelled',
    ]);
    expect(eventProblems(events)).toEqual([]);
  });

  it.each([
    ['its own time is over', { limits: { totalMs: 200 } }, 'error'],
    ['the runtime is closed', {}, 'cancelled'],
  ])('all end when %s', async (_, options, status) => {
    const { sinks, events } = watched();
    const { model } = scriptedModel(() => stallingStream([]));
    const runtime = testRuntime({ model, sinks, ...options });
    const { ended } = await runtime.start(runRequest(), me, {});
    await vi.waitFor(() => expect(events).toHaveLength(3));
    if (status === 'cancelled') await runtime.close();
    await ended;
    expect(linesOf(events).slice(-3)).toEqual([
      `run > step > model.call ${status}`,
      `run > step ${status}`,
      `run ${status}`,
    ]);
    expect(eventProblems(events)).toEqual([]);
  });

  it('show secrets by name, in the span that needed them', async () => {
    const { sinks, events } = watched();
    const keyed = defineTool({
      id: 'keyed',
      description: 'Uses a key',
      secrets: [{ id: 'weather-key' }],
      input: v.object({}),
      execute: () => 'sunny',
    });
    const { model } = scriptedModel(callsTools({ tool: 'keyed', input: {} }), says('Sunny'));
    const runtime = createRuntime({
      catalog: staticCatalog({
        agents: [{ id: 'helper', name: 'Helper', providerId: 'p', entryTools: ['*'] }],
        providers: [{ id: 'p', kind: 'custom', secret: { id: 'model-key' } }],
      }),
      models: { model: () => model },
      secrets: memorySecrets({ 'weather-key': 'SECRET-weather-1', 'model-key': 'SECRET-model-1' }, {
        unboundSecrets: 'allow',
      }),
      storage: memoryStorage(),
      tools: [keyed],
      sinks,
    });
    await readAll(await runtime.run(runRequest(), me));
    const resolved = events.flatMap((event, at) => event.action === 'secret.resolve' ? [at] : []);
    expect(resolved.map((at) => `${linesOf(events)[at]} ${events[at]?.target.id}`)).toEqual([
      'run > secret.resolve pending model-key',
      'run > secret.resolve ok model-key',
      'run > step > tool.call > secret.resolve pending weather-key',
      'run > step > tool.call > secret.resolve ok weather-key',
    ]);
    expect(JSON.stringify(events)).not.toContain('SECRET');
  });

  it('show the requests of HTTP tools by their origin, which receives the span context', async () => {
    const { sinks, events } = watched();
    const sent: (string | undefined)[] = [];
    const egress: Egress = {
      fetch(_, { traceparent }) {
        sent.push(traceparent);
        return Promise.resolve(Response.json({ temperature: 20 }, { status: sent.length === 1 ? 503 : 200 }));
      },
    };
    const { model } = scriptedModel(callsTools({ tool: 'weather', input: {} }), says('20 degrees'));
    const catalog = staticCatalog({
      agents: [{ id: 'helper', name: 'Helper', providerId: 'p', entryTools: ['*'] }],
      providers: [{ id: 'p', kind: 'custom' }],
      tools: [{
        id: 'weather',
        name: 'weather',
        type: 'http',
        description: 'The weather',
        paramsSchema: { type: 'object' },
        config: { method: 'GET', origin: 'https://api.example.com', path: '/today', retries: 1 },
      }],
    });
    const runtime = createRuntime({ catalog, models: { model: () => model }, storage: memoryStorage(), egress, sinks });
    await readAll(await runtime.run(runRequest(), me));
    const requests = events.filter(({ action }) => action === 'http.request');
    expect(requests.map(({ status, target, payloadSummary }) => [status, target.id, payloadSummary])).toEqual([
      ['pending', 'https://api.example.com', 'method=GET'],
      ['error', 'https://api.example.com', 'method=GET httpStatus=503'],
      ['pending', 'https://api.example.com', 'method=GET'],
      ['ok', 'https://api.example.com', 'method=GET httpStatus=200'],
    ]);
    expect(linesOf(events)).toContain('run > step > tool.call > http.request ok');
    const spans = requests.filter(({ status }) => status === 'pending');
    expect(sent).toEqual(spans.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`));
  });

  it('show who requested an approval, and who decided, in one trace', async () => {
    const { sinks, events } = watched();
    const risky = defineTool({
      id: 'risky',
      description: 'Changes things',
      approval: 'always',
      input: v.object({}),
      execute: () => 'done',
    });
    const { model } = scriptedModel(callsTools({ tool: 'risky', input: {} }));
    const runtime = testRuntime({ model, tools: [risky], sinks });
    const { runId, ended } = await runtime.start(runRequest(), me, {});
    await ended;
    const asked = events.find(({ action }) => action === 'approval.request');
    expect(asked).toMatchObject({ status: 'ok', actor: { id: 'helper' }, target: { type: 'tool', id: 'risky' } });
    const { approvalId } = readSummary(asked!.payloadSummary);
    await runtime.decide(runId, String(approvalId), { approved: false, reason: 'sk-SECRET' }, me);
    expect(events.at(-1)).toMatchObject({
      action: 'approval.decide',
      traceId: asked?.traceId,
      actor: { type: 'user', id: 'local' },
      target: { type: 'approval', id: approvalId },
      status: 'ok',
      payloadSummary: `runId=${runId} approved=false`,
    });
    const again = runtime.decide(runId, String(approvalId), { approved: true }, me);
    await expect(again).rejects.toMatchObject({ code: 'already_decided' });
    expect(events.at(-1)).toMatchObject({ action: 'approval.decide', error: { code: 'already_decided' } });
    const unknown = runtime.decide(runId, 'apr_SECRET', { approved: true }, me);
    await expect(unknown).rejects.toMatchObject({ code: 'not_found' });
    expect(JSON.stringify(events)).not.toContain('SECRET');
  });

  it('are visible to their tenant only', async () => {
    const runtime = testRuntime({ model: scriptedModel(says('Hi')).model });
    const ann = createPrincipal({ ...me, tenant: 'a', subject: 'ann' });
    const bob = createPrincipal({ ...me, tenant: 'b', subject: 'bob', via: 'http' });
    await readAll(await runtime.run(runRequest(), ann));
    await runtime.invalidate(['agent:helper']);
    await readAll(await runtime.run(runRequest(), bob));
    const actorsOf = async (principal: typeof ann): Promise<Set<string>> => {
      const actors = new Set<string>();
      for await (const { event } of runtime.events(principal, { after: 0 })) {
        actors.add(event.actor.id);
        if (event.action === 'run.end') break;
      }
      return actors;
    };
    expect(await actorsOf(ann)).toEqual(new Set(['ann', 'helper']));
    expect(await actorsOf(bob)).toEqual(new Set(['bob', 'helper']));
    const stop = new AbortController();
    const nobodys = runtime.events(ann, { after: 0, filter: { action: 'cache.invalidate' } });
    expect((await nobodys.getReader().read()).value?.event.target.id).toBe('agent:helper');
    const hidden = readAll(
      runtime.events(bob, { after: 0, filter: { action: 'cache.invalidate' }, signal: stop.signal }),
    );
    stop.abort();
    expect(await hidden).toEqual([]);
    const { scopes: _, ...rest } = me;
    expect(() => runtime.events(createPrincipal({ ...rest, scopes: ['run:create'] }))).toThrow('the scope "admin"');
    await runtime.close();
  });

  it('show the end of a run whose instance was lost, emitted by the instance that detects it', async () => {
    let time = 1_000_000;
    const now = () => time;
    const storage = memoryStorage({ now });
    const { model } = scriptedModel(() => stallingStream([]));
    const first = watched();
    const dying = mortal(storage);
    const lost = testRuntime({ model, storage: dying.storage, now, sinks: first.sinks });
    const { runId } = await lost.start(runRequest(), me, {});
    const { sinks, events } = watched();
    const finder = testRuntime({ model, storage, now, sinks, recovery: false });
    time += 60_000;
    dying.kill();
    await readAll(await finder.resume(runId, 0, { principal: me }));
    expect(await finder.runs.status(me, runId)).toMatchObject({ state: 'interrupted' });
    const begun = first.events.find(({ action }) => action === 'run.start');
    const { traceId, spanId, actor, target } = begun!;
    expect(events).toMatchObject([
      { action: 'run.end', status: 'error', traceId, spanId, actor, target, latency: 60_000 },
    ]);
    expect(events[0]?.error).toMatchObject({ details: { reason: 'worker_lost' } });
  });
});
