import { describe, expect, it } from 'vitest';
import { staticCatalog } from '../../../../adapters/catalog/static.ts';
import { textSource } from '../../../../adapters/grounding/text.ts';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import {
  type AgentInput,
  type Authorize,
  createGrounding,
  createPrincipal,
  createRuntime,
  type CreateRuntimeOptions,
  localPrincipal,
  type UIMessage,
  type UIMessageChunk,
} from '../../../../src/index.ts';
import { neverAborted } from '../../../fixtures/grounding.ts';
import { callsTools, says, type ScriptedModel, scriptedModel, streamOf } from '../../../fixtures/model.ts';
import { lastData, readAll, runRequest, testRuntime, userMessage } from '../../../fixtures/runtime.ts';

const me = localPrincipal();
type Script = ReturnType<typeof says>;
const asks = (input: Record<string, unknown> = {}, id = 'call-0') =>
  callsTools({ tool: 'retrieve', input: { query: 'anchor', ...input }, id });

/** Three sources, each of which knows about the anchor. */
async function harbour(options: { tenant?: string } & Partial<Parameters<typeof createGrounding>[0]> = {}) {
  const { tenant = 'local', ...more } = options;
  const sources = ['handbook', 'log', 'payroll'].map((id) => textSource({ id }));
  for (const source of sources) {
    const items = [{ id: `${source.id}-1`, text: `What ${source.id} says about the anchor`, title: `On ${source.id}` }];
    await source.remember({ tenant, items }, neverAborted());
  }
  return createGrounding({ sources, ...more });
}

/** Runs the agent `helper`, which has these sources. */
async function runWith(
  scripts: readonly Script[],
  { agent, ...options }: Partial<Omit<CreateRuntimeOptions, 'models'>> & { agent: Partial<AgentInput> },
) {
  const scripted = scriptedModel(...scripts);
  const runtime = testRuntime({ model: scripted.model, agent, grounding: await harbour(), ...options });
  const run = async (more: Parameters<typeof runRequest>[0] = {}, principal = me) =>
    await readAll(await runtime.run(runRequest(more), principal, { idempotencyKey: JSON.stringify(more) }));
  return { scripted, runtime, run };
}

const offered = ({ calls }: ScriptedModel, step = 0) => calls[step]?.tools?.map(({ name }) => name) ?? [];
const outputs = (chunks: readonly UIMessageChunk[]) =>
  chunks.flatMap((chunk) => chunk.type === 'tool-output-available' ? [chunk.output] : []);
const errors = (chunks: readonly UIMessageChunk[]) =>
  chunks.flatMap((chunk) => chunk.type === 'data-tool-error' ? [chunk.data] : []);
const sourcesIn = (chunks: readonly UIMessageChunk[]) =>
  chunks.flatMap((chunk) =>
    chunk.type === 'data-sources' ? [chunk.data as { sources: { n: number; id: string }[] }] : []
  );

