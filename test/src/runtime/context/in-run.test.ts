import { describe, expect, it } from 'vitest';
import { type ContextStrategy, localPrincipal, type UIMessageChunk } from '../../../../src/index.ts';
import { lastData, readAll, runRequest, testRuntime, textOf } from '../../../fixtures/runtime.ts';
import { longChat, promptText, smallWindow, summarizingModel } from './long-chat.ts';

const me = localPrincipal();

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
