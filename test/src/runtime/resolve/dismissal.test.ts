import { describe, expect, it } from 'vitest';
import { staticCatalog } from '../../../../adapters/catalog/static.ts';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import {
  type AgentInput,
  type Catalog,
  createRuntime,
  localPrincipal,
  PinnaceError,
  type ProviderInput,
  type UIMessageChunk,
} from '../../../../src/index.ts';
import { says, scriptedModel, stallingStream } from '../../../fixtures/model.ts';
import { lastData, readAll, runRequest, terminalChunks } from '../../../fixtures/runtime.ts';

const me = localPrincipal();

/** Two instances over one storage and a catalog that can be changed; their models never come to an end. */
function twoInstances() {
  const state = { agents: [{}] as Partial<AgentInput>[], provider: {} as Partial<ProviderInput>, away: false };
  const current = (): Catalog => {
    if (state.away) throw new PinnaceError('unavailable', 'Cannot reach the catalog');
    return staticCatalog({
      agents: state.agents.map((agent) => ({ id: 'helper', name: 'Helper', providerId: 'default', ...agent })),
      providers: [{ id: 'default', kind: 'custom', ...state.provider }],
    });
  };
  const catalog: Catalog = {
    agent: async (id) => await current().agent(id),
    provider: async (id) => await current().provider(id),
    tool: async (id) => await current().tool(id),
    listTools: async (query) => await current().listTools(query),
  };
  const storage = memoryStorage();
  const models = { model: () => scriptedModel(() => stallingStream(says('Hel').slice(0, 3))).model };
  const create = () => createRuntime({ catalog, models, storage });
  return { state, runtimes: [create(), create()] as const };
}

/** Reads up to the first text, and gives what reads the rest. */
async function begun(stream: ReadableStream<UIMessageChunk>): Promise<() => Promise<UIMessageChunk[]>> {
  const reader = stream.getReader();
  for (let next = await reader.read(); next.value?.type !== 'text-delta';) next = await reader.read();
  reader.releaseLock();
  return () => readAll(stream);
}

describe('a run whose agent is taken out of service', () => {
  it.each([
    ['disabled', [{ state: 'disabled' as const }], { code: 'forbidden', details: { reason: 'agent_disabled' } }],
    ['removed', [], { code: 'not_found', details: { reason: 'agent_not_found' } }],
  ])('is stopped when it is %s, on every instance, and says why', async (_, agents, error) => {
    const { state, runtimes: [here, there] } = twoInstances();
    const rest = [await begun(await here.run(runRequest(), me)), await begun(await there.run(runRequest(), me))];
    state.agents = agents;
    await here.invalidate(['agent:helper']);
    for (const read of rest) {
      const chunks = await read();
      expect(lastData(chunks, 'data-run')).toMatchObject({ state: 'failed', error });
      expect(terminalChunks(chunks)).toHaveLength(1);
    }
    await Promise.all([here.close(), there.close()]);
  });

  it('is stopped too when everything was invalidated', async () => {
    const { state, runtimes: [here, there] } = twoInstances();
    const read = await begun(await there.run(runRequest(), me));
    state.agents = [{ visibility: 'disabled' }];
    await here.invalidate(['*']);
    expect(lastData(await read(), 'data-run')).toMatchObject({ state: 'failed' });
    await Promise.all([here.close(), there.close()]);
  });

  it('goes on when only another agent, or nothing that forbids it, has changed, or the catalog is away', async () => {
    const { state, runtimes: [here] } = twoInstances();
    const read = await begun(await here.run(runRequest(), me));
    state.agents = [{ description: 'Another text' }, { id: 'other', state: 'disabled' }];
    await here.invalidate(['agent:helper', 'agent:other']);
    state.away = true;
    await here.invalidate(['agent:helper']);
    expect(here.runs.open).toBe(1);
    await here.close();
    expect(lastData(await read(), 'data-run')).toMatchObject({ state: 'cancelled' });
  });

  it('is not begun when its provider is disabled', async () => {
    const { state, runtimes: [here] } = twoInstances();
    state.provider = { state: 'disabled' };
    await expect(here.run(runRequest(), me)).rejects.toMatchObject({
      code: 'forbidden',
      details: { reason: 'provider_disabled' },
    });
    await here.close();
  });
});
