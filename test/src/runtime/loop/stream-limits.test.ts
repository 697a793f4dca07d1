import { APICallError, type LanguageModelV4StreamPart as Part } from '@ai-sdk/provider';
import { readUIMessageStream } from 'ai';
import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { memorySecrets } from '../../../../adapters/secrets/memory.ts';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import {
  defineTool,
  type LanguageModel,
  localPrincipal,
  type UIMessage,
  type UIMessageChunk,
} from '../../../../src/index.ts';
import { budget } from '../../../fixtures/budget.ts';
import { callsTools, says, scriptedModel, stallingStream } from '../../../fixtures/model.ts';
import {
  lastData,
  readAll,
  recordedChunks,
  runRequest,
  terminalChunks,
  testRuntime,
  textOf,
  userMessage,
} from '../../../fixtures/runtime.ts';

const me = localPrincipal();
const save = defineTool({
  id: 'save',
  description: 'Saves a text',
  input: v.object({ text: v.string() }),
  execute: ({ text }) => text.length,
});

/** Two texts and two thoughts that take turns, one letter at a time. */
function interleaved(count: number): Part[] {
  const kinds = ['text', 'reasoning'] as const;
  const of = (kind: typeof kinds[number], id: string, type: 'start' | 'end'): Part => ({ type: `${kind}-${type}`, id });
  const blocks = kinds.flatMap((kind) => ['a', 'b'].map((id) => [kind, `${kind}-${id}`] as const));
  const deltas = Array.from({ length: count }, (_, at): Part => {
    const [kind, id] = blocks[Math.floor(at / 7) % blocks.length] ?? ['text', 'text-a'];
    return { type: `${kind}-delta`, id, delta: String(at % 10) };
  });
  const [start, ...end] = says();
  return [
    ...start ? [start] : [],
    ...blocks.map(([kind, id]) => of(kind, id, 'start')),
    ...deltas,
    ...blocks.map(([kind, id]) => of(kind, id, 'end')),
    ...end.slice(-1),
  ];
}

const deltasOf = (chunks: readonly UIMessageChunk[], id: string): string =>
  chunks.map((chunk) => 'delta' in chunk && 'id' in chunk && chunk.id === id ? chunk.delta : '').join('');

describe('what a run may say', () => {
  it('does not depend on how finely its model cuts it', async () => {
    const letters = Array.from({ length: 30_000 }, (_, at) => String.fromCodePoint(97 + at % 26));
    const storage = memoryStorage();
    const runtime = testRuntime({ ...scriptedModel(says(...letters)), storage });
    const chunks = await readAll(await runtime.run(runRequest(), me));
    expect(textOf(chunks)).toBe(letters.join(''));
    expect(lastData(chunks, 'data-run')).toMatchObject({ state: 'completed' });
    expect(chunks.length).toBeLessThan(20_000); // deltas that are committed together are one
  });

  it('keeps every block and its order when deltas are merged', async () => {
    const parts = interleaved(12_000);
    const runtime = testRuntime({ ...scriptedModel(parts), storage: memoryStorage() });
    const chunks = await readAll(await runtime.run(runRequest(), me));
    for (const id of ['text-a', 'text-b', 'reasoning-a', 'reasoning-b']) {
      const said = parts.map((part) => 'delta' in part && 'id' in part && part.id === id ? part.delta : '').join('');
      expect(deltasOf(chunks, id)).toBe(said);
    }
    const runId = String(lastData(chunks, 'data-run')['runId']);
    expect(await recordedChunks(runtime, runId)).toEqual(chunks);
  });

  it('includes a whole file as the input of a call', async () => {
    const model = scriptedModel(callsTools({ tool: 'save', input: { text: 'ä'.repeat(500_000) } }), says('Saved'));
    const chunks = await readAll(await testRuntime({ ...model, tools: [save] }).run(runRequest(), me));
    expect(chunks).toContainEqual(expect.objectContaining({ type: 'tool-output-available', output: 500_000 }));
    expect(textOf(chunks)).toBe('Saved');
  });

  it('fails a call alone whose input is longer than any may be', async () => {
    const model = scriptedModel(
      callsTools({ tool: 'save', input: { text: 'x'.repeat(1_000_001) } }),
      says('In parts, then'),
    );
    const chunks = await readAll(await testRuntime({ ...model, tools: [save] }).run(runRequest(), me));
    expect(chunks).toContainEqual(
      expect.objectContaining({
        type: 'tool-input-error',
        errorText: expect.stringContaining('send it in several calls'),
      }),
    );
    expect(lastData(chunks, 'data-run')).toMatchObject({ state: 'completed' });
  });
});

