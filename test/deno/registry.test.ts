import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { denoKvStorage } from '../../adapters/storage/deno-kv.ts';
import { createAuthenticator } from '../../adapters/transport/authenticator.ts';
import { type Client, createClient } from '../../adapters/transport/client.ts';
import { createHandler } from '../../adapters/transport/http.ts';
import { createIssuer } from '../../adapters/transport/issuer.ts';
import { createRegistry, createRuntime, type HostedRuntime, type UIMessageChunk } from '../../src/index.ts';
import { scopes } from '../../src/base/principal.ts';
import { says, scriptedModel, stallingStream } from '../fixtures/model.ts';
import { agent, provider, tool } from '../fixtures/records.ts';
import { lastData, readAll, runRequest } from '../fixtures/runtime.ts';

interface Instance {
  readonly client: Client;
  readonly runtime: HostedRuntime;
  stop(): Promise<void>;
}

let folder: string;
let instances: Instance[];
beforeEach(async () => {
  folder = await Deno.makeTempDir();
  const issuer = await createIssuer({ iss: 'https://gc.example', audience: 'test' });
  const credential = await issuer.issue({ sub: 's1', tenant: 't1', agents: ['helper'], scopes: [...scopes] });
  instances = [0, 1].map(() => start({ trusted: issuer.trusted, credential }));
});
afterEach(async () => {
  await Promise.all(instances.map((instance) => instance.stop()));
  await Deno.remove(folder, { recursive: true });
});

/** An endpoint on a port of its own; all share one database. */
function start(
  { trusted, credential }: {
    readonly trusted: Awaited<ReturnType<typeof createIssuer>>['trusted'];
    readonly credential: Pick<Parameters<typeof createClient>[0], 'certificate' | 'key'>;
  },
): Instance {
  const storage = denoKvStorage({ path: `${folder}/state.kv` });
  const registry = createRegistry({ storage });
  const models = { model: () => scriptedModel(() => stallingStream(says('Hel').slice(0, 3))).model };
  const runtime = createRuntime({ catalog: registry, storage, models });
  const authorities: string[] = [];
  const authenticator = () => createAuthenticator({ issuers: [trusted], audience: 'test', authorities, storage });
  let handle: ((request: Request) => Promise<Response>) | undefined;
  const server = Deno.serve(
    { port: 0, hostname: '127.0.0.1', onListen: () => undefined },
    async (request) => await (handle ??= createHandler(runtime, { authenticator: authenticator(), registry }))(request),
  );
  authorities.push(`127.0.0.1:${server.addr.port}`);
  return {
    runtime,
    client: createClient({ url: `http://127.0.0.1:${server.addr.port}`, ...credential }),
    async stop() {
      await runtime.close();
      await server.shutdown();
      await storage.close();
    },
  };
}

/** Reads up to the first text, and gives what reads the rest. */
async function begun(stream: ReadableStream<UIMessageChunk>): Promise<() => Promise<UIMessageChunk[]>> {
  const reader = stream.getReader();
  for (let next = await reader.read(); next.value?.type !== 'text-delta';) next = await reader.read();
  reader.releaseLock();
  return () => readAll(stream);
}

describe('a registry on Deno KV, over real HTTP', () => {
  it('is one for two endpoints, also when both write at once', async () => {
    const [here, there] = instances.map(({ client }) => client.registry);
    if (!here || !there) throw new Error('No instances');
    await here.providers.register(provider());
    await here.agents.register(agent());
    const ids = Array.from({ length: 12 }, (_, i) => `tool_${String(i).padStart(2, '0')}`);
    await Promise.all(
      ids.map(async (id, i) =>
        await (i % 2 ? here : there).tools.register(tool({ id, name: id, boundAgents: ['helper'] }))
      ),
    );
    const found = await there.agents.get('helper');
    expect(found.entryTools.toSorted()).toEqual(ids);
    expect(found.availableTools.map(({ id }) => id)).toEqual(ids);
    expect(found.revision).toBe(13);
    for (const { boundAgents } of (await here.tools.list()).items) expect(boundAgents).toEqual(['helper']);
  });

  it('stops the runs of an agent that is disabled on another instance, and lets none start', async () => {
    const [here, there] = instances;
    if (!here || !there) throw new Error('No instances');
    await here.client.registry.providers.register(provider());
    await here.client.registry.agents.register(agent());
    const rest = await begun(await there.client.run(runRequest()));
    await here.client.registry.agents.disable('helper');
    await expect(there.client.run(runRequest())).rejects.toMatchObject({ code: 'forbidden' });
    expect(lastData(await rest(), 'data-run')).toMatchObject({ state: 'failed', error: { code: 'forbidden' } });
  });
});
