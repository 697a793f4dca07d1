import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { createRegistry, createRuntime, localPrincipal, type Principal, type Storage } from '../../../src/index.ts';
import type { RegistryQuery } from '../../../src/registry/index.ts';
import { createPrincipal, scopes } from '../../../src/base/principal.ts';
import { says, scriptedModel } from '../../fixtures/model.ts';
import { agent, dataSource, mcpServer, provider, tool } from '../../fixtures/records.ts';
import { readAll, runRequest, textOf } from '../../fixtures/runtime.ts';

const caller = (tenant: string, deployment = false): Principal =>
  createPrincipal({
    via: 'http',
    tenant,
    subject: `of-${tenant}`,
    agents: '*',
    scopes,
    ...(deployment && { deployment }),
  });
const [a, b, operator] = [caller('a'), caller('b'), caller('ops', true)].map((principal) => ({ principal })) as [
  { principal: Principal },
  { principal: Principal },
  { principal: Principal },
];

const unknown = { code: 'not_found' };
const sharedRecord = { code: 'forbidden', details: { reason: 'shared_record' } };

/** A shared provider and agent; tenant a has an agent and a provider of its own. */
async function filled(storage: Storage = memoryStorage()) {
  const registry = createRegistry({ storage });
  await registry.providers.register(provider({ id: 'common' }), operator);
  await registry.agents.register(agent({ id: 'guide', providerId: 'common' }), operator);
  await registry.providers.register(provider({ id: 'mine' }), a);
  await registry.tools.register(tool({ id: 'sums', name: 'sums' }), a);
  await registry.agents.register(agent({ id: 'own', providerId: 'mine', entryTools: ['sums'] }), a);
  return { registry, storage };
}

const idsOf = ({ items }: { readonly items: readonly { readonly id: string }[] }) => items.map(({ id }) => id);

