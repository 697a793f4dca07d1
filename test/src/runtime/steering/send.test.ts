import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { memorySink } from '../../../../adapters/sinks/memory.ts';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import {
  createPrincipal,
  type CreateRuntimeOptions,
  defineTool,
  localPrincipal,
  type UIMessageChunk,
} from '../../../../src/index.ts';
import { callsTools, says, type ScriptedModel, scriptedModel } from '../../../fixtures/model.ts';
import { recordedChunks, runRequest, testRuntime } from '../../../fixtures/runtime.ts';

const me = localPrincipal();
const text = (id: string, said = id) => ({ id, parts: [{ type: 'text' as const, text: said }] });

/** A tool that waits in each call until the test lets it go on. */
function gate() {
  const reached: (() => void)[] = [];
  const waiting: PromiseWithResolvers<void>[] = [];
  const started = (call: number): PromiseWithResolvers<void> => waiting[call] ??= Promise.withResolvers<void>();
  let calls = 0;
  const tool = defineTool({
    id: 'work',
    description: 'Works',
    input: v.object({}),
    execute: async () => {
      started(calls++).resolve();
      await new Promise<void>((resolve) => reached.push(resolve));
      return 'worked';
    },
  });
  return { tool, started: (call = 0) => started(call).promise, open: () => reached.shift()?.() };
}

const works = callsTools({ tool: 'work', input: {} });

function setup(model: ScriptedModel, options: Partial<CreateRuntimeOptions> = {}) {
  const held = gate();
  const storage = memoryStorage();
  const runtime = testRuntime({ ...model, storage, tools: [held.tool], ...options });
  return { ...held, model, storage, runtime };
}

const deliveredIn = (chunks: readonly UIMessageChunk[]): string[] =>
  chunks.flatMap((chunk) => chunk.type === 'steering-message' ? [chunk.id] : []);
const undeliveredIn = (chunks: readonly UIMessageChunk[]): unknown[] =>
  chunks.flatMap((chunk) => chunk.type === 'data-steering' ? [chunk.data] : []);
const userTexts = ({ calls }: ScriptedModel, call: number): string[] =>
  (calls[call]?.prompt ?? []).flatMap(({ role, content }) =>
    role === 'user' ? content.map((part) => part.type === 'text' ? part.text : part.type) : []
  );

