import type { LanguageModelV4Message, LanguageModelV4StreamPart as Part } from '@ai-sdk/provider';
import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { defineTool, localPrincipal, type UIMessage } from '../../../../src/index.ts';
import { CallIds } from '../../../../src/runtime/call-ids.ts';
import { budget } from '../../../fixtures/budget.ts';
import { callsTools, says, scriptedModel } from '../../../fixtures/model.ts';
import { lastData, readAll, runRequest, testRuntime, userMessage } from '../../../fixtures/runtime.ts';

const me = localPrincipal();
const square = defineTool({
  id: 'square',
  description: 'Squares a number',
  input: v.object({ n: v.number() }),
  annotations: { readOnlyHint: true },
  execute: ({ n }) => n * n,
});
const asked = defineTool({
  id: 'asked',
  description: 'Squares a number that a person has approved',
  input: v.object({ n: v.number() }),
  approval: 'always',
  execute: ({ n }) => n * n,
});

/** The calls of messages with their results, in the order of the calls. */
function callsIn(prompt: readonly LanguageModelV4Message[]) {
  const calls: { id: string; n: unknown; output?: unknown }[] = [];
  let step: typeof calls = [];
  for (const { role, content } of prompt) {
    if (role === 'assistant') step = [];
    for (const part of typeof content === 'string' ? [] : content) {
      if (part.type === 'tool-call') step.push({ id: part.toolCallId, n: (part.input as { n?: unknown }).n });
      if (part.type !== 'tool-result' || !('value' in part.output)) continue;
      const call = step.find(({ id, output }) => id === part.toolCallId && output === undefined);
      if (!call) throw new Error('A result without a call in its step');
      call.output = part.output.value;
    }
    if (role === 'assistant') calls.push(...step);
  }
  return calls;
}

const idGiven = fc.constantFrom(
  '',
  '0',
  'call_0',
  'call_1',
  'functions.square:0',
  'call_0~2',
  'call_0/1',
  'é',
  'x'.repeat(3_000),
);
let next = 0;
const callGiven = fc.record({ id: idGiven, isStreamed: fc.boolean() });
const steps = fc.array(fc.array(callGiven, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 });

/** The parts of a step, each call with a number of its own. */
function script(calls: readonly { id: string; isStreamed: boolean }[]): Part[] {
  const all = calls.map(({ id, isStreamed }) => ({ id, isStreamed, input: JSON.stringify({ n: ++next }) }));
  const [opening, ...rest] = callsTools();
  return [
    opening as Part,
    ...all.filter(({ isStreamed }) => isStreamed).flatMap(({ id, input }): Part[] => [
      { type: 'tool-input-start', id, toolName: 'square' },
      { type: 'tool-input-delta', id, delta: input },
      { type: 'tool-input-end', id },
    ]),
    ...all.toSorted((a, b) => Number(b.isStreamed) - Number(a.isStreamed)).map(({ id, input }): Part => {
      return { type: 'tool-call', toolCallId: id, toolName: 'square', input };
    }),
    ...rest,
  ];
}

