import { readUIMessageStream } from 'ai';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { memorySink } from '../../../../adapters/sinks/memory.ts';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import {
  createPrincipal,
  type CreateRuntimeOptions,
  defineTool,
  type HostedRuntime,
  localPrincipal,
  type UIMessage,
  type UIMessageChunk,
} from '../../../../src/index.ts';
import { callsTools, says, type ScriptedModel, scriptedModel } from '../../../fixtures/model.ts';
import { runRequest, testRuntime, textOf, userMessage } from '../../../fixtures/runtime.ts';

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

/** The chunks of a run from its first to its last. */
async function chunksOf(runtime: HostedRuntime, runId: string): Promise<UIMessageChunk[]> {
  const cursor = await runtime.runs.cursor(me, runId, 0);
  const chunks: UIMessageChunk[] = [];
  for (let events = await cursor.next(); events; events = await cursor.next()) {
    chunks.push(...events.map(({ text: json }) => JSON.parse(json) as UIMessageChunk));
  }
  cursor.close();
  return chunks;
}

const typesOf = (chunks: readonly UIMessageChunk[]): string[] => chunks.map(({ type }) => type);
const deliveredIn = (chunks: readonly UIMessageChunk[]): string[] =>
  chunks.flatMap((chunk) => chunk.type === 'steering-message' ? [chunk.id] : []);
const undeliveredIn = (chunks: readonly UIMessageChunk[]): unknown[] =>
  chunks.flatMap((chunk) => chunk.type === 'data-steering' ? [chunk.data] : []);
const userTexts = ({ calls }: ScriptedModel, call: number): string[] =>
  (calls[call]?.prompt ?? []).flatMap(({ role, content }) =>
    role === 'user' ? content.map((part) => part.type === 'text' ? part.text : part.type) : []
  );

