import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { createRegistry, type Registry } from '../../../src/index.ts';
import type { RegistryQuery } from '../../../src/registry/index.ts';
import { agent, dataSource, provider, tool } from '../../fixtures/records.ts';

async function filled(): Promise<Registry> {
  const registry = createRegistry({ storage: memoryStorage() });
  await registry.providers.register(provider());
  await registry.agents.register(agent({ id: 'ada', name: 'Ada', tags: ['sums', 'team-a'], visibility: 'internal' }));
  await registry.agents.register(agent({ id: 'bob', name: 'Bob', tags: ['sums'], description: 'Adds things up' }));
  await registry.agents.register(agent({ id: 'cy', name: 'Cy', tags: ['team-a'], role: 'Adder' }));
  await registry.agents.disable('cy');
  await registry.tools.register(tool({ id: 'add', name: 'add', keywords: ['sums'] }));
  await registry.tools.register(
    tool({
      id: 'look',
      name: 'look',
      type: 'http',
      visibility: 'hidden',
      title: 'Looks up',
      config: { origin: 'https://api.example.com' },
    }),
  );
  await registry.dataSources.register(dataSource({ tags: ['team-a'] }));
  return registry;
}

describe('a list of records', () => {
  it('filters every other kind by what it has', async () => {
    const { tools, providers, dataSources } = await filled();
    expect((await tools.list({ tags: ['sums'] })).items.map(({ id }) => id)).toEqual(['add']);
    expect((await tools.list({ type: 'http', visibility: 'hidden' })).items.map(({ id }) => id)).toEqual(['look']);
    expect((await tools.list({ text: 'looks' })).items.map(({ id }) => id)).toEqual(['look']);
    expect((await providers.list({ type: 'rehearsal' })).items).toHaveLength(1);
    expect((await providers.list({ type: 'custom' })).items).toHaveLength(0);
    expect((await dataSources.list({ type: 'text', tags: ['team-a'] })).items).toHaveLength(1);
  });

  it.each([
    [{ limit: 0 }],
    [{ limit: 201 }],
    [{ limit: 1.5 }],
    [{ visibility: 'secret' }],
    [{ tags: [''] }],
    [{ sort: 'name' }],
    [{ pageToken: 'nonsense' }],
    [{ pageToken: btoa('{}') }],
  ])('refuses the query %j', async (query) => {
    const { agents } = await filled();
    await expect(agents.list(query as RegistryQuery)).rejects.toMatchObject({ code: 'invalid_argument' });
  });

  it('comes in pages whose tokens serve their own query and no other', async () => {
    const { agents, tools } = await filled();
    const first = await agents.list({ tags: ['sums'], limit: 1 });
    const { nextPageToken: pageToken } = first;
    const second = await agents.list({ tags: ['sums'], limit: 1, pageToken });
    expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(['ada', 'bob']);
    expect(second.nextPageToken).toBeUndefined();
    expect((await agents.list({ tags: ['sums'], limit: 5, pageToken })).items).toHaveLength(1);
    const refused = { code: 'invalid_argument', details: { reason: 'invalid_page_token' } };
    await expect(agents.list({ limit: 1, pageToken })).rejects.toMatchObject(refused);
    await expect(agents.list({ tags: ['team-a'], limit: 1, pageToken })).rejects.toMatchObject(refused);
    await expect(tools.list({ tags: ['sums'], limit: 1, pageToken })).rejects.toMatchObject(refused);
  });

  it('returns every lasting record exactly once, whatever is written between its pages', async () => {
    const registry = createRegistry({ storage: memoryStorage() });
    await registry.providers.register(provider());
    const stays = Array.from({ length: 40 }, (_, i) => `stays_${String(i).padStart(2, '0')}`);
    const goes = Array.from({ length: 40 }, (_, i) => `stays_${String(i).padStart(2, '0')}_goes`);
    for (const id of [...stays, ...goes]) await registry.agents.register(agent({ id }));
    const seen: string[] = [];
    let pageToken: string | undefined;
    do {
      const page = await registry.agents.list({ limit: 7, pageToken });
      seen.push(...page.items.map(({ id }) => id));
      pageToken = page.nextPageToken;
      const gone = goes.pop();
      if (gone !== undefined) await registry.agents.remove(gone);
      await registry.agents.register(agent({ id: `new_${seen.length}` }));
      const changed = await registry.agents.get('stays_00');
      await registry.agents.update('stays_00', { name: `Name ${seen.length}` }, { version: changed.revision });
    } while (pageToken !== undefined);
    expect(seen.filter((id) => stays.includes(id))).toEqual(stays);
    expect(new Set(seen).size).toBe(seen.length);
  });
});
