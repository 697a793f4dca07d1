import { describe, expect, it } from 'vitest';
import { staticCatalog } from '../../../../adapters/catalog/static.ts';
import { memorySecrets } from '../../../../adapters/secrets/memory.ts';
import { memorySink } from '../../../../adapters/sinks/memory.ts';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import {
  type AgentInput,
  type Catalog,
  createRuntime,
  localPrincipal,
  type Secret,
  type SecretSource,
} from '../../../../src/index.ts';
import { says, scriptedModel } from '../../../fixtures/model.ts';
import { lastData, readAll, runRequest } from '../../../fixtures/runtime.ts';

const me = localPrincipal();

/** A catalog whose agent can be changed, and which counts how often it is asked. */
function changingCatalog(source?: string) {
  const state = { agent: {} as Partial<AgentInput>, loads: 0, secret: false };
  const current = (): Catalog =>
    staticCatalog({
      agents: [{ id: 'helper', name: 'Helper', providerId: 'default', ...state.agent }],
      providers: [{ id: 'default', kind: 'custom', ...(state.secret && { secret: { id: 'key' } }) }],
    });
  const catalog: Catalog = {
    ...(source !== undefined && { source }),
    agent: (id) => (state.loads++, current().agent(id)),
    provider: (id) => current().provider(id),
    tool: (id) => current().tool(id),
    listTools: (query) => current().listTools(query),
  };
  return { state, catalog };
}

describe('what a run is resolved from', () => {
  it.each<[string, Partial<Record<keyof Catalog, unknown>>]>([
    ['an agent that is none', { agent: {} }],
    ['an agent with another id', { agent: { id: 'other', name: 'Other', providerId: 'default' } }],
    ['a provider that is none', { provider: 'default' }],
    ['tools that are none', { listTools: 'tools' }],
    ['a tool that is none', { listTools: [{ id: 'x' }] }],
  ])('keeps nothing of a catalog that answers %s', async (_, garbage) => {
    const { catalog } = changingCatalog('control-plane');
    let broken = true;
    const answering = <K extends 'agent' | 'provider' | 'listTools'>(name: K): Catalog[K] =>
      ((...given: never[]) =>
        broken && name in garbage
          ? Promise.resolve(garbage[name])
          : (catalog[name] as (...given: never[]) => unknown)(...given)) as Catalog[K]; // what it answers is the test
    const models = { model: () => scriptedModel(says('hi')).model };
    const storage = memoryStorage();
    const runtime = createRuntime({
      catalog: {
        ...catalog,
        agent: answering('agent'),
        provider: answering('provider'),
        listTools: answering('listTools'),
      },
      models,
      storage,
    });
    const refused = { code: 'unavailable', retryable: false, details: { reason: 'catalog_invalid' } };
    await expect(runtime.run(runRequest(), me)).rejects.toMatchObject(refused);
    broken = false;
    expect(lastData(await readAll(await runtime.run(runRequest(), me)), 'data-run')).toMatchObject({
      state: 'completed',
    });
  });

  it('never writes the value of a secret to the storage', async () => {
    const { state, catalog } = changingCatalog('control-plane');
    state.secret = true;
    const storage = memoryStorage();
    const secrets = memorySecrets({ key: 'sk-SECRET-0123456789' }, { unboundSecrets: 'allow' });
    let given: Secret | undefined;
    const models = {
      model: (_: unknown, secret: Secret | undefined) => (given = secret, scriptedModel(says('hi')).model),
    };
    await readAll(await createRuntime({ catalog, models, storage, secrets }).run(runRequest(), me));
    expect(given?.reveal()).toBe('sk-SECRET-0123456789');
    expect(JSON.stringify(await storage.list({ prefix: [], limit: 1000 }))).not.toContain('SECRET');
  });

  it('uses a secret of at most ten minutes ago when its source is away, and says so; not one that was invalidated', async () => {
    const { state, catalog } = changingCatalog();
    state.secret = true;
    let time = 0;
    let away = false;
    const inner = memorySecrets({ key: 'sk-SECRET-0123456789' }, { unboundSecrets: 'allow' });
    const secrets: SecretSource = {
      resolve: (ref, options) => away ? Promise.reject(new TypeError('network')) : inner.resolve(ref, options),
    };
    const { sink, events } = memorySink();
    const models = { model: () => scriptedModel(says('hi')).model };
    const runtime = createRuntime({
      catalog,
      models,
      storage: memoryStorage(),
      secrets,
      sinks: [sink],
      now: () => time,
    });
    await readAll(await runtime.run(runRequest(), me));
    away = true;
    time = 590_000;
    expect(lastData(await readAll(await runtime.run(runRequest(), me)), 'data-run')).toMatchObject({
      state: 'completed',
    });
    expect(events.map(({ action }) => action)).toContain('secret.stale_used');
    await runtime.invalidate(['secrets']);
    await expect(runtime.run(runRequest(), me)).rejects.toBeDefined();
  });

  it('emits one event for a secret that is too short to be redacted, without its value or length', async () => {
    const { state, catalog } = changingCatalog();
    state.secret = true;
    let value = 'hunter2';
    const secrets: SecretSource = {
      resolve: (ref, options) => memorySecrets({ key: value }, { unboundSecrets: 'allow' }).resolve(ref, options),
    };
    const { sink, events } = memorySink();
    const models = { model: () => scriptedModel(says('hi')).model };
    const runtimeOf = () => createRuntime({ catalog, models, storage: memoryStorage(), secrets, sinks: [sink] });
    const runtime = runtimeOf();
    const warnings = () => events.filter(({ action }) => action === 'secret.too_short_to_redact');
    for (let i = 0; i < 2; i++) {
      await readAll(await runtime.run(runRequest(), me));
      await runtime.invalidate(['secrets']);
    }
    expect(warnings()).toEqual([
      expect.objectContaining({ target: { type: 'secret', id: 'key' }, status: 'ok', payloadSummary: '', error: null }),
    ]);
    expect(JSON.stringify(events)).not.toContain(value);
    value = 'hunter22'; // long enough
    await readAll(await runtimeOf().run(runRequest(), me));
    expect(warnings()).toHaveLength(1);
  });

  it('is unavailable when the secret does not come in time', async () => {
    const { state, catalog } = changingCatalog();
    state.secret = true;
    const secrets: SecretSource = { resolve: () => new Promise(() => undefined) };
    const models = { model: () => scriptedModel(says('hi')).model };
    const runtime = createRuntime({ catalog, models, storage: memoryStorage(), secrets });
    await expect(runtime.run(runRequest(), me)).rejects.toMatchObject({
      code: 'unavailable',
      retryable: true,
      details: { reason: 'secret_unavailable' },
    });
  });

  it('is warm after prewarm, which returns what cannot be resolved', async () => {
    const { state, catalog } = changingCatalog();
    const models = { model: () => scriptedModel(says('hi')).model };
    const runtime = createRuntime({ catalog, models, storage: memoryStorage() });
    expect(await runtime.prewarm(['helper', 'nobody'], me)).toMatchObject({ failed: { nobody: 'not_found' } });
    const loads = state.loads;
    await readAll(await runtime.run(runRequest(), me));
    expect(state.loads).toBe(loads);
    expect(runtime.metrics.text()).toContain('pinnace_cache_hits_total{cache="agent",layer="l1"} 1');
  });
});
