import { describe, expect, it } from 'vitest';
import * as v from 'valibot';
import { memorySink } from '../../adapters/sinks/memory.ts';
import { memoryStorage } from '../../adapters/storage/memory.ts';
import { createAudit, createTree, defineTool, localPrincipal, PinnaceError, treeTools } from '../../src/index.ts';
import { readSummary } from '../../src/events/payload-summary.ts';
import { linesOf } from '../fixtures/events.ts';
import { eventProblems } from '../../src/simulation/invariants.ts';
import { callsTools, says, scriptedModel, streamOf } from '../fixtures/model.ts';
import { readAll, runRequest, testRuntime, userMessage } from '../fixtures/runtime.ts';

const me = localPrincipal();

describe('Observability and Safety Controls', () => {
  it('事件追踪与审计', async () => {
    const { sink, events } = memorySink();
    const audit = createAudit({ storage: memoryStorage() });
    const note = defineTool({
      id: 'note',
      description: 'Notes',
      input: v.object({ text: v.string() }),
      execute: ({ text }) => text.length,
    });
    const { model } = scriptedModel(({ prompt }) => {
      const said = JSON.stringify(prompt);
      if (!said.includes('You are sub-agent')) {
        return streamOf(
          said.includes('The result of sub-agent')
            ? says('The ship is sound')
            : callsTools({ tool: 'create', input: { goal: 'Look at the bow' } }),
        );
      }
      return streamOf(
        said.includes('"tool-result"')
          ? says('Sound')
          : callsTools({ tool: 'note', input: { text: 'The bow leaks a little' }, id: 'c1' }),
      );
    });
    const runtime = testRuntime({ model, tools: [note], audit, sinks: [sink] });
    const request = runRequest({ chat: { id: 'chat-1', messages: [userMessage('Is she sound?')] }, planner: {} });
    await readAll(await runtime.run(request, me));
    const lines = linesOf(events);
    for (
      const line of [
        'run > plan > agent > agent pending',
        'run > plan > agent > agent > step > model.call ok',
        'run > plan > agent > agent > tool.call ok',
        'run > plan > agent > agent ok',
      ]
    ) expect(lines).toContain(line);
    const called = events.find(({ action, status }) => action === 'tool.call' && status === 'ok')!;
    expect(called).toMatchObject({
      timestamp: expect.stringMatching(/Z$/),
      traceId: events[0]?.traceId,
      actor: { type: 'agent', id: 'helper' },
      target: { type: 'tool', id: 'note' },
      latency: expect.any(Number),
      error: null,
    });
    expect(readSummary(called.payloadSummary)).toMatchObject({ input: 33, output: 2 });
    const { value: seen } = await runtime.events(me, { after: 0, filter: { action: 'tool.call' } }).getReader().read();
    expect(seen?.event).toMatchObject({ status: 'pending', spanId: called.spanId });
    const { items } = await audit.log('local').list({ traceId: called.traceId });
    expect(items.map(({ event }) => `${event.action} ${event.target.id} ${event.status}`)).toEqual([
      'tool.call note pending',
      'tool.call note ok',
    ]);
    expect(JSON.stringify([events, items])).not.toContain('leaks');
    await runtime.close();
  });

  it('失败事件上报', async () => {
    const { sink, events } = memorySink();
    const broken = defineTool({
      id: 'broken',
      description: 'Breaks',
      input: v.object({}),
      execute: () => {
        throw new PinnaceError('unavailable', 'The harbour is closed', { details: { reason: 'storm' } });
      },
    });
    const { model } = scriptedModel(callsTools({ tool: 'broken', input: {} }), says('ok'));
    const runtime = testRuntime({ model, tools: [broken], sinks: [sink] });
    await readAll(await runtime.run(runRequest(), me));
    const [call] = events.filter(({ action }) => action === 'error');
    expect(call).toMatchObject({
      traceId: events[0]?.traceId,
      parentSpanId: events.find(({ action }) => action === 'tool.call')?.spanId,
      target: { type: 'tool', id: 'broken' },
      status: 'error',
      error: { code: 'unavailable', retryable: true, details: { reason: 'storm' } },
    });
    const failing = testRuntime({
      model: scriptedModel(() => streamOf([{ type: 'error', error: new Error('sk-SECRET') }])).model,
      sinks: [sink],
      limits: { modelRetries: 0 },
    });
    const outcome = await failing.planner.run({ goal: 'g', agentId: 'helper' }, me);
    expect(outcome.state).toBe('failed');
    const nodes = events.filter(({ action, target }) => action === 'error' && target.type !== 'tool');
    expect(nodes.map(({ target: { type }, error }) => [type, typeof error?.retryable])).toEqual([
      ['agent', 'boolean'],
      ['plan', 'boolean'],
    ]);
    expect(eventProblems(events)).toEqual([]);
    expect(JSON.stringify(events)).not.toContain('SECRET');
    await Promise.all([runtime.close(), failing.close()]);
  });
});

describe('Audit logging', () => {
  it('Audit record created for mutations', async () => {
    const { sink, events } = memorySink();
    const audit = createAudit({ storage: memoryStorage() });
    const tree = createTree({
      payloadTypes: { item: { schema: v.strictObject({ name: v.string() }) } },
      rows: [{ nodeId: 'root', parentId: null, payloadType: 'item', payload: { name: 'Plan' } }],
    });
    const tools = treeTools(tree, { agentId: 'helper', role: 'editor' });
    const page = await tools.call('get_view', { rootNodeId: 'root' });
    const versionToken = page.ok ? page.output.version : '';
    const { model } = scriptedModel(
      callsTools(
        { tool: 'expand_node', input: { nodeId: 'root', versionToken }, id: 'c1' },
        { tool: 'expand_node', input: { nodeId: 'nobody', versionToken }, id: 'c2' },
      ),
      says('Done'),
    );
    await readAll(await testRuntime({ model, tools: [tools], audit, sinks: [sink] }).run(runRequest(), me));
    const told = events.filter(({ action }) => action === 'tree.expand_node');
    expect(told).toMatchObject([
      { actor: { type: 'agent', id: 'helper' }, target: { type: 'tree-node', id: 'root' }, status: 'ok' },
      { target: { id: 'nobody' }, status: 'error', error: { code: 'not_found' } },
    ]);
    const { items } = await audit.log('local').list({ target: 'expand_node' });
    const ends = items.map(({ event }) => event).filter(({ status }) => status !== 'pending');
    expect(ends.map(({ actor, status, error }) => [actor.id, status, error?.code])).toEqual([
      ['helper', 'ok', undefined],
      ['helper', 'error', 'not_found'],
    ]);
  });
});
