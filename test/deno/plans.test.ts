import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { staticCatalog } from '../../adapters/catalog/static.ts';
import { denoKvStorage } from '../../adapters/storage/deno-kv.ts';
import { createAuthenticator } from '../../adapters/transport/authenticator.ts';
import { type Client, createClient } from '../../adapters/transport/client.ts';
import { createHandler } from '../../adapters/transport/http.ts';
import { createIssuer } from '../../adapters/transport/issuer.ts';
import { createRuntime, type UIMessageChunk } from '../../src/index.ts';
import { scopes } from '../../src/base/principal.ts';
import { callsTools, says, scriptedModel, streamOf } from '../fixtures/model.ts';
import { lastData, readAll, runRequest, textOf, userMessage } from '../fixtures/runtime.ts';

interface Instance {
  readonly client: Client;
  readonly other: Client;
  stop(): Promise<void>;
}

let folder: string;
let instances: Instance[];
let answer: PromiseWithResolvers<void>;
beforeEach(async () => {
  folder = await Deno.makeTempDir();
  answer = Promise.withResolvers();
  const issuer = await createIssuer({ iss: 'https://gc.example', audience: 'test' });
  const credentials = await Promise.all(
    ['s1', 's2'].map((sub) =>
      issuer.issue({ sub, tenant: 't1', agents: ['helper'], scopes: scopes.filter((scope) => scope !== 'admin') })
    ),
  );
  instances = [0, 1].map(() => start(issuer.trusted, credentials));
});
afterEach(async () => {
  answer.resolve();
  await Promise.all(instances.map((instance) => instance.stop()));
  await Deno.remove(folder, { recursive: true });
});

/** A model that divides the work by two, and whose sub-agents answer when they are let. */
function model() {
  return scriptedModel(({ prompt }) => {
    const text = JSON.stringify(prompt);
    if (text.includes('The result of sub-agent')) return streamOf(says('Both are sound'));
    if (text.includes('You are sub-agent')) return later(says('Sound'));
    const calls = ['The bow', 'The stern'].map((goal, i) => ({ tool: 'create', input: { goal }, id: `${i}` }));
    return streamOf(callsTools(...calls));
  }).model;
}

function later<T>(parts: readonly T[]): ReadableStream<T> {
  return new ReadableStream({
    async start(controller) {
      await answer.promise;
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });
}

/** An endpoint on a port of its own; all share one database. */
function start(
  trusted: Awaited<ReturnType<typeof createIssuer>>['trusted'],
  [own, others]: readonly Pick<Parameters<typeof createClient>[0], 'certificate' | 'key'>[],
): Instance {
  const storage = denoKvStorage({ path: `${folder}/state.kv` });
  const catalog = staticCatalog({
    agents: [{ id: 'helper', name: 'Helper', providerId: 'default', entryTools: ['*'], plans: true }],
    providers: [{ id: 'default', kind: 'custom' }],
  });
  const runtime = createRuntime({ catalog, storage, models: { model } });
  const authorities: string[] = [];
  const authenticator = () => createAuthenticator({ issuers: [trusted], audience: 'test', authorities, storage });
  let handle: ((request: Request) => Promise<Response>) | undefined;
  const server = Deno.serve(
    { port: 0, hostname: '127.0.0.1', onListen: () => undefined },
    async (request) =>
      await (handle ??= createHandler(runtime, { authenticator: authenticator(), planner: runtime.planner }))(request),
  );
  authorities.push(`127.0.0.1:${server.addr.port}`);
  const url = `http://127.0.0.1:${server.addr.port}`;
  if (!own || !others) throw new Error('No credentials');
  return {
    client: createClient({ url, ...own }),
    other: createClient({ url, ...others }),
    async stop() {
      await runtime.close();
      await server.shutdown();
      await storage.close();
    },
  };
}

/** Reads until the plan has sub-agents, and gives its id and what reads the rest. */
async function begun(
  stream: ReadableStream<UIMessageChunk>,
): Promise<{ readonly planId: string; readonly rest: () => Promise<UIMessageChunk[]> }> {
  const reader = stream.getReader();
  for (;;) {
    const { value } = await reader.read();
    if (value?.type !== 'data-plan') continue;
    const { planId, tasks } = value.data as { readonly planId: string; readonly tasks: readonly unknown[] }; // the planner's own
    if (tasks.length < 3) continue;
    reader.releaseLock();
    return { planId, rest: () => readAll(stream) };
  }
}

const request = runRequest({
  chat: { id: 'chat-1', messages: [userMessage('Is the ship sound?')] },
  planner: { maxParallelism: 1 },
});

describe('a plan on Deno KV, over real HTTP', () => {
  it('is paused and let go on by whichever endpoint is asked', async () => {
    const [here, there] = instances;
    if (!here || !there) throw new Error('No instances');
    const { planId, rest } = await begun(await here.client.run(request));
    await there.client.plans.pause(planId);
    await vi.waitFor(async () => expect(await there.client.plans.view(planId)).toMatchObject({ paused: true }), 20_000);
    answer.resolve();
    const one = { state: expect.stringMatching(/running|suspended/), counts: { done: 1, ready: 1 } };
    await vi.waitFor(async () => expect(await there.client.plans.view(planId)).toMatchObject(one), 20_000);
    const told = await rest();
    await there.client.plans.resume(planId);
    const more = await readAll(await here.client.run({ ...request, planner: { planId } }));
    expect(lastData(told, 'data-run')).toMatchObject({ state: 'suspended' });
    expect(textOf(more)).toBe('Both are sound');
    expect(await there.client.plans.view(planId)).toMatchObject({ state: 'done', counts: { done: 3 } });
  });

  it('is cancelled at any endpoint, and visible only to its owner', async () => {
    const [here, there] = instances;
    if (!here || !there) throw new Error('No instances');
    const { planId, rest } = await begun(await here.client.run(request));
    for (const { plans } of [here.other, there.other]) {
      await expect(plans.view(planId)).rejects.toMatchObject({ code: 'not_found' });
      await expect(plans.cancel(planId)).rejects.toMatchObject({ code: 'not_found' });
    }
    await there.client.plans.cancel(planId, { reason: 'enough' });
    expect(lastData(await rest(), 'data-run')).toMatchObject({ state: 'cancelled' });
    expect(await here.client.plans.view(planId)).toMatchObject({ state: 'cancelled' });
    await here.client.plans.cancel(planId);
  });
});
