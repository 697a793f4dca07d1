import * as v from 'valibot';
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { describe, expect, it } from 'vitest';
import { memorySecrets } from '../../../../adapters/secrets/memory.ts';
import { memorySink } from '../../../../adapters/sinks/memory.ts';
import { defineTool, localPrincipal, type UIMessageChunk } from '../../../../src/index.ts';
import { callsTools, says, stallingStream } from '../../../fixtures/model.ts';
import { eventProblems } from '../../../../src/simulation/invariants.ts';
import { lastData, readAll, runRequest, textOf, userMessage } from '../../../fixtures/runtime.ts';
import { apiError, fallbackRuntime, namedModel, type Script } from './fallback-runtime.ts';

const me = localPrincipal();
const fails = (statusCode: number): Script => () => Promise.reject(apiError(statusCode));
const opened: LanguageModelV4StreamPart = { type: 'stream-start', warnings: [] };
const text = says('Half an answer').slice(0, 3);
const finishOf = (unified: 'error' | 'interrupted' | 'content-filter'): LanguageModelV4StreamPart => {
  return { ...says().at(-1), finishReason: { unified, raw: undefined } } as LanguageModelV4StreamPart; // the finish
};
const typesOf = (chunks: readonly UIMessageChunk[]): readonly string[] => chunks.map(({ type }) => type);
const add = defineTool({
  id: 'add',
  description: 'Adds',
  input: v.object({ a: v.number() }),
  annotations: { readOnlyHint: true },
  execute: ({ a }) => a + 1,
});

/** Runs once with a first model that follows the script, and a fallback that answers. */
async function runWith(script: Script, limits: Readonly<Record<string, number>> = {}) {
  const first = namedModel('first', script);
  const second = namedModel('second', says('I take over'));
  const { sink, events } = memorySink();
  const runtime = fallbackRuntime({ one: first, two: second }, {
    sinks: [sink],
    limits: { modelRetries: 1, ...limits },
  });
  const chunks = await readAll(await runtime.run(runRequest(), me));
  return { chunks, events, runtime, calls: { first: first.calls.length, second: second.calls.length } };
}