const half = /(?<!\\)(?:\\\\)*\\ud[89a-f]/; // as `JSON.stringify` writes one
const text = fc.array(fc.constantFrom('Row ', '🚣', '👩‍🚀', '\ud83d', '\ude00', 'key-', 'é'), {
  minLength: 1,
  maxLength: 8,
}).map((parts) => parts.join(''));
const cuts = fc.array(fc.nat({ max: 20 }), { maxLength: 6 });

function pieces(whole: string, at: readonly number[]): string[] {
  const ends = [...at.filter((cut) => cut < whole.length).toSorted((a, b) => a - b), whole.length];
  return ends.map((end, i) => whole.slice(ends[i - 1] ?? 0, end));
}

/** Repeats what it gets, and adds half of an emoji. */
const echo = defineTool({
  id: 'echo',
  description: 'Repeats a text',
  input: v.object({ text: v.string() }),
  annotations: { readOnlyHint: true },
  execute: (input) => ({ ...input, more: `${input.text}\ud83d`, '\ude00': 1 }),
});
describe('texts in a run', () => {
  it('hold no half of a surrogate pair, wherever the provider cuts them, and the chat goes on', async () => {
    await fc.assert(
      fc.asyncProperty(text, text, cuts, async (said, thought, at) => {
        const input = JSON.stringify({ text: said });
        const [start, call, finish] = callsTools({ tool: 'echo', input });
        const deltas = (type: 'text' | 'reasoning', whole: string): Part[] => [
          { type: `${type}-start`, id: '0' },
          ...pieces(whole, at).map((delta): Part => ({ type: `${type}-delta`, id: '0', delta })),
          { type: `${type}-end`, id: '0' },
        ];
        const first = [
          start,
          ...deltas('reasoning', thought),
          ...deltas('text', said),
          { type: 'tool-input-start', id: 'call-0', toolName: 'echo' },
          ...pieces(input, at).map((delta): Part => ({ type: 'tool-input-delta', id: 'call-0', delta })),
          { type: 'tool-input-end', id: 'call-0' },
          call,
          finish,
        ] as Part[];
        const { model, calls } = scriptedModel(first, says('Done'));
        const agent = { secrets: [{ id: 'key' }] };
        const runtime = testRuntime({
          model,
          tools: [echo],
          agent,
          secrets: memorySecrets({ key: 'key-🚣-value' }),
        });
        const [read, kept] = (await runtime.run(runRequest(), me)).tee();
        const chunks = await readAll(kept);
        expect(lastData(chunks, 'data-run')).toMatchObject({ state: 'completed' });
        for (const chunk of chunks) expect(JSON.stringify(chunk)).not.toMatch(half);
        const shown = (type: string) =>
          chunks.map((chunk) => chunk.type === type && 'delta' in chunk ? chunk.delta : '').join('');
        expect(shown('text-delta')).toBe(`${said.toWellFormed()}Done`);
        expect(shown('reasoning-delta')).toBe(thought.toWellFormed());
        let answer: UIMessage | undefined;
        for await (const message of readUIMessageStream({ stream: read })) answer = message;
        const messages = [userMessage('Hi'), answer!, userMessage('And \ud83d?', 'm2')];
        const next = await readAll(await runtime.run(runRequest({ chat: { id: 'c', messages } }), me));
        expect(lastData(next, 'data-run')).toMatchObject({ state: 'completed' });
        for (const { prompt } of calls) expect(JSON.stringify(prompt)).not.toMatch(half);
      }),
      { numRuns: budget({ short: 60, long: 800 }) },
    );
  });

  it('of a chat that an earlier version has stored are repaired for the model', async () => {
    const { model, calls } = scriptedModel(says('Done'));
    const parts = [
      { type: 'text', text: 'An answer \ud83d' },
      {
        type: 'tool-echo',
        toolCallId: 'a',
        state: 'output-available',
        input: { text: '\ude00' },
        output: { text: 'x\ud83d' },
      },
    ];
    const messages = [
      userMessage('Hi'),
      { id: 'm2', role: 'assistant', parts } as UIMessage,
      userMessage('More', 'm3'),
    ];
    await readAll(await testRuntime({ model, tools: [echo] }).run(runRequest({ chat: { id: 'c', messages } }), me));
    expect(JSON.stringify(calls[0]?.prompt)).toContain('An answer \ufffd');
    expect(JSON.stringify(calls[0]?.prompt)).not.toMatch(half);
  });
});