describe('the ids of calls', () => {
  it('are unique in a stored chat, and each call keeps its input and output, whatever ids the provider repeats', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(steps, { minLength: 1, maxLength: 3 }), async (runs) => {
        const scripts = runs.flatMap((run) => [...run.map(script), says('Done')]);
        const { model, calls } = scriptedModel(...scripts, says('Done'));
        const runtime = testRuntime({ model, tools: [square], storage: memoryStorage() });
        for (const [at] of [...runs, 'last'].entries()) {
          const chat = { id: 'c', store: true, messages: [userMessage('Go on', `u${at}`)] };
          const chunks = await readAll(await runtime.run(runRequest({ chat }), me));
          expect(lastData(chunks, 'data-run')).toMatchObject({ state: 'completed' });
        }
        const { messages } = await runtime.chats.get('c', me);
        const parts = messages.flatMap((message: UIMessage) => message.parts.filter((part) => 'toolCallId' in part));
        const given = runs.flat(2);
        expect(parts).toHaveLength(given.length);
        expect(new Set(parts.map((part) => part.toolCallId)).size).toBe(given.length);
        for (const part of parts) expect(part).toMatchObject({ state: 'output-available' });
        const sent = callsIn(calls.at(-1)?.prompt ?? []);
        expect(sent).toHaveLength(given.length);
        for (const { n, output } of sent) expect(output).toBe(Number(n) ** 2);
      }),
      { numRuns: budget({ short: 60, long: 600 }) },
    );
  });

  it.each(['call_0', 'functions.square:0', '7', 'call~3'])(
    'go back to the provider as it gave them, in the run and in the next one: %s',
    async (id) => {
      const calling = (n: number) => callsTools({ tool: 'square', input: { n }, id });
      const { model, calls } = scriptedModel(calling(2), calling(3), says('Done'));
      const runtime = testRuntime({ model, tools: [square] });
      for (const text of ['Square 2 and 3', 'And?']) {
        const chat = { id: 'c', store: true, messages: [userMessage(text, text)] };
        await readAll(await runtime.run(runRequest({ chat }), me));
      }
      for (const { prompt } of calls.slice(2)) {
        expect(callsIn(prompt)).toEqual([{ id, n: 2, output: 4 }, { id, n: 3, output: 9 }]);
      }
      expect(calls[3]?.prompt.slice(0, 5)).toEqual(calls[2]?.prompt.slice(0, 5)); // prompts only grow
    },
  );

  it('of a step are two calls where they repeat with other inputs, and one where everything repeats', async () => {
    const call = (n: number) => ({ tool: 'square', input: { n }, id: 'same' });
    const { model, calls } = scriptedModel(callsTools(call(2), call(3), call(2)), says('Done'));
    const chunks = await readAll(await testRuntime({ model, tools: [square] }).run(runRequest(), me));
    const errors = chunks.filter((chunk) => chunk.type === 'tool-input-error');
    expect(errors).toEqual([expect.objectContaining({ toolCallId: 'same~3' })]);
    expect(lastData(chunks, 'data-tool-error')).toMatchObject({ details: { reason: 'duplicate_call' } });
    expect(callsIn(calls[1]?.prompt ?? []).map(({ output }) => output)).toEqual([
      4,
      9,
      expect.stringContaining('not called again'),
    ]);
  });

  it('keep an approval apart from earlier calls with the id', async () => {
    const { model, calls } = scriptedModel(
      callsTools({ tool: 'square', input: { n: 5 }, id: '0' }),
      callsTools({ tool: 'asked', input: { n: 6 }, id: '0' }),
      says('Done'),
    );
    const runtime = testRuntime({ model, tools: [square, asked] });
    const chat = (messages: UIMessage[]) => runRequest({ chat: { id: 'c', store: true, messages } });
    const first = await readAll(await runtime.run(chat([userMessage('Go')]), me));
    const request = first.find((chunk) => chunk.type === 'tool-approval-request');
    await runtime.decide(
      String(lastData(first, 'data-run')['runId']),
      request?.approvalId ?? '',
      { approved: true },
      me,
    );
    const { messages } = await runtime.chats.get('c', me);
    await readAll(await runtime.run(chat(messages.slice(-1)), me));
    expect(callsIn(calls[2]?.prompt ?? [])).toEqual([{ id: '0', n: 5, output: 25 }, { id: '0', n: 6, output: 36 }]);
  });

  it('are new ones for calls without an id, and never those of calls inside of a program', () => {
    const ids = new CallIds(() => ['call_1', 'p']);
    expect(['', '', 'p/1', 'q/1'].map((given) => ids.take(given))).toEqual(['call_2', 'call_3', 'call_4', 'q/1']);
  });
});
