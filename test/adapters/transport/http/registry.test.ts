import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { createRegistry, createRuntime, type Scope } from '../../../../src/index.ts';
import { agent, dataSource, mcpServer, provider, tool } from '../../../fixtures/records.ts';
import { says, scriptedModel } from '../../../fixtures/model.ts';
import { signedEndpoint } from '../../../fixtures/signed-endpoint.ts';

/** Two endpoints over one storage, each with a registry and a runtime of its own. */
async function endpoints() {
  const storage = memoryStorage();
  const endpoint = async () => {
    const registry = createRegistry({ storage });
    const models = { model: () => scriptedModel(says('Hello')).model };
    return await signedEndpoint(createRuntime({ catalog: registry, storage, models }), { storage, registry });
  };
  return { storage, here: await endpoint(), there: await endpoint() };
}

const scopes: readonly Scope[] = ['registry:read', 'registry:write'];

async function clientOf() {
  const { here } = await endpoints();
  return await here.client({ scopes });
}

describe('the registries of an endpoint', () => {
  it('register, give, list, change and retire every kind of record', async () => {
    const { registry } = await clientOf();
    await registry.providers.register(provider());
    await registry.agents.register(agent());
    await registry.tools.register(tool());
    await registry.mcpServers.register(mcpServer());
    await registry.dataSources.register(dataSource());
    const ids = {
      agents: 'helper',
      providers: 'main',
      tools: 'add',
      mcpServers: 'files',
      dataSources: 'manuals',
    } as const;
    for (const kind of ['dataSources', 'mcpServers', 'tools', 'agents', 'providers'] as const) {
      const id = ids[kind];
      const collection = registry[kind];
      expect(await collection.get(id)).toMatchObject({ id, revision: 1 });
      expect((await collection.list()).items).toMatchObject([{ id }]);
      expect(await collection.update(id, { version: '2.0.0' }, { version: 1 })).toMatchObject({
        version: '2.0.0',
        revision: 2,
      });
      expect(await collection.disable(id)).toMatchObject({ state: 'disabled', revision: 3 });
      expect((await collection.list({ state: 'disabled' })).items).toHaveLength(1);
      expect(await collection.enable(id)).toMatchObject({ state: 'active', revision: 4 });
      const { items } = await collection.history(id, { limit: 2 });
      expect(items).toMatchObject([{ action: 'enable', by: { id: 's1', tenant: 't1' } }, { action: 'disable' }]);
      await collection.remove(id, { version: 4 });
      await expect(collection.get(id)).rejects.toMatchObject({ code: 'not_found', status: 404 });
    }
  });

  it('take back what was read, changed or not', async () => {
    const { registry } = await clientOf();
    await registry.providers.register(provider());
    await registry.tools.register(tool());
    await registry.agents.register(agent({ entryTools: ['add'] }));
    const read = await registry.agents.get('helper');
    expect(read.availableTools).toMatchObject([{ id: 'add' }]);
    expect(await registry.agents.replace('helper', { ...read, name: 'New' }, { version: 1 })).toMatchObject({
      name: 'New',
      entryTools: ['add'],
      revision: 2,
    });
    const bound = await registry.tools.get('add');
    expect(bound.boundAgents).toEqual(['helper']);
    expect(await registry.tools.replace('add', bound, { version: 1 })).toMatchObject({
      revision: 1,
      boundAgents: ['helper'],
    });
    expect(await registry.availableTools('helper'), 'without code for it here').toEqual([]);
  });

  it('refuse what is wrong with its place, and repeat nothing of it', async () => {
    const client = await clientOf();
    await client.registry.providers.register(provider());
    await client.registry.agents.register(agent());
    const canary = 'sk-CANARY-0123456789';
    const wrong: [string, string, unknown][] = [
      ['POST', '/v1/agents', agent({ id: canary, entryTools: [canary] })],
      ['POST', '/v1/agents', { name: canary }],
      ['POST', '/v1/agents', [canary]],
      ['POST', '/v1/agents', { id: { canary } }],
      ['POST', '/v1/tools', tool({ id: 'x', boundAgents: [canary] })],
      ['POST', '/v1/tools', tool({ paramsSchema: { type: canary } })],
      ['POST', '/v1/data-sources', dataSource({ config: { apiKey: canary } })],
      ['POST', '/v1/import', { format: canary }],
      ['POST', `/v1/import?dryRun=${canary}`, { format: 'pinnace-catalog' }],
      ['GET', `/v1/agents?pageToken=${canary}`, undefined],
      ['GET', `/v1/agents?${canary}=1`, undefined],
      ['GET', `/v1/agents?limit=${canary}`, undefined],
      ['GET', `/v1/agents/${canary}`, undefined],
      ['GET', `/v1/agents/${canary}/history`, undefined],
      ['POST', `/v1/agents/${canary}/disable`, undefined],
    ];
    for (const [method, path, body] of wrong) {
      const error: unknown = await client.call(method, path, { body }).catch((e: unknown) => e);
      expect(error, `${method} ${path}`).toMatchObject({ name: 'PinnaceError' });
      const { status, message, details } = error as { status: number; message: string; details: unknown };
      expect([400, 404]).toContain(status);
      expect(message + JSON.stringify(details)).not.toContain('CANARY');
    }
    expect((await client.registry.agents.list()).items).toHaveLength(1);
  });

  it('are for those who may: one scope for reading, one for writing, and none without a signature', async () => {
    const { here } = await endpoints();
    const [reader, writer] = [
      await here.client({ scopes: ['registry:read'] }),
      await here.client({ scopes: ['registry:write'] }),
    ];
    const forbidden = { code: 'forbidden', status: 403 };
    await writer.registry.providers.register(provider());
    await writer.registry.agents.register(agent());
    await expect(reader.registry.agents.register(agent({ id: 'other' }))).rejects.toMatchObject(forbidden);
    await expect(reader.registry.agents.disable('helper')).rejects.toMatchObject(forbidden);
    await expect(reader.registry.import({})).rejects.toMatchObject(forbidden);
    await expect(writer.registry.agents.list()).rejects.toMatchObject(forbidden);
    await expect(writer.registry.agents.get('helper')).rejects.toMatchObject(forbidden);
    await expect(writer.registry.export()).rejects.toMatchObject(forbidden);
    for (const path of ['/v1/agents', '/v1/tools/add', '/v1/export', '/v1/data-sources/x/history']) {
      expect((await here.serve(new Request(`https://worker.example${path}`))).status).toBe(401);
    }
  });
});
