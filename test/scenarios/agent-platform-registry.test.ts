import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../adapters/storage/memory.ts';
import { createRegistry, createRuntime, localPrincipal, type UIMessageChunk } from '../../src/index.ts';
import { says, scriptedModel, stallingStream } from '../fixtures/model.ts';
import { agent, provider, tool } from '../fixtures/records.ts';
import { lastData, readAll, runRequest } from '../fixtures/runtime.ts';

const me = localPrincipal();

/** A registry with a provider and the tools `add` and `subtract`. */
async function withTools() {
  const storage = memoryStorage();
  const registry = createRegistry({ storage, handlers: { search: () => [] } });
  await registry.providers.register(provider());
  await registry.tools.register(tool({ id: 'add', name: 'add' }));
  await registry.tools.register(tool({ id: 'subtract', name: 'subtract' }));
  return { storage, registry };
}

/** Reads up to the first text, and gives what reads the rest. */
async function begun(stream: ReadableStream<UIMessageChunk>): Promise<() => Promise<UIMessageChunk[]>> {
  const reader = stream.getReader();
  for (let next = await reader.read(); next.value?.type !== 'text-delta';) next = await reader.read();
  reader.releaseLock();
  return () => readAll(stream);
}

describe('Requirement: Agent Registry', () => {
  it('Scenario: 注册并查询 Agent', async () => {
    const { registry } = await withTools();
    const definition = {
      name: 'Helper',
      role: 'assistant',
      version: '1.2.0',
      visibility: 'internal' as const,
      tags: ['sums'],
      entryTools: ['add', 'subtract'],
      providerId: 'main',
    };
    const [first, second] = [await registry.agents.register(definition), await registry.agents.register(definition)];
    expect(first.id).not.toBe(second.id);
    const found = await registry.agents.get(first.id);
    expect(found).toMatchObject({ ...definition, id: first.id, state: 'active', revision: 1 });
    expect(Date.parse(found.createdAt)).toBeGreaterThan(0);
    expect(found.availableTools.map(({ id, paramsSchema }) => [id, paramsSchema])).toEqual([
      ['add', { type: 'object' }],
      ['subtract', { type: 'object' }],
    ]);
  });

  it('Scenario: 禁用 Agent', async () => {
    const { storage, registry } = await withTools();
    await registry.agents.register(agent({ entryTools: ['add'] }));
    const models = { model: () => scriptedModel(() => stallingStream(says('Hel').slice(0, 3))).model };
    const [here, there] = [0, 1].map(() => createRuntime({ catalog: createRegistry({ storage }), storage, models }));
    if (!here || !there) throw new Error('No runtimes');
    const rest = [await begun(await here.run(runRequest(), me)), await begun(await there.run(runRequest(), me))];
    await registry.agents.disable('helper');
    // On record, and visible; with all its data, and no tools that anybody could use through it.
    expect(await registry.agents.get('helper')).toMatchObject({
      state: 'disabled',
      entryTools: ['add'],
      availableTools: [],
    });
    expect((await registry.agents.list({ state: 'disabled' })).items.map(({ id }) => id)).toEqual(['helper']);
    // Not scheduled any more, on any instance, and stopped where it ran.
    for (const runtime of [here, there]) {
      await expect(runtime.run(runRequest(), me)).rejects.toMatchObject({
        code: 'forbidden',
        details: { reason: 'agent_disabled' },
      });
    }
    for (const read of rest) {
      expect(lastData(await read(), 'data-run')).toMatchObject({ state: 'failed', error: { code: 'forbidden' } });
    }
    await registry.agents.enable('helper');
    await (await here.run(runRequest(), me)).cancel();
    await Promise.all([here.close(), there.close()]);
  });

  it('Scenario: 按标签/可见性过滤', async () => {
    const { registry } = await withTools();
    for (let i = 0; i < 9; i++) {
      const [tags, visibility] = [
        i % 3 === 0 ? ['sums'] : ['notes'],
        i % 2 === 0 ? 'public' as const : 'internal' as const,
      ];
      await registry.agents.register(agent({ id: `agent_${i}`, tags, visibility }));
    }
    const idsOf = async (query: Parameters<typeof registry.agents.list>[0]) =>
      (await registry.agents.list(query)).items.map(({ id }) => id);
    expect(await idsOf({ tags: ['sums'] })).toEqual(['agent_0', 'agent_3', 'agent_6']);
    expect(await idsOf({ visibility: 'internal' })).toEqual(['agent_1', 'agent_3', 'agent_5', 'agent_7']);
    expect(await idsOf({ tags: ['sums'], visibility: 'internal' })).toEqual(['agent_3']);
    const first = await registry.agents.list({ tags: ['notes'], limit: 4 });
    const second = await registry.agents.list({ tags: ['notes'], limit: 4, pageToken: first.nextPageToken });
    expect([first, second].map(({ items }) => items.length)).toEqual([4, 2]);
    expect(second.nextPageToken).toBeUndefined();
    expect(second.items[0]).toMatchObject({ name: 'Helper', tags: ['notes'], providerId: 'main' });
  });
});

describe('Requirement: Tool Registry', () => {
  it('Scenario: 注册工具并绑定 Agent', async () => {
    const { registry } = await withTools();
    await registry.agents.register(agent());
    const definition = tool({
      id: 'search',
      name: 'search',
      type: 'extension',
      config: { handler: 'search' },
      version: '2.0.0',
      visibility: 'internal',
      paramsSchema: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
      authn: 'Needs the key of the search service',
      boundAgents: ['helper'],
    });
    await registry.tools.register(definition);
    expect(await registry.tools.get('search')).toMatchObject({ ...definition });
    expect(await registry.agents.get('helper')).toMatchObject({
      entryTools: ['search'],
      availableTools: [{ id: 'search', paramsSchema: definition.paramsSchema }],
    });
  });

  it('Scenario: 查询可用工具', async () => {
    const { registry } = await withTools();
    await registry.tools.register(tool({ id: 'secretly', name: 'secretly', visibility: 'hidden' }));
    await registry.tools.register(tool({ id: 'within', name: 'within', visibility: 'internal' }));
    await registry.tools.register(tool({ id: 'unbound', name: 'unbound' }));
    const entryTools = ['add', 'subtract', 'secretly', 'within'];
    await registry.agents.register(agent({ entryTools }));
    await registry.tools.disable('subtract');
    const available = await registry.availableTools('helper');
    expect(available.map(({ id, paramsSchema }) => [id, paramsSchema])).toEqual([
      ['add', { type: 'object' }],
      ['within', { type: 'object' }],
    ]);
    await registry.tools.enable('subtract');
    expect((await registry.availableTools('helper')).map(({ id }) => id)).toEqual(['add', 'subtract', 'within']);
    await expect(registry.availableTools('nobody')).rejects.toMatchObject({ code: 'not_found' });
  });
});
