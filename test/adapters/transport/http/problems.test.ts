import { describe, expect, it } from 'vitest';
import { staticCatalog } from '../../../../adapters/catalog/static.ts';
import { textSource } from '../../../../adapters/grounding/text.ts';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { createHandler } from '../../../../adapters/transport/http.ts';
import {
  type AgentInput,
  createGrounding,
  createPrincipal,
  type CreateRuntimeOptions,
  localPrincipal,
  PinnaceError,
} from '../../../../src/index.ts';
import { readAll, runRequest, testRuntime } from '../../../fixtures/runtime.ts';
import { says, scriptedModel } from '../../../fixtures/model.ts';

const principalOf = (tenant: string) =>
  createPrincipal({ ...localPrincipal(), via: 'http', tenant, deployment: false });
const agent = { id: 'helper', name: 'Helper', providerId: 'default' };
const tool = { id: 'stock', name: 'stock', description: 'Stock', type: 'function' as const, paramsSchema: {} };
const providers = [{ id: 'default', kind: 'custom' as const }];

/** An endpoint with a catalog that may change; `record` is the record of its agent. */
function endpointOf(
  record: Partial<AgentInput> = {},
  { tools = [], ...options }: Omit<Partial<CreateRuntimeOptions>, 'tools'> & {
    readonly tools?: Parameters<typeof staticCatalog>[0]['tools'];
  } = {},
) {
  let current = { ...agent, ...record };
  const read = () => staticCatalog({ agents: [current], providers, tools });
  // Without `fixed`, as that of a registry.
  const catalog = new Proxy(read(), {
    get: (_, name) => name === 'fixed' ? undefined : Reflect.get(read(), name),
  });
  const { model } = scriptedModel(says('Hi'), says('Hi'));
  const runtime = testRuntime({ model, catalog, ...options });
  const handle = createHandler(runtime, {
    authenticator: {
      authenticate: (request) => Promise.resolve(principalOf(request.headers.get('authorization') ?? '')),
    },
  });
  const get = async (path: string, tenant = 'one') => {
    const response = await handle(new Request(`http://127.0.0.1/v1${path}`, { headers: { authorization: tenant } }));
    return await response.json();
  };
  return {
    get,
    run: async () => await readAll(await runtime.run(runRequest(), principalOf('one'))),
    async change(next: Partial<AgentInput>) {
      current = { ...agent, ...next };
      await runtime.invalidate(['*']);
    },
  };
}

describe('what an agent names without effect', () => {
  const wrong = { entryTools: ['stock', 'stok'], dataSources: ['handbok'], limits: { steps: 100 } };
  const reasons = ['unknown_tool', 'unknown_data_source', 'limit_above_runtime', 'unknown_handler'];

  it('is in its manifest and in readyz, until the record is corrected', async () => {
    const endpoint = endpointOf(wrong, { tools: [tool], handlers: { stocks: () => 1 } });
    expect(await endpoint.get('/readyz')).not.toHaveProperty('problems');
    const { problems } = await endpoint.get('/agents/helper/manifest');
    expect(problems.map(({ reason }: { reason: string }) => reason)).toEqual(reasons);
    expect(JSON.stringify(problems)).toContain('did you mean \\"stock\\"?');
    const ready = await endpoint.get('/readyz');
    expect(ready).toMatchObject({ status: 'ok', problems: [{ agentId: 'helper', ...problems[0] }, {}, {}, {}] });
    await endpoint.change({ entryTools: ['current_time'] });
    expect(await endpoint.get('/agents/helper/manifest')).not.toHaveProperty('problems');
    expect(await endpoint.get('/readyz')).not.toHaveProperty('problems');
  });

  it('is shown of a record to operators of its tenant alone', async () => {
    const endpoint = endpointOf({ ...wrong, tenant: 'one' });
    await endpoint.run();
    expect((await endpoint.get('/readyz')).problems).toHaveLength(4);
    expect(await endpoint.get('/readyz', 'two')).not.toHaveProperty('problems');
  });

  it('is refused where records never change: a tool of type "function" without its handler', () => {
    const catalogOf = (config?: { readonly handler: string }) =>
      staticCatalog({
        agents: [{ ...agent, entryTools: ['stock'] }],
        providers,
        tools: [{ ...tool, ...(config && { config }) }],
      });
    const compose = (config?: { readonly handler: string }) => () =>
      testRuntime({
        model: scriptedModel(says('Hi')).model,
        catalog: catalogOf(config),
        handlers: { readStock: () => 1 },
      });
    expect(compose({ handler: 'readStok' })).toThrow(
      'Cannot compose the runtime: tool "stock" of type "function" names the handler "readStok", which ' +
        'createRuntime({ handlers }) does not have; use "readStock"',
    );
    expect(compose()).toThrow('has no code: pass it in "tools", or name a function of "handlers" as config.handler');
    expect(compose({ handler: 'readStock' })).not.toThrow();
  });
});

describe('a data source that was filled for another tenant', () => {
  it('is in the manifest of those for whom it is empty', async () => {
    const grounding = createGrounding({ sources: [textSource({ id: 'handbook' })] });
    const endpoint = endpointOf({ dataSources: ['handbook'] }, { grounding });
    expect(await endpoint.get('/agents/helper/manifest')).not.toHaveProperty('problems');
    await grounding.remember({ dataSourceId: 'handbook', items: [{ text: 'Returns take 30 days' }] }, {
      principal: principalOf('two'),
    });
    expect((await endpoint.get('/agents/helper/manifest')).problems).toEqual([{
      reason: 'no_items_of_tenant',
      message:
        'Cannot find anything in the data source "handbook": it has items of others, and none of "one"; fill it for ' +
        'this tenant, or share it (shared: true)',
    }]);
    expect(await endpoint.get('/agents/helper/manifest', 'two')).not.toHaveProperty('problems');
  });
});

describe('a storage that is away', () => {
  it('is named with the code of its cause, and without the text of what was thrown', async () => {
    const cause = Object.assign(new Error('connect postgres://shop:secret@db'), { code: 'ECONNREFUSED' });
    const fails = (error: unknown) => async (): Promise<never> => {
      throw error;
    };
    const storageOf = (error: unknown) => ({ ...memoryStorage(), get: fails(error), commit: fails(error) });
    const away = new PinnaceError('unavailable', 'Cannot reach the database', {
      cause,
      details: { reason: 'storage_blocked' },
    });
    const ready = await endpointOf({}, { storage: storageOf(away) }).get('/readyz');
    const failure = { code: 'unavailable', reason: 'storage_blocked', message: 'Cannot reach the database' };
    expect(ready).toMatchObject({ status: 'failed', failures: { storage: { ...failure, cause: 'ECONNREFUSED' } } });
    const other = await endpointOf({}, { storage: storageOf(cause) }).get('/readyz');
    expect(other.failures).toEqual({ storage: { code: 'internal', message: 'Error', cause: 'ECONNREFUSED' } });
    expect(JSON.stringify([ready, other])).not.toContain('secret');
  });
});
