import type { LanguageModelV4StreamPart as Part } from '@ai-sdk/provider';
import { readUIMessageStream } from 'ai';
import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { memorySecrets } from '../../../../adapters/secrets/memory.ts';
import { defineTool, localPrincipal, type UIMessage } from '../../../../src/index.ts';
import { budget } from '../../../fixtures/budget.ts';
import { callsTools, says, scriptedModel } from '../../../fixtures/model.ts';
import { lastData, readAll, runRequest, testRuntime, userMessage } from '../../../fixtures/runtime.ts';

const me = localPrincipal();
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