describe('a fallback takes over', () => {
  it.each<[string, Script]>([
    ['sends no headers', () => new Promise<never>(() => undefined)],
    ['sends headers and nothing else', () => stallingStream([opened])],
  ])('when the first model %s within the time of the first chunk', async (_, script) => {
    const { chunks, events, calls } = await runWith(script, { firstChunkMs: 20 });
    expect([textOf(chunks), calls]).toEqual(['I take over', { first: 1, second: 1 }]);
    expect(eventProblems(events)).toEqual([]);
    expect(events.filter(({ action, status }) => action === 'model.call' && status !== 'pending')).toMatchObject([
      { target: { id: 'first' }, status: 'error', error: { details: { reason: 'first_chunk_timeout' } } },
      { target: { id: 'second' }, status: 'ok' },
    ]);
  });

  it('and stays for the rest of the run, without what only the first provider can read', async () => {
    const metadata = { test: { signature: 'of-one' } };
    const first = namedModel('first', [
      opened,
      { type: 'reasoning-start', id: 'r' },
      { type: 'reasoning-delta', id: 'r', delta: 'Thinking' },
      { type: 'reasoning-end', id: 'r', providerMetadata: metadata },
      { type: 'custom', kind: 'test.note', providerMetadata: metadata },
      { type: 'tool-call', toolCallId: 'p', toolName: 'web', input: '{}', providerExecuted: true },
      { type: 'tool-result', toolCallId: 'p', toolName: 'web', result: 'found' },
      { type: 'tool-call', toolCallId: 'c', toolName: 'add', input: '{"a":1}', providerMetadata: metadata },
      says().at(-1)!,
    ], fails(401));
    const second = namedModel('second', callsTools({ tool: 'add', input: { a: 2 } }), says('Done'));
    const runtime = fallbackRuntime({ one: first, two: second }, { tools: [add] });
    const chunks = await readAll(await runtime.run(runRequest(), me));
    expect(lastData(chunks, 'data-run')).toMatchObject({ state: 'completed' });
    expect([first.calls.length, second.calls.length]).toEqual([2, 2]);
    expect(typesOf(chunks).filter((type) => type === 'data-model')).toHaveLength(1);
    const [, assistant, tool] = second.calls[0]!.prompt;
    expect(assistant).toEqual({
      role: 'assistant',
      content: [{ type: 'tool-call', toolCallId: 'c', toolName: 'add', input: { a: 1 } }],
    });
    expect(tool).toMatchObject({ role: 'tool', content: [{ toolCallId: 'c', output: { value: 2 } }] });
    expect(JSON.stringify(second.calls.map(({ prompt }) => prompt))).not.toContain('of-one');
    expect(second.calls[1]!.prompt.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant', 'tool']);
  });

  it('and each provider receives the ids of the other in a form that it takes', async () => {
    const calling = (a: number, id: string): Script => callsTools({ tool: 'add', input: { a }, id });
    const first = namedModel('first', calling(1, 'functions.add:0'), fails(401), says('Done'));
    const second = namedModel('second', calling(2, 'add/é 1'), says('Done'));
    const runtime = fallbackRuntime({ one: first, two: second }, { tools: [add] });
    for (const said of ['Add', 'And?']) {
      const chat = { id: 'c', store: true, messages: [userMessage(said, said)] };
      expect(lastData(await readAll(await runtime.run(runRequest({ chat }), me)), 'data-run').state).toBe('completed');
    }
    const idsIn = ({ calls }: typeof first) =>
      calls.at(-1)!.prompt.flatMap(({ role, content }) =>
        role === 'assistant' || role === 'tool'
          ? content.flatMap((part) => 'toolCallId' in part ? [part.toolCallId] : [])
          : []
      );
    expect(idsIn(second)).toEqual(['functions_add_0', 'functions_add_0', 'add/é 1', 'add/é 1']);
    expect(idsIn(first)).toEqual(['functions.add:0', 'functions.add:0', 'add___1', 'add___1']);
  });

  it('with its own secret, which is redacted as that of the first', async () => {
    const revealed = 'sk-second-0123456789';
    const first = namedModel('first', fails(401));
    const second = namedModel('second', says(`My key is ${revealed}`));
    const runtime = fallbackRuntime({ one: first, two: second }, {
      providers: { two: { secret: { id: 'second-key' } } },
      secrets: memorySecrets({ 'second-key': { value: revealed, origins: ['code'] } }),
    });
    const chunks = await readAll(await runtime.run(runRequest(), me));
    expect(textOf(chunks)).toContain('My key is');
    expect(JSON.stringify(chunks)).not.toContain(revealed);
  });
});

describe('no fallback takes over', () => {
  it.each<[string, Script, Readonly<Record<string, unknown>>]>([
    ['refuses the request', fails(400), { code: 'invalid_argument' }],
    ['does not know the model', fails(404), { code: 'invalid_argument' }],
    ['is cut after its first output', [opened, ...text], { details: { reason: 'provider_stream_cut' } }],
    [
      'reports an error after its first output',
      [opened, ...text, { type: 'error', error: { status: 503 } }],
      { details: { reason: 'provider_unavailable' } },
    ],
    ['stalls in its answer', () => stallingStream([opened, ...text]), { details: { reason: 'chunk_timeout' } }],
  ])('when the first model %s', async (_, script, error) => {
    const { chunks, calls } = await runWith(script, { chunkMs: 20 });
    expect(calls.second).toBe(0);
    expect(lastData(chunks, 'data-run')).toMatchObject({ state: 'failed', error });
  });

  it('when the answer was filtered: that is an answer', async () => {
    const { chunks, calls } = await runWith([opened, finishOf('content-filter')]);
    expect([calls.second, lastData(chunks, 'data-run')['state']]).toEqual([0, 'stopped']);
  });

  it('when the step is over its time', async () => {
    const { chunks, calls } = await runWith(() => stallingStream([opened]), { stepMs: 20 });
    expect(calls.second).toBe(0);
    expect(lastData(chunks, 'data-run')).toMatchObject({ error: { details: { reason: 'step_timeout' } } });
  });

  it('when all have failed: the last error says what was tried', async () => {
    const models = {
      one: namedModel('first', fails(401)),
      two: namedModel('second', fails(429)),
      three: namedModel('third', says('never resolved')),
    };
    const runtime = fallbackRuntime(models, {
      limits: { modelRetries: 0 },
      providers: { three: { state: 'disabled' } },
    });
    const chunks = await readAll(await runtime.run(runRequest(), me));
    expect(lastData(chunks, 'data-run')).toMatchObject({
      state: 'failed',
      error: {
        code: 'rate_limited',
        details: {
          reason: 'provider_rate_limited',
          tried: [
            { providerId: 'one', modelId: 'first', code: 'unavailable', reason: 'provider_auth' },
            { providerId: 'two', modelId: 'second', code: 'rate_limited', reason: 'provider_rate_limited' },
            { providerId: 'three', code: 'forbidden', reason: 'provider_disabled' },
          ],
        },
      },
    });
    expect(JSON.stringify(chunks)).not.toContain('secret text');
  });
});