describe('a registry of several tenants', () => {
  it('shows each tenant its own records and the shared ones', async () => {
    const { registry } = await filled();
    expect(idsOf(await registry.agents.list({}, a))).toEqual(['guide', 'own']);
    expect(idsOf(await registry.agents.list({}, b))).toEqual(['guide']);
    expect(idsOf(await registry.agents.list({}, operator))).toEqual(['guide']);
    expect(idsOf(await registry.agents.list())).toEqual(['guide']);
    expect(await registry.agents.get('own', a)).toMatchObject({ tenant: 'a', availableTools: [{ id: 'sums' }] });
    expect(await registry.agents.get('guide', b)).not.toHaveProperty('tenant');
    await expect(registry.agents.get('own', b)).rejects.toMatchObject(unknown);
  });

  it("refuses every write of another tenant's record as unknown, and leaves it as it was", async () => {
    const { registry } = await filled();
    const before = await registry.agents.get('own', a);
    const writes = [
      registry.agents.update('own', { providerId: 'common' }, { ...b, version: 1 }),
      registry.agents.replace('own', agent({ id: 'own', providerId: 'common' }), { ...b, version: 1 }),
      registry.agents.disable('own', b),
      registry.agents.enable('own', b),
      registry.agents.remove('own', b),
    ];
    for (const write of writes) await expect(write).rejects.toMatchObject(unknown);
    await expect(registry.agents.history('own', b)).rejects.toMatchObject(unknown);
    await expect(registry.availableTools('own', b)).rejects.toMatchObject(unknown);
    expect(await registry.agents.get('own', a)).toEqual(before);
  });

  it('refuses every write of a shared record by a tenant, and lets the deployment write it', async () => {
    const { registry } = await filled();
    const writes = [
      registry.agents.update('guide', { providerId: 'mine' }, { ...a, version: 1 }),
      registry.agents.replace('guide', agent({ id: 'guide', providerId: 'mine' }), { ...a, version: 1 }),
      registry.agents.disable('guide', a),
      registry.agents.enable('guide', a),
      registry.agents.remove('guide', a),
      registry.agents.history('guide', a),
      registry.tools.register(tool({ id: 'spy', name: 'spy', boundAgents: ['guide'] }), a),
    ];
    for (const write of writes) await expect(write).rejects.toMatchObject(sharedRecord);
    expect(await registry.agents.get('guide')).toMatchObject({ providerId: 'common', entryTools: [], revision: 1 });
    expect(await registry.agents.disable('guide', operator)).toMatchObject({ state: 'disabled' });
  });

  it('takes the same id from two tenants, each for itself', async () => {
    const { registry } = await filled();
    await registry.providers.register(provider({ id: 'mine', model: 'of-b' }), b);
    await registry.agents.register(agent({ id: 'own', providerId: 'mine', name: 'Of b' }), b);
    expect(await registry.agents.get('own', b)).toMatchObject({ name: 'Of b', tenant: 'b' });
    await registry.agents.remove('own', b);
    expect(await registry.agents.get('own', a)).toMatchObject({ name: 'Helper' });
    expect((await registry.providers.get('mine', a)).model).toBeUndefined();
  });

  it('refuses a tenant the id of a shared record, and lets its own win where the shared one came later', async () => {
    const { registry } = await filled();
    const taken = { code: 'conflict', details: { reason: 'id_taken_by_shared' } };
    await expect(registry.agents.register(agent({ id: 'guide', providerId: 'mine' }), a)).rejects.toMatchObject(taken);
    await registry.providers.register(provider({ id: 'mine', model: 'shared' }), operator);
    expect((await registry.providers.get('mine', a)).model).toBeUndefined();
    expect(await registry.providers.get('mine', b)).toMatchObject({ model: 'shared' });
    expect(idsOf(await registry.providers.list({}, a))).toEqual(['common', 'mine']);
  });

  it('refuses references to what another tenant has', async () => {
    const { registry } = await filled();
    const names = { entryTools: ['sums'], providerId: 'common' };
    await expect(registry.agents.register(agent({ id: 'thief', ...names }), b)).rejects.toMatchObject({
      code: 'invalid_argument',
      details: { reason: 'unknown_tool' },
    });
    const bound = tool({ id: 'spy', name: 'spy', boundAgents: ['own'] });
    await expect(registry.tools.register(bound, b)).rejects.toMatchObject({ details: { reason: 'unknown_agent' } });
    expect(await registry.agents.get('own', a)).toMatchObject({ entryTools: ['sums'] });
  });

  it('shows what is bound to a record for the owner alone', async () => {
    const { registry } = await filled();
    await registry.tools.register(tool({ id: 'all', name: 'all' }), operator);
    await registry.agents.update('own', { entryTools: ['sums', 'all'] }, { ...a, version: 1 });
    expect((await registry.tools.get('all', a)).boundAgents).toEqual(['own']);
    expect((await registry.tools.get('all', b)).boundAgents).toEqual([]);
    expect((await registry.tools.get('all', operator)).boundAgents).toEqual([]);
  });

  it('never sets the tenant of a record from what its author writes', async () => {
    const { registry } = await filled();
    const foreign = { code: 'invalid_argument', details: { reason: 'foreign_tenant' } };
    const stolen = agent({ id: 'x', providerId: 'common', tenant: 'a' });
    await expect(registry.agents.register(stolen, b)).rejects.toMatchObject(foreign);
    await expect(registry.agents.register(stolen, operator)).rejects.toMatchObject(foreign);
    await expect(registry.agents.update('own', { tenant: 'b' }, { ...a, version: 1 })).rejects.toMatchObject(foreign);
    expect(await registry.agents.update('own', { tenant: null }, { ...a, version: 1 })).toMatchObject({ tenant: 'a' });
  });

  it("lets the deployment name a tenant, and no tenant another's", async () => {
    const { registry } = await filled();
    expect(await registry.agents.disable('own', { ...operator, tenant: 'a' })).toMatchObject({ state: 'disabled' });
    expect(idsOf(await registry.agents.list({}, { tenant: 'a' }))).toEqual(['guide', 'own']);
    const refused = { code: 'forbidden', details: { reason: 'foreign_tenant' } };
    await expect(registry.agents.get('own', { ...b, tenant: 'a' })).rejects.toMatchObject(refused);
    await expect(registry.agents.enable('own', { ...b, tenant: 'a' })).rejects.toMatchObject(refused);
    await expect(registry.export({ ...b, tenant: 'a' })).rejects.toMatchObject(refused);
  });

  it('exports what is the caller’s own, and imports nothing over what is not', async () => {
    const { registry } = await filled();
    const mine = await registry.export(a);
    expect([mine.agents, mine.providers].map((part) => idsOf({ items: part as { id: string }[] }))).toEqual([
      ['own'],
      ['mine'],
    ]);
    expect(JSON.stringify(mine)).not.toContain('"tenant"');
    expect((await registry.export(b)).agents).toEqual([]);
    expect(await registry.export(operator)).toMatchObject({ agents: [{ id: 'guide' }] });
    const before = await registry.agents.get('own', a);
    expect(await registry.import(mine, b)).toMatchObject({ created: 3, updated: 0 });
    expect(await registry.agents.get('own', a)).toEqual(before);
    await expect(registry.import(await registry.export(operator), b)).rejects.toMatchObject({
      details: { reason: 'id_taken_by_shared' },
    });
    const foreign = { ...mine, agents: [{ ...agent({ id: 'y', providerId: 'common' }), tenant: 'a' }] };
    await expect(registry.import(foreign, b)).rejects.toMatchObject({ details: { reason: 'foreign_tenant' } });
  });

  it('reports a change to runtimes with its tenant', async () => {
    const keys: string[] = [];
    const registry = createRegistry({ storage: memoryStorage(), onChange: (changed) => void keys.push(...changed) });
    await registry.providers.register(provider(), operator);
    await registry.agents.register(agent(), a);
    await registry.tools.register(tool(), a);
    expect(keys).toEqual(['provider:main', 'agent:helper@a', 'tools@a']);
  });

  it("passes the record's tenant to the permission hook", async () => {
    const asked: unknown[] = [];
    const registry = createRegistry({
      storage: memoryStorage(),
      authorize: (action, { tenant }, resource) => (asked.push([action, tenant, resource]), { decision: 'allow' }),
    });
    await registry.providers.register(provider(), operator);
    await registry.providers.register(provider({ id: 'mine' }), a);
    expect(asked).toEqual([
      ['registry.register', 'ops', { type: 'provider', id: 'main' }],
      ['registry.register', 'a', { type: 'provider', id: 'mine', tenant: 'a' }],
    ]);
  });

  it('hides shared records that are internal from tenants over HTTP', async () => {
    const { registry } = await filled();
    await registry.agents.register(agent({ id: 'behind', providerId: 'common', visibility: 'internal' }), operator);
    await registry.tools.register(tool({ id: 'inner', name: 'inner', visibility: 'internal' }), operator);
    await registry.agents.register(agent({ id: 'quiet', providerId: 'mine', visibility: 'internal' }), a);
    expect(idsOf(await registry.agents.list({ visibility: 'internal' }, a))).toEqual(['quiet']);
    expect(idsOf(await registry.agents.list({ visibility: 'internal' }, operator))).toEqual(['behind']);
    await expect(registry.agents.get('behind', a)).rejects.toMatchObject(unknown);
    await expect(registry.agents.disable('behind', a)).rejects.toMatchObject(unknown);
    await expect(registry.tools.get('inner', a)).rejects.toMatchObject(unknown);
    expect(await registry.agents.get('behind', { principal: localPrincipal() })).toMatchObject({ id: 'behind' });
  });
});

