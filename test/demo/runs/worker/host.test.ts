import * as v from 'valibot';
import { describe, expect, it, vi } from 'vitest';
import { staticCatalog } from '../../../../adapters/catalog/static.ts';
import { memorySecrets } from '../../../../adapters/secrets/memory.ts';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import type { RunNews, RunRecord } from '../../../../demo/control/runs-control.ts';
import { newFrom } from '../../../../demo/runs/ui/prompt-view.tsx';
import { createInspectorHost } from '../../../../demo/runs/worker/host.ts';
import { type CallOptions, createPrompts, promptOf } from '../../../../demo/runs/worker/prompts.ts';
import {
  createRuntime,
  defineTool,
  localPrincipal,
  type ObservedEvent,
  PinnaceError,
  type Storage,
  type UIMessageChunk,
} from '../../../../src/index.ts';
import { callsTools, says, scriptedModel } from '../../../fixtures/model.ts';
import { lastData, readAll, runRequest, userMessage } from '../../../fixtures/runtime.ts';

const secret = 'sk-inspected-3f9a7c21';

const add = defineTool({
  id: 'add',
  description: 'Adds',
  input: v.object({ a: v.number(), b: v.number() }),
  execute: ({ a, b }) => ({ sum: a + b }),
});
const unused = defineTool({ id: 'unused', description: 'Not allowed', input: v.object({}), execute: () => 1 });

/** A worker with its inspector: a model that adds, then answers. */
function startWorker({ storage = memoryStorage(), bounds }: { storage?: Storage; bounds?: { runs: number } } = {}) {
  const inspector = createInspectorHost({ storage, runtime: () => runtime, ...(bounds && { bounds }) });
  const runtime = createRuntime({
    catalog: staticCatalog({
      agents: [{ id: 'helper', name: 'Helper', providerId: 'p', entryTools: ['add'], instructions: 'You add.' }],
      providers: [{ id: 'p', kind: 'custom', secret: { id: 'model-key' } }],
    }),
    models: inspector.models({
      model: () => scriptedModel(callsTools({ tool: 'add', input: { a: 1, b: 2 } }), says('It is 3')).model,
    }),
    secrets: inspector.secrets(memorySecrets({ 'model-key': secret }, { unboundSecrets: 'allow' })),
    storage: memoryStorage(),
    keep: 'inputs',
    tools: [add, unused],
    sinks: [inspector.sink],
  });
  /** Asks, and gives the trace. */
  async function ask(text: string): Promise<string> {
    const chat = { id: 'chat-1', messages: [userMessage(text)] };
    const chunks: UIMessageChunk[] = await readAll(await runtime.run(runRequest({ chat }), localPrincipal()));
    return String(lastData(chunks, 'data-run')['traceId']);
  }
  return { ...inspector, ask };
}

async function recordOf(control: ReturnType<typeof startWorker>['control'], traceId: string): Promise<RunRecord> {
  const found = await control.run(traceId);
  if (!found.ok) throw new Error(found.error.message);
  return found.value;
}

