import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import type { CatalogExport } from '../../../src/registry/index.ts';
import { createRegistry, type Registry, type Storage } from '../../../src/index.ts';
import { agent, dataSource, mcpServer, provider, tool, tools } from '../../fixtures/records.ts';

async function filled(): Promise<Registry> {
  const registry = createRegistry({ storage: memoryStorage() });
  await registry.providers.register(provider({ secret: { id: 'key' } }));
  await registry.dataSources.register(dataSource());
  await registry.mcpServers.register(mcpServer());
  for (const one of tools(3)) await registry.tools.register(one);
  await registry.tools.disable('tool_0001');
  await registry.agents.register(agent({ entryTools: ['tool_0000', 'tool_0001'], mcp: { files: {} } }));
  return registry;
}

/** As it goes over a wire or into a file. */
async function exported(registry: Registry): Promise<CatalogExport> {
  return JSON.parse(JSON.stringify(await registry.export())) as CatalogExport; // safe: what was just written
}

describe('an export', () => {
  it('makes MCP servers wait to be checked where they come to', async () => {
    const registry = await filled();
    await registry.put('mcpServer', mcpServer({ status: 'valid', validatedAt: '2026-01-01T00:00:00.000Z' }));
    const document = await exported(registry);
    expect(await registry.import(document)).toMatchObject({ unchanged: 7 });
    const other = createRegistry({ storage: memoryStorage() });
    await other.import(document);
    expect(await other.mcpServer?.('files')).toMatchObject({ status: 'pending' });
  });

  it.each([
    ['another format', { format: 'something' }],
    ['another version', { formatVersion: 2 }],
    ['an unknown part', { secrets: [] }],
    ['a record that breaks its schema', { agents: [{ id: 'x' }] }],
    ['a paramsSchema that is none', { tools: [tool({ paramsSchema: { type: 'nonsense' } })] }],
    ['a record twice', { providers: [provider(), provider()] }],
    ['an alias twice', { mcpServers: [mcpServer(), mcpServer({ id: 'other' })] }],
    ['an agent with an unknown tool', { agents: [agent({ entryTools: ['nothing'] })] }],
    ['the value of a secret', { dataSources: [dataSource({ config: { password: 'open sesame' } })] }],
  ])('is refused whole when it has %s', async (_, part) => {
    const registry = createRegistry({ storage: memoryStorage() });
    const document = { format: 'pinnace-catalog', formatVersion: 1, tools: [tool({ id: 'good' })], ...part };
    for (const dryRun of [true, false]) {
      await expect(registry.import(document, { dryRun })).rejects.toMatchObject({ code: 'invalid_argument' });
    }
    expect(await registry.listTools({ limit: 10 })).toEqual([]);
  });

  it('of more than a commit takes goes in by several, and goes on where it was stopped', async () => {
    const inner = memoryStorage();
    let left = 2;
    const failing: Storage = {
      ...inner,
      commit: async (changes) =>
        changes.some(({ key }) => key[1] === 'record') && left-- <= 0
          ? Promise.reject(new Error('the disk is full'))
          : await inner.commit(changes),
    };
    const source = createRegistry({ storage: memoryStorage() });
    const document = {
      ...await exported(source),
      providers: [provider()],
      tools: tools(200),
      agents: [agent({ entryTools: ['tool_0199'] })],
    };
    const registry = createRegistry({ storage: failing });
    const stopped = registry.import(document);
    await expect(stopped).rejects.toMatchObject({ code: 'internal', details: { applied: 98 } });
    expect((await registry.tools.list({ limit: 200 })).items).toHaveLength(97); // and the provider
    left = Infinity;
    expect(await registry.import(document)).toMatchObject({ created: 104, unchanged: 98 });
    expect((await registry.availableTools('helper')).map(({ id }) => id)).toEqual(['tool_0199']);
  });
});
