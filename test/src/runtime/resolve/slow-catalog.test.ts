import { describe, expect, it } from 'vitest';
import { staticCatalog } from '../../../../adapters/catalog/static.ts';
import { memorySecrets } from '../../../../adapters/secrets/memory.ts';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import type { Catalog } from '../../../../src/index.ts';
import { createMetrics } from '../../../../src/base/metrics.ts';
import { createResolver } from '../../../../src/runtime/resolver.ts';
import { type VirtualTime, virtualTime } from '../../../../src/simulation/virtual-time.ts';
import { scriptedModel } from '../../../fixtures/model.ts';

const caller = { tenant: 't', via: 'http' } as const;
const definition = { id: 'add', name: 'add', version: '1.0.0', type: 'builtin', description: 'Adds', paramsSchema: {} };

/** A catalog whose answers can be delayed, by what is looked up; `Infinity` never answers. */
function setUp(time: VirtualTime) {
  const delays: Record<string, number> = {};
  const asked: string[] = [];
  const held = staticCatalog({
    agents: [{ id: 'helper', name: 'Helper', providerId: 'p', mcp: { one: {}, two: {} } }],
    providers: [{ id: 'p', kind: 'custom', secret: { id: 'key' } }],
    tools: [definition],
  });
  const later = async <T>(what: string, answer: Promise<T>): Promise<T> => {
    asked.push(what);
    const ms = delays[what] ?? 0;
    if (ms > 0) await new Promise<void>((resolve) => ms < Infinity && setTimeout(resolve, ms));
    return await answer;
  };
  const catalog: Catalog = {
    agent: (id) => later('agent', held.agent(id)),
    provider: (id) => later('provider', held.provider(id)),
    tool: (id) => held.tool(id),
    mcpServer: (id) => later('server', held.mcpServer?.(id) ?? Promise.resolve(undefined)),
    listTools: (query) => later('tools', held.listTools(query)),
  };
  const secrets = memorySecrets({ key: 'value' }, { unboundSecrets: 'allow' });
  const resolver = createResolver({
    catalog,
    storage: memoryStorage(),
    models: { model: () => scriptedModel().model },
    secrets: { resolve: (ref, options) => later('secret', Promise.resolve(secrets.resolve(ref, options))) },
    metrics: createMetrics(),
    emit: () => undefined,
    now: time.now,
    onAgentsChanged: () => undefined,
  });
  const slow = (ms: number, ...kinds: readonly string[]): void => {
    for (const kind of kinds) delays[kind] = ms;
  };
  return { resolver, slow, asked };
}

describe('the look-ups of one run', () => {
  it('look the secret of the provider up beside the tools and servers', async () => {
    using time = virtualTime();
    const { resolver, slow } = setUp(time);
    slow(1_500, 'secret', 'server', 'tools');
    expect(await time.passUntil(resolver.resolve('helper', caller), 1_600)).toBe(true);
    resolver.close();
  });

  it('cost one time-out when the catalog hangs, whatever is already known', async () => {
    using time = virtualTime();
    const { resolver, slow } = setUp(time);
    await resolver.agent('helper', caller);
    slow(Infinity, 'provider', 'server', 'tools');
    const resolving = resolver.resolve('helper', caller);
    resolving.catch(() => undefined);
    expect(await time.passUntil(resolving, 2_100)).toBe(true);
    await expect(resolving).rejects.toMatchObject({ code: 'deadline_exceeded' });
    resolver.close();
  });

  it('wait once for a source that hangs where every old value is at hand', async () => {
    using time = virtualTime();
    const { resolver, slow } = setUp(time);
    await resolver.resolve('helper', caller);
    await time.pass(200_000);
    slow(Infinity, 'agent', 'provider', 'tools');
    const resolving = resolver.resolve('helper', caller);
    expect(await time.passUntil(resolving, 700)).toBe(true);
    expect((await resolving).agent.id).toBe('helper');
    resolver.close();
  });

  it('report the first failure at once, and leave no rejection behind when the others fail later', async () => {
    using time = virtualTime();
    const { resolver, slow, asked } = setUp(time);
    slow(Infinity, 'tools', 'server', 'provider');
    const unknown = resolver.resolve('nobody', caller);
    unknown.catch(() => undefined);
    expect(await time.passUntil(unknown, 0)).toBe(true);
    await expect(unknown).rejects.toMatchObject({ code: 'not_found' });
    expect(asked).toEqual(['tools', 'agent']);
    await time.pass(5_000); // a rejection that no one handles fails the test run
    resolver.close();
  });

  it('load the list of tools once when it fails before the agent is known', async () => {
    using time = virtualTime();
    const { resolver, slow, asked } = setUp(time);
    slow(Infinity, 'tools');
    slow(1_900, 'agent');
    const resolving = resolver.equip('helper', caller);
    resolving.catch(() => undefined);
    expect(await time.passUntil(resolving, 2_100)).toBe(true);
    await expect(resolving).rejects.toMatchObject({ code: 'deadline_exceeded' });
    expect(asked.filter((what) => what === 'tools')).toHaveLength(1);
    resolver.close();
  });
});