describe('a page token of a registry', () => {
  it('serves the query and the tenant that it came from, and no other', async () => {
    const registry = createRegistry({ storage: memoryStorage() });
    await registry.providers.register(provider());
    for (const id of ['one', 'two', 'three']) await registry.agents.register(agent({ id, tags: ['x'] }), a);
    await registry.agents.register(agent({ id: 'four', tags: ['x'] }), b);
    const page = { limit: 1, tags: ['x'] };
    const { nextPageToken: pageToken = '' } = await registry.agents.list(page, a);
    expect(idsOf(await registry.agents.list({ ...page, pageToken }, a))).toEqual(['three']);
    const refused = { code: 'invalid_argument', details: { reason: 'invalid_page_token' } };
    const others: RegistryQuery[] = [{}, { tags: ['y'] }, { ...page, state: 'active' }, { text: 'o' }];
    for (const other of others) {
      await expect(registry.agents.list({ ...other, pageToken }, a), JSON.stringify(other)).rejects.toMatchObject(
        refused,
      );
    }
    await expect(registry.agents.list({ ...page, pageToken }, b)).rejects.toMatchObject(refused);
    await expect(registry.providers.list({ ...page, pageToken }, a)).rejects.toMatchObject(refused);
    await registry.agents.disable('one', a);
    const history = await registry.agents.history('one', { ...a, limit: 1 });
    const token = { pageToken: history.nextPageToken };
    await expect(registry.agents.history('two', { ...a, ...token })).rejects.toMatchObject(refused);
    await expect(registry.agents.history('four', { ...b, ...token })).rejects.toMatchObject(refused);
  });
});