describe('an agent with data sources', () => {
  it('can ask them without naming the tool, and write only where its allowlist says so', async () => {
    const agent = { dataSources: ['handbook'], entryTools: [] as string[] };
    const plain = await runWith([says('Hi')], { agent });
    await plain.run();
    expect(offered(plain.scripted)).toEqual(['retrieve']);
    const everything = await runWith([says('Hi')], { agent: { ...agent, entryTools: ['*'] } });
    await everything.run();
    expect(offered(everything.scripted)).toEqual(['retrieve']);
    const writing = await runWith([says('Hi')], { agent: { ...agent, entryTools: ['remember', 'forget'] } });
    await writing.run();
    expect(offered(writing.scripted)).toEqual(['forget', 'remember', 'retrieve']);
  });

  it('without any has no such tool, and its manifest says why', async () => {
    const { scripted, runtime, run } = await runWith([says('Hi')], { agent: { entryTools: ['retrieve'] } });
    await run();
    expect(offered(scripted)).toEqual([]);
    expect((await runtime.manifest('helper', me)).tools).toContainEqual({
      id: 'retrieve',
      excluded: 'no_data_sources',
    });
  });

  it('reaches all of its sources, and never another, whatever the model names', async () => {
    const agent = { dataSources: ['handbook', 'log'] };
    const { run } = await runWith(
      [asks(), asks({ dataSourceIds: ['payroll'] }), asks({ dataSourceIds: ['log', 'payroll'] }), says('Done')],
      { agent },
    );
    const chunks = await run();
    expect(outputs(chunks)).toEqual([
      expect.objectContaining({
        untrusted: true,
        sources: [{ dataSourceId: 'handbook', status: 'ok' }, { dataSourceId: 'log', status: 'ok' }],
      }),
    ]);
    expect(errors(chunks)).toMatchObject([
      { code: 'not_found', message: expect.stringContaining('there is handbook, log') },
      { code: 'not_found' },
    ]);
    expect(JSON.stringify(chunks)).not.toContain('What payroll says');
  });

  it('finds what belongs to the tenant of the caller, and nothing of another', async () => {
    const grounding = await harbour({ tenant: 'acme' });
    const agent = { dataSources: ['handbook'] };
    const of = (tenant: string) =>
      createPrincipal({ via: 'http', tenant, subject: 'ann', agents: '*', scopes: ['run:create', 'run:read'] });
    const script = [asks(), says('Done')] as const;
    const acme = await (await runWith([...script], { grounding, agent })).run({}, of('acme'));
    expect(outputs(acme)).toMatchObject([{ citations: [{ id: 'handbook-1' }] }]);
    const globex = await (await runWith([...script], { grounding, agent })).run({}, of('globex'));
    expect(outputs(globex)).toMatchObject([{ citations: [], text: 'Nothing was found.' }]);
    const claims = await (await runWith([asks({ tenant: 'acme' }), says('Done')], { grounding, agent })).run(
      {},
      of('globex'),
    );
    expect(errors(claims)).toMatchObject([{ code: 'invalid_argument' }]);
  });

  it('adds hits as data beside the chat: numbered, marked, within the budget, never as instructions', async () => {
    const { scripted, run } = await runWith([asks(), says('It holds [1].')], { agent: { dataSources: ['handbook'] } });
    await run();
    const prompt = scripted.calls[1]?.prompt ?? [];
    const told = JSON.stringify(prompt.filter(({ role }) => role === 'tool'));
    expect(told).toContain('[1] handbook/handbook-1');
    expect(told).toContain('never instructions');
    expect(JSON.stringify(prompt.filter(({ role }) => role === 'system'))).not.toContain('anchor');
  });

  it('has the tool at hand when it discovers the others', async () => {
    const { scripted, run } = await runWith([asks(), says('Hi')], {
      agent: { dataSources: ['handbook'], entryTools: ['tool_*'] },
    });
    const chunks = await run();
    expect(offered(scripted)).toEqual([
      'tool_find',
      'tool_describe',
      'tool_load',
      'tool_active',
      'tool_call',
      'retrieve',
    ]);
    expect(outputs(chunks)).toMatchObject([{ citations: [{ n: 1 }] }]);
  });

  it('asks the permission hook for every source, as the agent that it is', async () => {
    const asked: unknown[] = [];
    const authorize: Authorize = (action, { tenant }, { type, id }, { agentId }) => {
      if (action === 'tool.call') return { decision: 'allow' };
      asked.push([action, tenant, type, id, agentId]);
      return id === 'log' ? { decision: 'deny', reason: 'the log is closed' } : { decision: 'allow' };
    };
    const { run } = await runWith([asks(), says('Done')], { authorize, agent: { dataSources: ['handbook', 'log'] } });
    expect(outputs(await run())).toMatchObject([{
      citations: [{ id: 'handbook-1' }],
      sources: [{ status: 'ok' }, { dataSourceId: 'log', error: { code: 'forbidden' } }],
    }]);
    expect(asked).toEqual([
      ['grounding.retrieve', 'local', 'data-source', 'handbook', 'helper'],
      ['grounding.retrieve', 'local', 'data-source', 'log', 'helper'],
    ]);
  });

  it('writes what a person has approved', async () => {
    const notes = { dataSourceId: 'log', items: [{ id: 'n1', text: 'The anchor is rusty' }] };
    const { run, runtime } = await runWith(
      [callsTools({ tool: 'remember', input: notes }), asks({ query: 'rusty' }, 'call-1'), says('Kept')],
      { agent: { dataSources: ['log'], entryTools: ['remember'] } },
    );
    const chunks = await run();
    const request = chunks.find((chunk) => chunk.type === 'tool-approval-request');
    expect(request).toMatchObject({ reason: expect.stringContaining('The anchor is rusty') });
    const { runId } = lastData(chunks, 'data-run');
    const approvalId = request?.type === 'tool-approval-request' ? request.approvalId : '';
    await runtime.decide(String(runId), approvalId, { approved: true }, me);
    const waiting = {
      type: 'tool-remember',
      toolCallId: 'call-0',
      input: notes,
      state: 'approval-responded',
      approval: { id: approvalId, approved: true },
    };
    const messages = [userMessage('Keep it'), { id: 'm2', role: 'assistant', parts: [waiting] } as UIMessage];
    const more = await run({ chat: { id: 'chat-1', messages } });
    expect(outputs(more)).toMatchObject([{ ids: ['n1'] }, { citations: [{ id: 'n1' }] }]);
  });
});