const look = defineTool({ id: 'look', description: 'Looks', input: v.looseObject({}), execute: () => 'nothing' });

/** What a provider sends that counts no tokens. */
const unknown = {
  inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
};

function withUnknownUsage(script: readonly Part[]): Part[] {
  return script.map((part) => part.type === 'finish' ? { ...part, usage: unknown } : part);
}

describe('a model whose provider counts no tokens', () => {
  it('still uses up the budget of its run: the tokens are estimated, and said to be', async () => {
    const script = withUnknownUsage(callsTools({ tool: 'look', input: {} }));
    const model = scriptedModel(script);
    const runtime = testRuntime({ ...model, tools: [look], limits: { steps: 100 } });
    const chunks = await readAll(await runtime.run(runRequest({ budget: { tokens: 500 } }), localPrincipal()));
    expect(lastData(chunks, 'data-run')).toMatchObject({ state: 'stopped', error: { code: 'budget_exceeded' } });
    expect(terminalChunks(chunks)).toHaveLength(1);
    expect(model.calls.length).toBeLessThan(20);
    const usage = lastData(chunks, 'data-usage');
    expect(usage).toMatchObject({ estimated: true });
    expect(Number(usage['totalTokens'])).toBeGreaterThan(0);
  });
});

type Stop = () => void;

const overloaded = new APICallError({ message: 'Overloaded', url: '', requestBodyValues: {}, statusCode: 503 });

function answering(doStream: LanguageModel['doStream']) {
  const signals: (AbortSignal | undefined)[] = [];
  const model: LanguageModel = {
    ...scriptedModel().model,
    doStream: (options) => (signals.push(options.abortSignal), doStream(options)),
  };
  return { model, signals };
}

/** By when the run is canceled: what the model and its tool do. They call `stop` at that time. */
const moments: Readonly<Record<string, (stop: Stop) => { answer: LanguageModel['doStream']; work: () => unknown }>> = {
  'before the model has answered': (stop) => ({
    answer: () => (stop(), new Promise(() => undefined)),
    work: () => undefined,
  }),
  'in the middle of a text': (stop) => ({
    answer: () => {
      const stream = stallingStream(says('Half of', ' it').slice(0, 4));
      const stopping = new TransformStream({
        transform(part, controller) {
          controller.enqueue(part);
          if (part.type === 'text-delta') queueMicrotask(stop);
        },
      });
      return Promise.resolve({ stream: stream.pipeThrough(stopping) });
    },
    work: () => undefined,
  }),
  'in the pause before a retry': (stop) => ({
    answer: () => {
      setTimeout(stop); // the failure is known by then
      return Promise.reject(overloaded);
    },
    work: () => undefined,
  }),
  'in a tool': (stop) => ({
    answer: (options) => scriptedModel(callsTools({ tool: 'work', input: {} })).model.doStream(options),
    work: () => (stop(), new Promise(() => undefined)),
  }),
};

describe('a run that is canceled', () => {
  it.each(Object.keys(moments))(
    '%s ends at once as canceled, calls no model again, and stops the call',
    async (moment) => {
      const abort = new AbortController();
      const { answer, work } = moments[moment]!(() => abort.abort('user'));
      const { model, signals } = answering(answer);
      const tool = defineTool({
        id: 'work',
        description: 'Works',
        input: v.looseObject({}),
        execute: () => work() as never,
      });
      const runtime = testRuntime({ model, tools: [tool] });
      const stream = await runtime.run(runRequest(), localPrincipal(), { signal: abort.signal });
      const chunks = await readAll(stream);
      expect(terminalChunks(chunks)).toEqual([{ type: 'abort', reason: 'user' }]);
      expect(lastData(chunks, 'data-run')).toMatchObject({ state: 'cancelled' });
      expect(signals.map((signal) => signal?.aborted)).toEqual([true]);
      expect(chunks.map(({ type }) => type)).not.toContain('error');
    },
  );
});
