import { describe, expect, it, onTestFinished } from 'vitest';
import { connectRuntime, exposeRuntime } from '../../../adapters/transport/comlink.ts';
import { localPrincipal } from '../../../src/index.ts';
import type { ForkOptions } from '../../../src/runtime/runtime.ts';
import { forkRuntime, runIdOf } from '../../fixtures/forks/forks.ts';
import { callsTools, says, scriptedModel } from '../../fixtures/model.ts';
import { lastData, readAll, runRequest, textOf } from '../../fixtures/runtime.ts';
import { signedEndpoint } from '../../fixtures/signed-endpoint.ts';

const scripts = () => scriptedModel(callsTools({ tool: 'look', input: { at: 'bow' } }), says('One'), says('Two')).model;

describe('forks from another process', () => {
  it('are started, repeated, listed and read through an endpoint', async () => {
    const { runtime } = forkRuntime({ model: scripts() });
    const client = await (await signedEndpoint(runtime)).client();
    const runId = runIdOf(await readAll(await client.run(runRequest())));
    const call = { idempotencyKey: crypto.randomUUID() };
    const chunks = await readAll(await client.fork(runId, { atStep: 2 }, call));
    expect(textOf(chunks)).toBe('Two');
    expect(lastData(chunks, 'data-fork')).toMatchObject({ parent: runId, atStep: 2, exact: true });
    expect(await readAll(await client.fork(runId, { atStep: 2 }, call))).toEqual(chunks);
    const { items } = await client.forks(runId, { limit: 10 });
    expect(items).toEqual([
      {
        runId: runIdOf(chunks),
        chatId: lastData(chunks, 'data-fork')['chatId'],
        atStep: 2,
        changed: [],
        effects: 'dry',
        startedAt: expect.any(Number),
      },
    ]);
    expect(await client.status(runIdOf(chunks))).toMatchObject({
      parent: { runId, step: 2 },
      expiresAt: expect.stringMatching(/Z$/),
    });
    const resumed = await client.resume(runIdOf(chunks), { lastEventId: `${runIdOf(chunks)}:5` });
    expect(await readAll(resumed!)).toEqual(chunks.slice(5));
  });

  it('are refused as problems', async () => {
    const { runtime } = forkRuntime({ model: scripts() });
    const client = await (await signedEndpoint(runtime)).client();
    const runId = runIdOf(await readAll(await client.run(runRequest())));
    const refusals: readonly [string, object, object][] = [
      [runId, { atStep: 9 }, { code: 'invalid_argument', status: 400, details: { reason: 'no_such_step' } }],
      [runId, { atStep: '1' }, { code: 'invalid_argument', status: 400 }],
      ['run_none', { atStep: 1 }, { code: 'not_found', status: 404 }],
    ];
    for (const [id, options, problem] of refusals) {
      await expect(client.fork(id, options as ForkOptions)).rejects.toMatchObject(problem);
    }
    await expect(client.forks('run_none')).rejects.toMatchObject({ code: 'not_found', status: 404 });
    await expect(client.forks(runId, { limit: 500 })).rejects.toMatchObject({ code: 'invalid_argument', status: 400 });
  });

  it('cross the port of a worker, with their errors', async () => {
    const { runtime } = forkRuntime({ model: scripts() });
    const { port1, port2 } = new MessageChannel();
    onTestFinished(() => port1.close());
    exposeRuntime(runtime, port1);
    const connected = connectRuntime(port2);
    const runId = runIdOf(await readAll(await connected.run(runRequest(), localPrincipal())));
    const chunks = await readAll(await connected.fork(runId, { atStep: 2 }, localPrincipal()));
    expect(textOf(chunks)).toBe('Two');
    await expect(connected.fork(runId, { atStep: 5 }, localPrincipal())).rejects.toMatchObject({
      code: 'invalid_argument',
      details: { reason: 'no_such_step' },
    });
  });
});
