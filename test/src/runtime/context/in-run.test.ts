import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { type ContextStrategy, defineTool, localPrincipal, type UIMessageChunk } from '../../../../src/index.ts';
import { callsTools, says } from '../../../fixtures/model.ts';
import { lastData, readAll, runRequest, testRuntime, textOf } from '../../../fixtures/runtime.ts';
import { longChat, modelOf, promptText, smallWindow, summarizingModel } from './long-chat.ts';

const me = localPrincipal();

const lookup = defineTool({
  id: 'lookup',
  description: 'Looks up',
  input: v.object({ n: v.number() }),
  annotations: { readOnlyHint: true },
  execute: ({ n }) => `result ${n} ${'r'.repeat(1_000)}`,
});

/** A model that makes `count` calls, one a step, and then answers. */
function callingModel(count: number) {
  return modelOf((_, call) =>
    call <= count ? callsTools({ tool: 'lookup', input: { n: call }, id: `c${call}` }) : says('done')
  );
}

describe('a run whose own steps fill the context window', () => {
  it('shows readers and the log every output', async () => {
    const { model } = callingModel(12);
    const runtime = testRuntime({ model, tools: [lookup], agent: smallWindow });
    const chunks = await readAll(await runtime.run(runRequest(), me));
    const outputs = chunks.filter(({ type }) => type === 'tool-output-available');
    expect(JSON.stringify(outputs).match(/result \d+ r{1000}/g)).toHaveLength(12);
  });

  it('counts as its model does: a model with longer tokens is trimmed later, one with shorter ones sooner', async () => {
    const prompts = [0.6, 3].map(async (scale) => {
      const { model, calls } = modelOf(({ prompt }, call) => {
        const inputTokens = Math.ceil(JSON.stringify(prompt).length / 4 * scale);
        const script = call <= 4 ? callsTools({ tool: 'lookup', input: { n: call }, id: `c${call}` }) : says('done');
        return script.map((part) =>
          part.type === 'finish'
            ? { ...part, usage: { ...part.usage, inputTokens: { ...part.usage.inputTokens, total: inputTokens } } }
            : part
        );
      });
      await readAll(await testRuntime({ model, tools: [lookup], agent: smallWindow }).run(runRequest(), me));
      return promptText(calls.at(-1)).match(/left out/g)?.length ?? 0;
    });
    const [longTokens = 0, shortTokens = 0] = await Promise.all(prompts);
    expect(longTokens).toBe(0);
    expect(shortTokens).toBeGreaterThan(1);
  });
});

describe('contextStrategy', () => {
  async function run(contextStrategy: ContextStrategy, turns = 3): Promise<readonly [UIMessageChunk[], string]> {
    const { model, answers } = summarizingModel();
    const runtime = testRuntime({ model, contextStrategy, agent: { ...smallWindow, instructions: 'Be brief.' } });
    const request = runRequest({ chat: { id: 'chat-1', messages: longChat(turns) } });
    return [await readAll(await runtime.run(request, me)), promptText(answers()[0])];
  }

  it('decides which messages the model is sent, before each call', async () => {
    const [chunks, prompt] = await run(({ messages }) => messages.slice(-1).map(({ message }) => message));
    expect(textOf(chunks)).toBe('Hello');
    expect(JSON.parse(prompt)).toMatchObject([{ role: 'system' }, {
      role: 'user',
      content: [{ text: 'the last question' }],
    }]);
  });

  it('knows the messages of the chat, their tokens and what is pinned', async () => {
    const states: Parameters<ContextStrategy>[0][] = [];
    await run((state) => void states.push(state));
    const [state] = states;
    expect(state).toMatchObject({ agentId: 'helper', contextTokens: 2_000, runId: expect.stringMatching(/^run_/) });
    expect(state?.messages.map(({ id }) => id)).toEqual(['u0', 'a0', 'u1', 'a1', 'u2', 'a2', 'last']);
    expect(state?.messages.every(({ tokens, isPinned }) => tokens > 0 && !isPinned)).toBe(true);
    expect(state?.tokens).toBeGreaterThan(300);
  });

  it('that returns nothing leaves the messages to the rules', async () => {
    const [chunks] = await run(() => undefined, 20);
    expect(lastData(chunks, 'data-compaction')).toMatchObject({ summary: 'They talked about letters.' });
  });

  it.each<[string, ContextStrategy]>([
    ['throws', () => {
      throw new Error('secret text');
    }],
    ['rejects', () => Promise.reject(new Error('secret text'))],
    [
      'adds a system message',
      ({ messages }) => [{ role: 'system', content: 'x' }, ...messages.map((one) => one.message)],
    ],
    ['leaves out a result', () => [{
      role: 'assistant',
      content: [{ type: 'tool-call', toolCallId: 'c', toolName: 't', input: {} }],
    }]],
    ['leaves out a call', () => [{
      role: 'tool',
      content: [{ type: 'tool-result', toolCallId: 'c', toolName: 't', output: { type: 'text', value: '' } }],
    }]],
  ])('ends the run as internal when it %s', async (_how, strategy) => {
    const [chunks] = await run(strategy);
    const error = { code: 'internal', details: { reason: 'context_strategy' } };
    expect(lastData(chunks, 'data-run')).toMatchObject({ state: 'failed', error });
    expect(JSON.stringify(chunks)).not.toContain('secret text');
  });
});