describe('a message to a running agent', () => {
  it('reaches the model before its next call, once and in order, and the stream shows it before the step', async () => {
    const { runtime, model, started, open } = setup(scriptedModel(works, says('In metres')));
    const { runId, ended } = await runtime.start(runRequest(), me, {});
    await started();
    expect(await runtime.send(runId, text('a', 'In metres'), me)).toEqual({ messageId: 'a', state: 'accepted' });
    expect(await runtime.send(runId, text('b', 'And short'), me)).toEqual({ messageId: 'b', state: 'accepted' });
    expect(await runtime.send(runId, text('a', 'In metres'), me)).toEqual({ messageId: 'a', state: 'accepted' });
    open();
    await ended;
    expect(model.calls.map(({ prompt }) => prompt.map(({ role }) => role))).toEqual([
      ['user'],
      ['user', 'assistant', 'tool', 'user', 'user'],
    ]);
    expect(userTexts(model, 1)).toEqual(['Hello', 'In metres', 'And short']);
    const chunks = await chunksOf(runtime, runId);
    const types = typesOf(chunks);
    expect(types.slice(types.indexOf('steering-message') - 1).slice(0, 4)).toEqual([
      'finish-step',
      'steering-message',
      'steering-message',
      'start-step',
    ]);
    expect(deliveredIn(chunks)).toEqual(['a', 'b']);
    expect(await runtime.send(runId, text('a', 'In metres'), me)).toEqual({ messageId: 'a', state: 'delivered' });
  });

  it('that arrives during the final answer takes one more step', async () => {
    const answering = Promise.withResolvers<void>();
    const sent = Promise.withResolvers<void>();
    const model = scriptedModel(
      () =>
        new ReadableStream({
          async start(controller) {
            answering.resolve();
            await sent.promise;
            for (const part of says('First')) controller.enqueue(part);
            controller.close();
          },
        }),
      says('Second'),
    );
    const { runtime } = setup(model);
    const { runId, ended } = await runtime.start(runRequest(), me, {});
    await answering.promise;
    await runtime.send(runId, text('a'), me);
    sent.resolve();
    await ended;
    expect(textOf(await chunksOf(runtime, runId))).toBe('FirstSecond');
    expect(await runtime.runs.status(me, runId)).toMatchObject({ state: 'completed', usage: { steps: 2 } });
  });

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
    expect(deliveredIn(await chunksOf(runtime, runId))).toEqual(['a']);
  });

  it('is reported as undelivered when the run is stopped before its next step', async () => {
    const { runtime, started } = setup(scriptedModel(works));
    const { runId, ended } = await runtime.start(runRequest(), me, {});
    await started();
    await runtime.send(runId, text('a'), me);
    await runtime.cancel(runId, me);
    await ended;
    const chunks = await chunksOf(runtime, runId);
    expect(undeliveredIn(chunks)).toEqual([{ messageId: 'a', state: 'undelivered' }]);
    expect(chunks.at(-1)).toMatchObject({ type: 'abort' });
  });

  it('is a conflict where the run has ended or waits for an approval', async () => {
    const ask = defineTool({
      id: 'ask',
      description: 'Asks',
      input: v.object({}),
      approval: 'always',
      execute: () => 'asked',
    });
    const { runtime } = setup(scriptedModel(callsTools({ tool: 'ask', input: {} })), { tools: [ask] });
    const { runId, ended } = await runtime.start(runRequest(), me, {});
    await ended;
    expect(await runtime.runs.status(me, runId)).toMatchObject({ state: 'awaiting_approval' });
    await expect(runtime.send(runId, text('a'), me)).rejects.toMatchObject({
      code: 'conflict',
      status: 409,
      retryable: false,
      details: { reason: 'run_ended' },
    });
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

  it('is refused beyond 16 that wait, until a step has taken them', async () => {
    const { runtime, model, started, open } = setup(scriptedModel(works, works, says('ok')));
    const { runId, ended } = await runtime.start(runRequest(), me, {});
    await started(0);
    const ids = Array.from({ length: 16 }, (_, i) => `m${i}`);
    for (const id of ids) await runtime.send(runId, text(id), me);
    await expect(runtime.send(runId, text('more'), me)).rejects.toMatchObject({
      code: 'rate_limited',
      retryAfterMs: 1000,
      details: { reason: 'too_many_messages' },
    });
    open();
    await started(1);
    expect(userTexts(model, 1)).toEqual(['Hello', ...ids]);
    await runtime.send(runId, text('more'), me);
    open();
    await ended;
    expect(deliveredIn(await chunksOf(runtime, runId))).toEqual([...ids, 'more']);
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
    expect(deliveredIn(await chunksOf(runtime, runId))).toEqual([]);
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

  it('becomes a part of the answer in AI SDK clients, and a user message of the next request', async () => {
    const model = scriptedModel(works, says('In metres'), says('Yes'));
    const { runtime, started, open } = setup(model);
    const stream = await runtime.run(runRequest(), me);
    const [chunks, shown] = stream.tee();
    const { value: first } = await readData(chunks);
    const answer = readMessage(shown);
    await started();
    await runtime.send(first, text('a', 'In metres'), me);
    open();
    const message = await answer;
    expect(message.parts.map(({ type }) => type).filter((type) => !type.startsWith('data-'))).toEqual([
      'step-start',
      'tool-work',
      'steering-message',
      'step-start',
      'text',
    ]);
    const messages = [userMessage('Hello'), message, userMessage('Sure?', 'm3')];
    const { ended } = await runtime.start(runRequest({ chat: { id: 'chat-1', messages } }), me, {});
    await ended;
    expect(model.calls[2]?.prompt.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'user',
      'assistant',
      'user',
    ]);
    expect(userTexts(model, 2)).toEqual(['Hello', 'In metres', 'Sure?']);
  });
});

/** Reads the run's id, and lets the rest flow. */
async function readData(chunks: ReadableStream<UIMessageChunk>): Promise<{ readonly value: string }> {
  const reader = chunks.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    if (next.value.type !== 'data-run') continue;
    void (async () => {
      while (!(await reader.read()).done);
    })();
    return { value: next.value.id ?? '' };
  }
  throw new Error('No run');
}

async function readMessage(stream: ReadableStream<UIMessageChunk>): Promise<UIMessage> {
  let last: UIMessage | undefined;
  for await (const message of readUIMessageStream({ stream })) last = message;
  if (!last) throw new Error('No message');
  return last;
}
