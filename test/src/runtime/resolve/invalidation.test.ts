import { describe, expect, it } from 'vitest';
import { staticCatalog } from '../../../../adapters/catalog/static.ts';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { type Catalog, createRuntime, localPrincipal, type Storage } from '../../../../src/index.ts';
import { says, scriptedModel } from '../../../fixtures/model.ts';
import { readAll, runRequest } from '../../../fixtures/runtime.ts';

const me = localPrincipal();
const agent = { id: 'helper', name: 'Helper', providerId: 'default' };
const providers = [{ id: 'default', kind: 'custom' as const }];

/** A catalog with a source, so that its records are shared, whose agent can be disabled. */
function setUp() {
  const state = { disabled: false, lists: 0 };
  const active = staticCatalog({ agents: [agent], providers });
  const disabled = staticCatalog({ agents: [{ ...agent, state: 'disabled' }], providers });
  const current = (): Catalog => state.disabled ? disabled : active;
  const catalog: Catalog = {
    source: 'test',
    agent: (...given) => current().agent(...given),
    provider: (...given) => current().provider(...given),
    tool: (...given) => current().tool(...given),
    listTools: (...given) => (state.lists++, current().listTools(...given)),
  };
  const instance = (storage: Storage) =>
    createRuntime({ catalog, storage, models: { model: () => scriptedModel(says('Hi')).model } });
  return { state, instance };
}

describe('an invalidation of a whole kind', () => {
  it.each(['*', 'agent'])('reaches the shared layer: after %j no instance runs a disabled agent', async (key) => {
    const { state, instance } = setUp();
    const storage = memoryStorage();
    await readAll(await instance(storage).run(runRequest(), me));
    state.disabled = true;
    await instance(storage).invalidate([key]); // has never loaded the agent
    await expect(instance(storage).run(runRequest(), me)).rejects.toMatchObject({
      code: 'forbidden',
      details: { reason: 'agent_disabled' },
    });
  });
});

describe('the key of an invalidation', () => {
  it.each(['nonsense', 'agents', 'agent:', ':helper', '', 'tools:add', '*:x', 'agent:helper@'])(
    'is refused when it is %j, with the forms that there are',
    async (key) => {
      const invalidating = setUp().instance(memoryStorage()).invalidate(['*', key]);
      await expect(invalidating).rejects.toMatchObject({
        code: 'invalid_argument',
        details: { reason: 'unknown_invalidation_key', forms: expect.arrayContaining(['agent:<id>', '*']) as string[] },
      });
    },
  );
});

describe('prewarm', () => {
  it('loads the list of tools too, and lists what it has loaded', async () => {
    const { state, instance } = setUp();
    const runtime = instance(memoryStorage());
    expect(await runtime.prewarm(['helper', 'nobody'], me)).toEqual({
      warmed: ['agent:helper', 'provider:default', 'tools'],
      failed: { nobody: 'not_found' },
    });
    expect(state.lists).toBe(1);
    await readAll(await runtime.run(runRequest(), me));
    expect(state.lists).toBe(1);
  });
});
