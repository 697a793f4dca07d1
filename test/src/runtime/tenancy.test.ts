import { describe, expect, it } from 'vitest';
import { staticCatalog } from '../../../adapters/catalog/static.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { type Catalog, createRuntime, type PlanningRuntime, type Principal } from '../../../src/index.ts';
import { createPrincipal, localPrincipal, scopes } from '../../../src/base/principal.ts';
import { says, scriptedModel } from '../../fixtures/model.ts';
import { readAll, runRequest, textOf } from '../../fixtures/runtime.ts';

const caller = (tenant: string, via: Principal['via'] = 'http'): Principal =>
  createPrincipal({ via, tenant, subject: 'someone', agents: '*', scopes });
const [ada, bob] = [caller('a'), caller('b')];

const tool = (id: string, tenant?: string) => ({
  id,
  name: id,
  type: 'http',
  description: 'Looks something up.',
  paramsSchema: { type: 'object' },
  ...(tenant !== undefined && { tenant }),
});

/** A shared agent, one of tenant a, and a provider of each with the same id; models answer with whose provider they are. */
function tenantCatalog() {
  return staticCatalog({
    agents: [
      { id: 'helper', name: 'Helper', providerId: 'main', entryTools: ['*'] },
      { id: 'own', name: 'Own', providerId: 'main', entryTools: ['*'], tenant: 'a' },
      { id: 'behind', name: 'Behind', providerId: 'main', visibility: 'internal' },
    ],
    providers: [{ id: 'main', kind: 'custom', model: 'shared' }, {
      id: 'main',
      kind: 'custom',
      model: 'of-a',
      tenant: 'a',
    }],
    tools: [tool('common'), tool('secret_of_a', 'a')],
  });
}

function runtimeOver(catalog: Catalog, storage = memoryStorage()): PlanningRuntime {
  return createRuntime({
    catalog,
    storage,
    models: { model: (provider) => scriptedModel(says(String(provider.model))).model },
  });
}

const answerOf = async (runtime: PlanningRuntime, agentId: string, principal: Principal): Promise<string> =>
  textOf(await readAll(await runtime.run(runRequest({ agentId }), principal)));

const unknown = { code: 'not_found', details: { reason: 'agent_not_found' } };

describe('records of several tenants', () => {
  it("resolves a tenant's own agent for that tenant alone, warm caches or not", async () => {
    const runtime = runtimeOver(tenantCatalog());
    await expect(runtime.run(runRequest({ agentId: 'own' }), bob)).rejects.toMatchObject(unknown);
    expect(await answerOf(runtime, 'own', ada)).toBe('of-a');
    await expect(runtime.run(runRequest({ agentId: 'own' }), bob)).rejects.toMatchObject(unknown);
  });

  it("never passes a tenant's provider or tools to a shared agent", async () => {
    const runtime = runtimeOver(tenantCatalog());
    expect(await answerOf(runtime, 'helper', ada)).toBe('shared');
    expect(await answerOf(runtime, 'helper', bob)).toBe('shared');
    const ids = async (agentId: string) => (await runtime.manifest(agentId, ada)).tools.map(({ id }) => id);
    expect(await ids('helper')).toEqual(['common']);
    expect(await ids('own')).toEqual(['common', 'secret_of_a']);
  });

  it('keeps the entries of tenants apart in the layer that instances share', async () => {
    const storage = memoryStorage();
    const catalog = { ...tenantCatalog(), source: 'control-plane' };
    expect(await answerOf(runtimeOver(catalog, storage), 'own', ada)).toBe('of-a');
    const gone: Catalog = { ...staticCatalog({ agents: [], providers: [] }), source: 'control-plane' };
    const other = runtimeOver(gone, storage);
    expect(await answerOf(other, 'own', ada), 'from the shared layer').toBe('of-a');
    await expect(other.run(runRequest({ agentId: 'own' }), bob)).rejects.toMatchObject(unknown);
    for (const agentId of ['own@a', '["own","a"]', 'own","a']) {
      await expect(other.run(runRequest({ agentId }), bob), agentId).rejects.toMatchObject({
        code: expect.stringMatching(/not_found|invalid_argument/),
      });
    }
  });

  it('refuses what a catalog answers of another tenant', async () => {
    const mixed = tenantCatalog();
    const runtime = runtimeOver({ ...mixed, forTenant: () => mixed.forTenant!('a') });
    await expect(runtime.run(runRequest({ agentId: 'own' }), bob)).rejects.toMatchObject({
      code: 'unavailable',
      details: { reason: 'catalog_invalid' },
    });
  });

  it("invalidates a tenant's own entries alone for a principal of that tenant", async () => {
    const loads: string[] = [];
    const catalog = tenantCatalog();
    const counted = (from: Catalog, of: string): Catalog => ({
      ...from,
      agent: (id) => (loads.push(`${id} of ${of}`), from.agent(id)),
    });
    const runtime = runtimeOver({ ...counted(catalog, 'all'), forTenant: (t) => counted(catalog.forTenant!(t), t) });
    await answerOf(runtime, 'own', ada);
    loads.length = 0;
    await runtime.invalidate(['agent:own', '*'], bob);
    await answerOf(runtime, 'own', ada);
    expect(loads).toEqual([]);
    await runtime.invalidate(['agent:own'], ada);
    await answerOf(runtime, 'own', ada);
    expect(loads).toEqual(['own of a']);
    await expect(runtime.invalidate(['agent:own@a'], bob)).rejects.toMatchObject({
      code: 'invalid_argument',
      details: { reason: 'foreign_cache_key' },
    });
  });
});

describe('an agent that is internal', () => {
  it('does not exist for a caller over HTTP', async () => {
    const runtime = runtimeOver(tenantCatalog());
    await expect(runtime.run(runRequest({ agentId: 'behind' }), ada)).rejects.toMatchObject(unknown);
    await expect(runtime.manifest('behind', ada)).rejects.toMatchObject(unknown);
    await expect(runtime.tools('behind', ada)).rejects.toMatchObject(unknown);
  });

  it('runs for principals in process and in plans', async () => {
    const runtime = runtimeOver(tenantCatalog());
    expect(await answerOf(runtime, 'behind', localPrincipal())).toBe('shared');
    const step = {
      agentId: 'behind',
      owner: ada,
      taskId: 'plan',
      traceId: 't',
      signal: new AbortController().signal,
    };
    const thought = await runtime.steps.think({
      ...step,
      history: undefined,
      inputs: [{ type: 'text', text: 'Hello' }],
      instructions: '',
      primitives: [],
    });
    expect(thought.text).toBe('shared');
  });
});
