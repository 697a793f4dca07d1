import { describe, expect, it } from 'vitest';
import { staticCatalog } from '../../../adapters/catalog/static.ts';
import { recordSource } from '../../../adapters/grounding/records.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import {
  type AgentInput,
  createGrounding,
  createPrincipal,
  createRuntime,
  type CreateRuntimeOptions,
  localPrincipal,
  type ToolDefinitionInput,
} from '../../../src/index.ts';
import { callsTools, says, scriptedModel } from '../../fixtures/model.ts';
import { lastData, readAll, runRequest } from '../../fixtures/runtime.ts';

const me = localPrincipal();
const ships = [{ id: 's1', name: 'Ada', port: 'Kiel' }, { id: 's2', name: 'Bark', port: 'Oslo' }];
const definition: ToolDefinitionInput = {
  id: 'ships_find',
  name: 'ships_find',
  type: 'datastore',
  description: 'Finds ships',
  paramsSchema: { type: 'object' },
  config: { dataSourceId: 'ships' },
};

/** A runtime whose agent calls the tool with this input; the records belong to the tenant `local`. */
function finding(
  input: unknown,
  { agent = {}, definitions = [definition], ...options }: Partial<CreateRuntimeOptions> & {
    agent?: Partial<AgentInput>;
    definitions?: readonly ToolDefinitionInput[];
  } = {},
) {
  const model = scriptedModel(callsTools({ tool: 'ships_find', input }), says('Done'));
  const source = recordSource({ id: 'ships', list: (tenant) => tenant === 'local' ? ships : [] });
  const catalog = staticCatalog({
    agents: [{ id: 'helper', name: 'Helper', providerId: 'p', entryTools: ['ships_find'], ...agent }],
    providers: [{ id: 'p', kind: 'custom' }],
    tools: definitions,
  });
  const runtime = createRuntime({
    catalog,
    models: { model: () => model.model },
    storage: memoryStorage(),
    grounding: createGrounding({ sources: [source] }),
    ...options,
  });
  const run = async (principal = me) => await readAll(await runtime.run(runRequest(), principal));
  const output = async (principal = me) =>
    JSON.stringify((await run(principal)).flatMap((chunk) => 'output' in chunk ? [chunk.output] : []));
  return { model, runtime, run, output };
}

describe('a tool of type datastore', () => {
  it('finds records by words and by filters, in the source that its definition names', async () => {
    const { runtime, output, model } = finding({ query: 'Kiel' });
    expect((await runtime.manifest('helper', me)).tools).toContainEqual({ id: 'ships_find' });
    expect(await output()).toContain('Ada');
    expect(model.calls[0]?.tools).toMatchObject([{ name: 'ships_find', inputSchema: { required: ['query'] } }]);
    const filtered = finding({ query: '', filters: [{ field: 'port', op: 'eq', value: 'Oslo' }] });
    const found = await filtered.output();
    expect(found).toContain('Bark');
    expect(found).not.toContain('Ada');
  });

  it('refuses any other input, and by the schema of its definition where that is narrower', async () => {
    const { run } = finding({ query: 'Kiel', dataSourceIds: ['payroll'] });
    expect(lastData(await run(), 'data-tool-error')).toMatchObject({ code: 'invalid_argument' });
    const paramsSchema = { type: 'object', properties: { query: { enum: ['Oslo'] } }, required: ['query'] };
    const narrow = finding({ query: 'Kiel' }, { definitions: [{ ...definition, paramsSchema }] });
    expect(lastData(await narrow.run(), 'data-tool-error')).toMatchObject({ code: 'invalid_argument' });
  });

  it('finds nothing of another tenant', async () => {
    const other = createPrincipal({ ...me, tenant: 'other' });
    expect(await finding({ query: 'Kiel' }).output(other)).not.toContain('Ada');
  });

  it('asks the permission hook before it asks the source', async () => {
    const { run } = finding({ query: 'Kiel' }, {
      authorize: (action, _, { id }) => ({
        decision: action === 'grounding.retrieve' && id === 'ships' ? 'deny' : 'allow',
        reason: 'Not yours',
      }),
    });
    const chunks = await run();
    expect(lastData(chunks, 'data-tool-error')).toMatchObject({ code: 'forbidden' });
    expect(JSON.stringify(chunks)).not.toContain('Ada');
  });

  it('is not there for an agent of a plan that was made by one which does not name the source', async () => {
    const { runtime, model } = finding({ query: 'Kiel' }, { agent: { dataSources: [] } });
    const { tenant, subject, agents, scopes } = me;
    await runtime.steps.think({
      agentId: 'helper',
      owner: { tenant, subject, agents, scopes },
      taskId: 'plan_1:1-1',
      traceId: 'a'.repeat(32),
      signal: new AbortController().signal,
      above: ['helper'],
      history: undefined,
      inputs: [{ type: 'text', text: 'Go' }],
      instructions: '',
      primitives: [],
    });
    expect(model.calls[0]?.tools ?? []).toEqual([]);
  });

  it.each<[string, Parameters<typeof finding>[1]]>([
    ['names no source', { definitions: [{ ...definition, config: {} }] }],
    ['names a source that is not composed', { definitions: [{ ...definition, config: { dataSourceId: 'x' } }] }],
  ])('is left out where its definition %s', async (_name, options) => {
    const { tools } = await finding({}, options).runtime.manifest('helper', me);
    expect(tools).toContainEqual({ id: 'ships_find', excluded: 'no_implementation' });
  });
});