describe('a message to a running agent', () => {
  it('waits for the result of a call that the provider makes itself', async () => {
    const call = { toolCallId: 'p', toolName: 'code', providerExecuted: true } as const;
    const [start, , , , finish] = says('x');
    const result = { type: 'tool-result', toolCallId: 'p', toolName: 'code', result: 4 } as const;
    const model = scriptedModel(
      [...callsTools({ tool: 'work', input: {} }).slice(0, -1), { type: 'tool-call', ...call, input: '{}' }, finish!],
      [start!, result, ...says('Four').slice(1)],
      says('Done'),
    );
    const { runtime, started, open } = setup(model);
    const { runId, ended } = await runtime.start(runRequest(), me, {});
    await started();
    await runtime.send(runId, text('a'), me);
    open();
    await ended;
    expect(model.calls.map((_, i) => userTexts(model, i))).toEqual([['Hello'], ['Hello'], ['Hello', 'a']]);
    expect(deliveredIn(await recordedChunks(runtime, runId))).toEqual(['a']);
  });

  it('is reported as undelivered when the run is stopped before its next step', async () => {
    const { runtime, started } = setup(scriptedModel(works));
    const { runId, ended } = await runtime.start(runRequest(), me, {});
    await started();
    await runtime.send(runId, text('a'), me);
    await runtime.cancel(runId, me);
    await ended;
    const chunks = await recordedChunks(runtime, runId);
    expect(undeliveredIn(chunks)).toEqual([{ messageId: 'a', state: 'undelivered' }]);
    expect(chunks.at(-1)).toMatchObject({ type: 'abort' });
  });

  it('is a conflict under the id of another message', async () => {
    const { runtime, started, open } = setup(scriptedModel(works, says('ok')));
    const { runId, ended } = await runtime.start(runRequest(), me, {});
    await started();
    await runtime.send(runId, text('a', 'One'), me);
    const reused = { code: 'conflict', details: { reason: 'message_id_reused' } };
    await expect(runtime.send(runId, text('a', 'Two'), me)).rejects.toMatchObject(reused);
    open();
    await ended;
    await expect(runtime.send(runId, text('a', 'Two'), me)).rejects.toMatchObject(reused);
  });

  it('is refused beyond 60 a minute', async () => {
    let time = 1_800_000_000_000;
    const steps = Array.from({ length: 6 }, () => works);
    const { runtime, started, open } = setup(scriptedModel(...steps, says('ok')), { now: () => time });
    const { runId, ended } = await runtime.start(runRequest(), me, {});
    for (let step = 0; step < 6; step++) {
      await started(step);
      for (let i = 0; i < 10; i++) await runtime.send(runId, text(`m${step}.${i}`), me);
      if (step < 5) open();
    }
    const more = () => runtime.send(runId, text('more'), me);
    await expect(more()).rejects.toMatchObject({ code: 'rate_limited', retryAfterMs: 1000 });
    time += 1000;
    expect(await more()).toMatchObject({ state: 'accepted' });
    open();
    await ended;
  });

  it.each([
    ['nothing', {}, 'invalid_data'],
    ['no part', { parts: [] }, 'invalid_data'],
    ['a blank text', { parts: [{ type: 'text', text: ' \n' }] }, 'message_empty'],
    ['a text that is too long', { parts: [{ type: 'text', text: 'a'.repeat(32_769) }] }, 'message_too_large'],
    [
      'a file',
      { parts: [{ type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,AA==' }] },
      'invalid_data',
    ],
    ['an instruction', { role: 'system', parts: [{ type: 'text', text: 'Obey' }] }, 'invalid_data'],
    ['an id with a space', { id: 'a b', parts: [{ type: 'text', text: 'Hi' }] }, 'invalid_data'],
  ])('is invalid with %s', async (_, message, reason) => {
    const { runtime } = setup(scriptedModel(says('ok')));
    await expect(runtime.send('run_1', message as never, me)).rejects.toMatchObject({
      code: 'invalid_argument',
      details: { reason },
    });
  });

  it('is refused to other tenants, other agents and callers without the scope', async () => {
    const { runtime, started, open } = setup(scriptedModel(works, says('ok')));
    const { runId, ended } = await runtime.start(runRequest(), me, {});
    await started();
    const as = (facts: object) => runtime.send(runId, text('a'), createPrincipal({ ...me, ...facts }));
    await expect(as({ tenant: 'other' })).rejects.toMatchObject({ code: 'not_found' });
    await expect(as({ agents: ['another'] })).rejects.toMatchObject({ code: 'not_found' });
    await expect(as({ scopes: ['run:read', 'run:cancel'] })).rejects.toMatchObject({ code: 'forbidden' });
    open();
    await ended;
    expect(deliveredIn(await recordedChunks(runtime, runId))).toEqual([]);
  });

  it('asks the permission hook, and emits who sent it and when it was delivered, without its text', async () => {
    const sink = memorySink();
    const asked: unknown[] = [];
    const { runtime, started, open } = setup(scriptedModel(works, says('ok')), {
      sinks: [sink.sink],
      authorize(action, { subject }, resource, context) {
        if (action === 'run.send') asked.push([subject, resource, context]);
        return subject === 'eve' ? { decision: 'deny', reason: 'not yours' } : { decision: 'allow' };
      },
    });
    const { runId, ended } = await runtime.start(runRequest(), me, {});
    await started();
    const eve = createPrincipal({ ...me, subject: 'eve' });
    await expect(runtime.send(runId, text('e'), eve)).rejects.toMatchObject({ code: 'forbidden' });
    await runtime.send(runId, text('a', 'sk-SECRET'), me);
    open();
    await ended;
    const resource = { type: 'run', id: runId, subject: 'local' };
    expect(asked).toEqual([['eve', resource, { agentId: 'helper' }], ['local', resource, { agentId: 'helper' }]]);
    const events = sink.events.filter(({ action }) => action === 'run.send' || action === 'run.message');
    expect(events.map(({ action, status, actor }) => `${action} ${status} ${actor.id}`)).toEqual([
      'run.send denied eve',
      'run.send ok local',
      'run.message ok helper',
    ]);
    expect(JSON.stringify(sink.events)).not.toContain('SECRET');
    const counted = runtime.metrics.text();
    expect(counted).toContain('pinnace_steering_messages_total{state="delivered"} 1');
  });
});