describe('what was stored before there were tenants', () => {
  it('is shared: everyone reads it, the deployment writes it, and its history stays', async () => {
    const storage = memoryStorage();
    const old = {
      ...agent(),
      revision: 3,
      entryTools: ['add'],
      state: 'active',
      visibility: 'public',
      tags: [],
      mcp: {},
    };
    const by = { type: 'user', id: 'someone', tenant: 'b' };
    await storage.commit([
      { key: ['registry', 'head'], value: 7 },
      { key: ['registry', 'record', 'provider', 'main'], value: { ...provider(), revision: 1, state: 'active' } },
      { key: ['registry', 'record', 'tool', 'add'], value: { ...tool(), revision: 1, state: 'active', secrets: [] } },
      { key: ['registry', 'record', 'agent', 'helper'], value: { ...old, dataSources: [] } },
      { key: ['registry', 'use', 'tool', 'add', 'helper'], value: true },
      { key: ['registry', 'history', 'agent', 'helper', 3], value: { revision: 3, by, action: 'update', changes: [] } },
    ]);
    const registry = createRegistry({ storage });
    expect(await registry.agents.get('helper', b)).toMatchObject({ revision: 3, availableTools: [{ id: 'add' }] });
    expect(await registry.tools.get('add', operator)).toMatchObject({ boundAgents: ['helper'] });
    await expect(registry.agents.disable('helper', b)).rejects.toMatchObject(sharedRecord);
    expect(await registry.agents.disable('helper', operator)).toMatchObject({ revision: 4 });
    expect((await registry.agents.history('helper', operator)).items).toMatchObject([{ revision: 4 }, {
      revision: 3,
      by,
    }]);
  });
});

describe('a run over a registry of several tenants', () => {
  it("never sends a tenant's conversation to a provider that another tenant has set", async () => {
    const { registry, storage } = await filled();
    const models = { model: ({ id }: { readonly id: string }) => scriptedModel(says(`from ${id}`)).model };
    const instances = [
      createRuntime({ catalog: registry, storage, models }),
      createRuntime({ catalog: registry, storage, models }),
    ];
    const answer = async (at: 0 | 1, agentId: string, { principal }: { principal: Principal }) =>
      textOf(await readAll(await instances[at]!.run(runRequest({ agentId }), principal)));
    expect(await answer(0, 'own', a)).toBe('from mine');
    await registry.providers.register(provider({ id: 'evil' }), b);
    await expect(registry.agents.update('own', { providerId: 'evil' }, { ...b, version: 1 })).rejects.toMatchObject(
      unknown,
    );
    await expect(registry.agents.update('guide', { providerId: 'evil' }, { ...b, version: 1 })).rejects.toMatchObject(
      sharedRecord,
    );
    await registry.agents.register(agent({ id: 'own', providerId: 'evil' }), b);
    for (const at of [0, 1] as const) {
      expect(await answer(at, 'own', a)).toBe('from mine');
      expect(await answer(at, 'own', b)).toBe('from evil');
      expect(await answer(at, 'guide', a)).toBe('from common');
    }
    await registry.agents.disable('own', b);
    await expect(instances[1]!.run(runRequest({ agentId: 'own' }), b.principal)).rejects.toMatchObject({
      details: { reason: 'agent_disabled' },
    });
    expect(await answer(1, 'own', a)).toBe('from mine');
  });

  it('checks an MCP server and a data source for the tenant that has it', async () => {
    const { registry } = await filled();
    await registry.mcpServers.register(mcpServer(), a);
    await registry.mcpServers.register(mcpServer({ url: 'https://mcp.example.com/of-b' }), b);
    await registry.dataSources.register(dataSource(), a);
    expect(await registry.forTenant('a').mcpServer?.('files')).toMatchObject({ url: 'https://mcp.example.com/mcp' });
    expect(await registry.mcpServer?.('files')).toBeUndefined();
    expect(await registry.dataSource('manuals', undefined, 'a')).toMatchObject({ tenant: 'a' });
    expect(await registry.dataSource('manuals', undefined, 'b')).toBeUndefined();
  });
});
