import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { defineTool, localPrincipal, type Tool, type UIMessageChunk } from '../../../../src/index.ts';
import { takeToken } from '../../../../src/log/rate-limit.ts';
import { createSlots } from '../../../../src/tools/run-scope.ts';
import { callsTools, says, scriptedModel } from '../../../fixtures/model.ts';
import { lastData, readAll, runRequest, testRuntime } from '../../../fixtures/runtime.ts';

const me = localPrincipal();
const never = new AbortController().signal;

function work(limits: NonNullable<Tool['definition']['limits']>, execute: () => unknown = () => 'done'): Tool {
  return defineTool({
    id: 'work',
    description: 'Works',
    input: v.object({ text: v.optional(v.string()) }),
    limits,
    execute,
  });
}

async function run(tool: Tool, input: unknown = {}): Promise<UIMessageChunk[]> {
  const { model } = scriptedModel(callsTools({ tool: 'work', input }), says('ok'));
  return await readAll(await testRuntime({ model, tools: [tool] }).run(runRequest(), me));
}

describe("a tool's own limits", () => {
  it('refuse an input that is too long, before the tool sees it', async () => {
    const chunks = await run(work({ inputLength: 20 }), { text: 'x'.repeat(100) });
    expect(lastData(chunks, 'data-tool-error')).toMatchObject({ code: 'invalid_argument' });
  });

  it('show how far a call is at most four times a second', async () => {
    let time = 0;
    const tool = defineTool({
      id: 'work',
      description: 'Works',
      input: v.object({}),
      execute: (_, { progress }) => {
        for (let done = 1; done <= 21; done++, time += 50) progress?.({ progress: done, total: 100 });
      },
    });
    const { model } = scriptedModel(callsTools({ tool: 'work', input: {} }), says('ok'));
    const chunks = await readAll(await testRuntime({ model, tools: [tool], now: () => time }).run(runRequest(), me));
    const shown = chunks.flatMap((one) =>
      one.type === 'data-tool-progress' ? [(one.data as { progress: number }).progress] : []
    );
    expect(shown).toEqual([1, 6, 11, 16, 21]);
  });
});

describe('createSlots', () => {
  it('frees a place once, and lets a call that is stopped leave the queue', async () => {
    const slots = createSlots();
    const first = await slots.take('t', 1, never);
    const stop = new AbortController();
    const stopped = slots.take('t', 1, stop.signal);
    const third = slots.take('t', 1, never);
    stop.abort();
    await expect(stopped).rejects.toMatchObject({ code: 'cancelled' });
    first();
    first();
    (await third)();
    (await slots.take('t', 1, never))();
  });
});

describe('takeToken', () => {
  const limit = { key: ['rate', 't'], perMinute: 3 };

  it('lets as many pass as a minute allows, on all instances together, and says when there is one again', async () => {
    let time = 0;
    const storage = memoryStorage({ now: () => time });
    const now = () => time;
    const results = await Promise.allSettled(Array.from({ length: 10 }, () => takeToken(limit, { storage, now })));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    await expect(takeToken(limit, { storage, now })).rejects.toMatchObject({
      code: 'rate_limited',
      retryAfterMs: 20_000,
    });
    time += 20_000;
    await takeToken(limit, { storage, now });
    await expect(takeToken(limit, { storage, now })).rejects.toMatchObject({ code: 'rate_limited' });
  });

  it('limits an agent over all its runs, and reports it to the model', async () => {
    const storage = memoryStorage();
    const runtime = () =>
      testRuntime({
        ...scriptedModel(callsTools({ tool: 'work', input: {} }), says('ok')),
        tools: [work({})],
        storage,
        agent: { limits: { callsPerMinute: 1 } },
      });
    await readAll(await runtime().run(runRequest(), me));
    const chunks = await readAll(await runtime().run(runRequest(), me));
    expect(lastData(chunks, 'data-tool-error')).toMatchObject({ code: 'rate_limited', retryable: true });
  });
});
