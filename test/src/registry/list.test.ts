import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { createRegistry } from '../../../src/index.ts';
import { agent, provider } from '../../fixtures/records.ts';

describe('a list of records', () => {
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