describe('createInspectorHost', () => {
  it('has what a run was started from, and its forks', async () => {
    const { control, ask } = startWorker();
    const { head } = await recordOf(control, await ask('What is 1 + 2?'));
    expect(await control.inputs(head.runId)).toMatchObject({
      ok: true,
      value: {
        instructions: 'You add.',
        providerId: 'p',
        message: { role: 'user', parts: [{ type: 'text', text: 'What is 1 + 2?' }] },
        forks: [],
      },
    });
    expect(await control.inputs('run_unknown')).toMatchObject({ ok: false, error: { code: 'not_found' } });
  });

  it('has each prompt as the model saw it, by its call, without secrets', async () => {
    const { control, ask } = startWorker();
    const traceId = await ask(`My key is ${secret}, what is 1 + 2?`);
    const prompts = await control.prompts(traceId);
    const { events } = await recordOf(control, traceId);
    const calls = events.filter(({ action, status }) => action === 'model.call' && status === 'pending');
    expect(prompts.map(({ spanId }) => spanId)).toEqual(calls.map(({ spanId }) => spanId));
    expect(prompts[0]?.messages).toEqual([
      { role: 'system', parts: [{ type: 'text', text: 'You add.' }] },
      { role: 'user', parts: [{ type: 'text', text: 'My key is [secret model-key], what is 1 + 2?' }] },
    ]);
    expect(prompts[0]?.tools).toEqual([{
      name: 'add',
      description: 'Adds',
      input: expect.objectContaining({ type: 'object' }),
    }]);
    expect(prompts[1]?.messages.slice(2)).toEqual([
      { role: 'assistant', parts: [{ type: 'call', tool: 'add', toolCallId: 'call-0', input: { a: 1, b: 2 } }] },
      { role: 'tool', parts: [{ type: 'result', tool: 'add', toolCallId: 'call-0', output: expect.anything() }] },
    ]);
    expect(JSON.stringify(events)).not.toContain('what is 1 + 2');
  });

  it('keeps runs over a reload, with the question that names them, and no other part of a prompt', async () => {
    const storage = memoryStorage();
    const before = startWorker({ storage });
    const traceId = await before.ask('What is 1 + 2?');
    const record = await recordOf(before.control, traceId);
    const later = startWorker({ storage });
    await vi.waitFor(async () => expect((await later.control.list()).runs).toEqual([record.head]));
    expect(await recordOf(later.control, traceId)).toEqual(record);
    expect(await later.control.prompts(traceId)).toEqual([]);
    expect(record.head.question).toBe('What is 1 + 2?');
    const entries = await storage.list({ prefix: ['events'], limit: 1000 });
    expect(JSON.stringify(entries)).not.toContain('What is');
  });

  it('keeps the latest runs alone', async () => {
    const storage = memoryStorage();
    const worker = startWorker({ storage, bounds: { runs: 2 } });
    const traces: string[] = [];
    for (const text of ['a', 'b', 'c']) traces.push(await worker.ask(text));
    const later = startWorker({ storage });
    await vi.waitFor(async () => {
      const { runs } = await later.control.list();
      expect(new Set(runs.map(({ traceId }) => traceId))).toEqual(new Set(traces.slice(1)));
    });
    expect(await later.control.run(traces[0] ?? '')).toMatchObject({ ok: false, error: { code: 'not_found' } });
  });

  it('reports events live, without a gap', async () => {
    const { control, ask } = startWorker();
    const news: RunNews[] = [];
    await control.watch((one) => void news.push(one));
    const traceId = await ask('What is 1 + 2?');
    const { events, head } = await recordOf(control, traceId);
    await vi.waitFor(() => expect(news.at(-1)?.head).toEqual(head));
    expect(news.flatMap((one) => one.events)).toEqual(events);
    expect(news.map(({ from }) => from)).toEqual(
      news.map((_, i) => news.slice(0, i).reduce((sum, one) => sum + one.events.length, 0)),
    );
    expect(news.at(-1)?.tools?.tools).toContainEqual({ id: 'add' });
  });

  it('erases all of it', async () => {
    const storage = memoryStorage();
    const { control, ask } = startWorker({ storage });
    const traceId = await ask('What is 1 + 2?');
    await control.list();
    expect(await control.erase()).toEqual({ ok: true, value: undefined });
    expect(await control.list()).toEqual({ runs: [], isStored: true });
    expect(await control.prompts(traceId)).toEqual([]);
    expect(await storage.list({ prefix: [], limit: 1000 })).toEqual([]);
  });

  it('goes on without a storage, and says so', async () => {
    const blocked = () => Promise.reject(new PinnaceError('unavailable', 'Blocked'));
    const { control, ask } = startWorker({ storage: { get: blocked, list: blocked, commit: blocked } });
    const traceId = await ask('What is 1 + 2?');
    await vi.waitFor(async () => expect((await control.list()).isStored).toBe(false));
    expect((await control.list()).runs.map((run) => run.traceId)).toEqual([traceId]);
    expect((await recordOf(control, traceId)).events.length).toBeGreaterThan(5);
    expect(await control.erase()).toMatchObject({ ok: false, error: { code: 'unavailable' } });
  });
});