describe('the sources of a run', () => {
  it('have one number each in the whole run, and keep it', async () => {
    const { run } = await runWith(
      [asks({ dataSourceIds: ['log'] }, 'a'), asks({ dataSourceIds: ['handbook', 'log'] }, 'b'), says('Done')],
      { agent: { dataSources: ['handbook', 'log'] } },
    );
    const [first, second] = sourcesIn(await run());
    expect(first?.sources).toMatchObject([{ n: 1, id: 'log-1' }]);
    expect(new Map(second?.sources.map(({ id, n }) => [id, n]))).toEqual(new Map([['log-1', 1], ['handbook-1', 2]]));
  });

  it('are numbered on from those of the chat so far, whatever a client makes of them', async () => {
    const { run } = await runWith([asks(), says('Done')], { agent: { dataSources: ['log'] } });
    const told = (sources: unknown) => ({ type: 'data-sources', data: { toolCallId: 'x', sources } });
    const parts = [
      { type: 'text', text: 'It is so [4].' },
      told([{ n: 4 }, { n: 2 }]),
      told([{ n: 1e9 }, { n: -1 }, { n: 'many' }, null, {}]),
      told('nonsense'),
      { type: 'data-sources', data: null },
    ];
    const messages = [
      userMessage('Well?'),
      { id: 'm2', role: 'assistant', parts } as UIMessage,
      userMessage('And?', 'm3'),
    ];
    expect(sourcesIn(await run({ chat: { id: 'chat-1', messages } }))[0]?.sources).toMatchObject([{ n: 5 }]);
  });
});

describe('a sub-agent with data sources', () => {
  const step = (above?: readonly string[]) => ({
    agentId: 'clerk',
    owner: { tenant: me.tenant, subject: me.subject, agents: me.agents, scopes: me.scopes },
    taskId: 'plan-1:1-1',
    traceId: 'a'.repeat(32),
    signal: neverAborted(),
    ...(above && { above }),
  });
  const openRuntime = async (plot: (prompt: string) => Script = () => says('Hi')) => {
    const scripted = scriptedModel(({ prompt }) => streamOf(plot(JSON.stringify(prompt))));
    const common = { name: 'X', providerId: 'p', entryTools: [] };
    const agents = [
      { ...common, id: 'clerk', dataSources: ['handbook', 'payroll'] },
      { ...common, id: 'lead', dataSources: ['log', 'handbook'] },
      { ...common, id: 'outsider' },
      { ...common, id: 'retired', dataSources: ['handbook', 'payroll'], state: 'disabled' as const },
    ];
    const catalog = staticCatalog({ agents, providers: [{ id: 'p', kind: 'custom' }] });
    const models = { model: () => scripted.model };
    const grounding = await harbour();
    return { scripted, runtime: createRuntime({ catalog, models, grounding, storage: memoryStorage() }) };
  };
  const retrieve = { tool: 'retrieve', input: { query: 'anchor' }, callId: 'c', approved: false };

  it('asks its own by itself, and below another agent only what that one has too', async () => {
    const { runtime } = await openRuntime();
    const cited = async (above?: readonly string[]) => {
      const outcome = await runtime.steps.act({ ...step(above), ...retrieve });
      return outcome.ok
        ? (outcome.output as { citations: { id: string }[] }).citations.map(({ id }) => id).toSorted()
        : outcome.error.code;
    };
    expect(await cited()).toEqual(['handbook-1', 'payroll-1']);
    expect(await cited(['lead'])).toEqual(['handbook-1']);
    for (const nobody of ['outsider', 'retired', 'unknown']) expect(await cited(['lead', nobody])).toBe('not_found');
  });

  it('is made by a plan with the sources that its maker has too', async () => {
    const { runtime, scripted } = await openRuntime((prompt) => {
      if (prompt.includes('You are sub-agent')) return prompt.includes('says about') ? says('Read [1]') : asks();
      if (prompt.includes('The result of sub-agent')) return says('Read');
      return callsTools({ tool: 'create', input: { goal: 'Read', agentId: 'clerk' } });
    });
    const chunks = await readAll(
      await runtime.run(runRequest({ agentId: 'lead', planner: {} }), me),
    );
    expect(lastData(chunks, 'data-run')).toMatchObject({ state: 'completed' });
    const told = JSON.stringify(scripted.calls);
    expect(told).toContain('What handbook says');
    expect(told).not.toContain('What payroll says');
  });
});
