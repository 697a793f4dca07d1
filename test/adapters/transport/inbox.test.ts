import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { createClient } from '../../../adapters/transport/client.ts';
import { connectRuntime, exposeRuntime } from '../../../adapters/transport/comlink.ts';
import { createHandler } from '../../../adapters/transport/http.ts';
import { person, type Stage, stageOf } from '../../fixtures/persons/stage.ts';
import { localPrincipal, type Storage } from '../../../src/index.ts';

const ada = person('ada');

/** An endpoint over the stage, and its client. */
function endpointOf({ runtime }: Stage, who = ada) {
  const handler = createHandler(runtime, { authenticator: { authenticate: () => Promise.resolve(who) } });
  return createClient({
    url: 'https://agents.test',
    fetch: (request) => handler(request),
    credentials: { bearer: 'x' },
    attempts: 1,
  });
}

describe('client.inbox', () => {
  it('lists, reads, decides and watches', async () => {
    const stage = stageOf();
    const { inbox } = endpointOf(stage);
    const { runId, approvalId } = await stage.ran('Delete n1', ada, { store: true });
    const { items, waiting } = await inbox.list({ kind: 'approval', before: Date.now() + 1000 });
    expect([items, waiting]).toEqual([(await stage.runtime.inbox.list(ada)).items, 1]);
    expect(await inbox.get(approvalId)).toEqual(await stage.runtime.inbox.get(approvalId, ada));
    const reader = (await inbox.watch()).getReader();
    expect((await reader.read()).value).toEqual({ type: 'snapshot', items });
    const results = await inbox.decide([
      { id: approvalId, seen: items[0]!.seen, approved: true },
      { id: 'apr_unknown', seen: '', approved: true },
    ]);
    expect(results).toMatchObject([
      { id: approvalId, state: 'stored', runId: expect.not.stringMatching(runId) },
      { id: 'apr_unknown', state: 'refused', error: { code: 'not_found' } },
    ]);
    expect((await reader.read()).value).toEqual({ type: 'settled', id: approvalId });
    await reader.cancel();
    await expect(inbox.get(approvalId)).rejects.toMatchObject({ code: 'already_decided' });
  });

  it('refuses what is no decision, and more streams than a tenant may have', async () => {
    const { inbox } = endpointOf(stageOf());
    await expect(inbox.decide([])).rejects.toMatchObject({ code: 'invalid_argument' });
    const readers = await Promise.all(Array.from({ length: 8 }, async () => (await inbox.watch()).getReader()));
    await expect(inbox.watch()).rejects.toMatchObject({ code: 'rate_limited' });
    await Promise.all(readers.map((reader) => reader.cancel()));
  });

  it('shares one look at the storage between all viewers, and outlasts an outage', async () => {
    const memory: Storage = { ...memoryStorage(), watch: undefined } as Storage; // without news
    let [looks, isOut] = [0, false];
    const storage: Storage = {
      ...memory,
      get(key) {
        if (key[0] === 'waiting-bell') looks++;
        if (isOut && key[0] === 'waiting-bell') return Promise.reject(new Error('out of reach'));
        return memory.get(key);
      },
    };
    const stage = stageOf({ storage });
    const readers = await Promise.all(
      Array.from({ length: 20 }, async () => (await stage.runtime.inbox.watch(ada)).getReader()),
    );
    for (const reader of readers) expect((await reader.read()).value?.type).toBe('snapshot');
    isOut = true;
    const changes = Promise.all(readers.map((reader) => reader.read()));
    const before = looks;
    await stage.ran('Delete n1', ada);
    isOut = false;
    for (const { value } of await changes) expect(value?.type).toBe('opened');
    expect(looks - before).toBeLessThan(20);
    await Promise.all(readers.map((reader) => reader.cancel()));
  });
});

describe('connectRuntime(worker).inbox', () => {
  it('is that of the worker, for the page', async () => {
    const stage = stageOf();
    const { port1, port2 } = new MessageChannel();
    exposeRuntime(stage.runtime, port1);
    port1.start();
    const { inbox } = connectRuntime(port2);
    const me = localPrincipal();
    await stage.ran('Delete n1', me);
    const { items: [item] } = await inbox.list();
    expect(await inbox.get(item!.id)).toMatchObject({ id: item!.id, facts: { toolId: 'delete_note' } });
    const reader = (await inbox.watch()).getReader();
    expect((await reader.read()).value).toEqual({ type: 'snapshot', items: [item] });
    expect(await inbox.decide([{ id: item!.id, seen: item!.seen, approved: false }])).toMatchObject([{
      state: 'stored',
    }]);
    expect((await reader.read()).value).toEqual({ type: 'settled', id: item!.id });
    await reader.cancel();
    port1.close();
    port2.close();
  });
});