it('shows what the provider said with the prompt of the call that it refused', async () => {
  const refusal = Object.assign(new Error('Not found'), {
    responseBody: JSON.stringify({ error: { message: 'The model `ship` does not exist' } }),
  });
  const { model } = scriptedModel(() => {
    throw refusal;
  });
  const prompts = createPrompts();
  const source = prompts.models({ model: () => model });
  const watched = source.model({ id: 'default' } as never, undefined) as typeof model & {
    doStream: (options: object) => unknown;
  };
  const event = { action: 'model.call', status: 'pending', traceId: 't', spanId: 's' };
  prompts.note(event as ObservedEvent); // what it reads of the event
  await expect(watched.doStream({ prompt: [] })).rejects.toBe(refusal);
  expect(prompts.of('t').map(({ said }) => said)).toEqual(['The model `ship` does not exist']);
});

it('shows what the provider said in the middle of its answer', async () => {
  const { model } = scriptedModel([
    { type: 'stream-start', warnings: [] },
    { type: 'error', error: { message: 'Overloaded', type: 'server_error' } },
  ]);
  const prompts = createPrompts();
  const watched = prompts.models({ model: () => model }).model({ id: 'default' } as never, undefined) as
    & typeof model
    & {
      doStream: (options: object) => Promise<{ stream: ReadableStream<{ type: string }> }>;
    };
  prompts.note({ action: 'model.call', status: 'pending', traceId: 't', spanId: 's' } as ObservedEvent);
  const { stream } = await watched.doStream({ prompt: [] });
  const parts = await Array.fromAsync(stream as ReadableStream<{ type: string }> & AsyncIterable<{ type: string }>);
  expect(parts.map(({ type }) => type)).toEqual(['stream-start', 'error']);
  expect(prompts.of('t').map(({ said }) => said)).toEqual(['Overloaded']);
});

const call = { spanId: 's', model: 'm' };

describe('promptOf', () => {
  it('names files instead of holding them, and leaves out what is no prompt', () => {
    const options: CallOptions = {
      prompt: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look' },
            { type: 'file', mediaType: 'image/png', data: { type: 'data', data: new Uint8Array(1_000_000) } },
          ],
        },
        { role: 'assistant', content: [{ type: 'reasoning', text: 'Hm' }] },
      ],
      temperature: 0.2,
      headers: { authorization: 'Bearer secret' },
      abortSignal: new AbortController().signal,
    };
    expect(promptOf(options, call)).toEqual({
      ...call,
      messages: [
        { role: 'user', parts: [{ type: 'text', text: 'Look' }, { type: 'file', mediaType: 'image/png' }] },
        { role: 'assistant', parts: [{ type: 'reasoning', text: 'Hm' }] },
      ],
      tools: [],
      settings: { temperature: 0.2 },
    });
  });
});

describe('newFrom', () => {
  const said = (text: string) => ({ role: 'user' as const, parts: [{ type: 'text' as const, text }] });

  it('counts the messages that the call before had too', () => {
    expect(newFrom([said('a'), said('b'), said('c')], [said('a'), said('b')])).toBe(2);
    expect(newFrom([said('a'), said('x'), said('c')], [said('a'), said('b')])).toBe(1);
    expect(newFrom([said('a')], undefined)).toBe(0);
  });

  it('never hides the last', () => {
    expect(newFrom([said('a'), said('b')], [said('a'), said('b')])).toBe(1);
    expect(newFrom([], [said('a')])).toBe(0);
  });
});
