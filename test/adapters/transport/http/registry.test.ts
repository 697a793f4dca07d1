import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { createRegistry, createRuntime, type Scope } from '../../../../src/index.ts';
import { agent, dataSource, mcpServer, provider, tool, tools } from '../../../fixtures/records.ts';
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

  it('filter and page', async () => {
    const { registry } = await clientOf();
    await registry.providers.register(provider());
    for (let i = 0; i < 5; i++) {
      await registry.agents.register(agent({ id: `a${i}`, tags: i % 2 ? ['odd', 'n'] : ['n'] }));
    }
    const odd = await registry.agents.list({ tags: ['odd', 'n'], visibility: 'public' });
    expect(odd.items.map(({ id }) => id)).toEqual(['a1', 'a3']);
    const first = await registry.agents.list({ limit: 3 });
    const second = await registry.agents.list({ limit: 3, pageToken: first.nextPageToken });
    expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(['a0', 'a1', 'a2', 'a3', 'a4']);
    const wrong = registry.agents.list({ limit: 3, tags: ['n'], pageToken: first.nextPageToken });
    await expect(wrong).rejects.toMatchObject({ code: 'invalid_argument', details: { reason: 'invalid_page_token' } });
  });

  it('answer a stale version with 412 and the latest record, and no version with 428', async () => {
    const client = await clientOf();
    await client.registry.providers.register(provider());
    await client.registry.agents.register(agent());
    await client.registry.agents.update('helper', { name: 'Second' }, { version: 1 });
    await expect(client.registry.agents.update('helper', { name: 'Late' }, { version: 1 })).rejects.toMatchObject({
      code: 'conflict',
      status: 412,
      details: { reason: 'revision_mismatch', revision: 2, latest: { name: 'Second' } },
    });
    await expect(client.call('PATCH', '/v1/agents/helper', { body: { name: 'Blind' } })).rejects.toMatchObject({
      code: 'precondition_required',
      status: 428,
    });
    await expect(client.registry.agents.remove('helper', { version: 1 })).rejects.toMatchObject({ status: 412 });
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

  it('move a whole catalogue from one endpoint to another, of more than the usual megabyte', async () => {
    const source = (await clientOf()).registry;
    const big = tools(40).map((one) => ({
      ...one,
      description: 'x'.repeat(4000),
      outputSchema: { description: 'y'.repeat(30_000) },
    }));
    await source.import({
      format: 'pinnace-catalog',
      formatVersion: 1,
      providers: [provider()],
      tools: big,
      agents: [agent({ entryTools: ['tool_0007'] })],
    });
    const document = await source.export();
    expect(JSON.stringify(document).length).toBeGreaterThan(1_048_576);
    const target = (await clientOf()).registry;
    expect(await target.import(document, { dryRun: true })).toMatchObject({ dryRun: true, created: 42 });
    expect((await target.tools.list()).items).toEqual([]);
    expect(await target.import(document)).toMatchObject({ created: 42, updated: 0 });
    expect((await target.agents.get('helper')).availableTools).toMatchObject([{ id: 'tool_0007' }]);
    expect({ ...await target.export(), exportedAt: '' }).toEqual({ ...document, exportedAt: '' });
  });

  it('stand in the description of the endpoint that serves them, and of no other', async () => {
    const { here } = await endpoints();
    const descriptionOf = async (serve: typeof here.serve) =>
      await (await serve(new Request('https://worker.example/v1/openapi.json'))).json() as {
        paths: Record<string, Record<string, unknown>>;
      };
    const { paths } = await descriptionOf(here.serve);
    expect(Object.keys(paths['/v1/data-sources/{id}'] ?? {})).toEqual(['get', 'put', 'patch', 'delete']);
    expect(JSON.stringify(paths['/v1/agents'])).toContain('entryTools');
    const without = await signedEndpoint(createRuntime({
      catalog: createRegistry({ storage: memoryStorage() }),
      storage: memoryStorage(),
      models: { model: () => scriptedModel(says('Hello')).model },
    }));
    expect((await descriptionOf(without.serve)).paths).not.toHaveProperty('/v1/agents');
    expect((await without.serve(new Request('https://worker.example/v1/agents'))).status).toBe(404);
  });
});
