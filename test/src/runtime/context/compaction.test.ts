import { describe, expect, it } from 'vitest';
import { localPrincipal, type UIMessage } from '../../../../src/index.ts';
import { lastData, readAll, runRequest, testRuntime, textOf } from '../../../fixtures/runtime.ts';
import { longChat, promptText, smallWindow, summarizingModel } from './long-chat.ts';

const me = localPrincipal();

function requestOf(messages: UIMessage[]) {
  return runRequest({ chat: { id: 'chat-1', messages } });
}

describe('a chat that fills 80 % of the context window', () => {
  it('is summarized up to a message of the user; the answer is given to the summary and the newest turns', async () => {
    const { model, answers, summaries } = summarizingModel();
    const chunks = await readAll(await testRuntime({ model, agent: smallWindow }).run(requestOf(longChat(20)), me));
    expect(textOf(chunks)).toBe('Hello');
    expect(summaries()).toHaveLength(1);
    const data = lastData(chunks, 'data-compaction');
    expect(data).toMatchObject({
      throughMessageId: expect.stringMatching(/^a\d+$/),
      summary: 'They talked about letters.',
    });
    expect(data['tokensBefore']).toBeGreaterThan(1_600);
    expect(data['tokensAfter']).toBeLessThan(800);
    const [first, second] = answers()[0]?.prompt ?? [];
    expect(first).toMatchObject({
      role: 'user',
      content: [{ text: expect.stringContaining('{"summary":"They talked') }],
    });
    const next = Number(String(data['throughMessageId']).slice(1)) + 1;
    expect(second).toMatchObject({ role: 'user', content: [{ text: expect.stringContaining(`question ${next} `) }] });
    expect(promptText(answers()[0])).toContain('the last question');
  });
});
