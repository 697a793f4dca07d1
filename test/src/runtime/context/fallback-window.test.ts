import { describe, expect, it } from 'vitest';
import { memorySink } from '../../../../adapters/sinks/memory.ts';
import { localPrincipal, type ProviderInput } from '../../../../src/index.ts';
import { says } from '../../../fixtures/model.ts';
import { lastData, readAll, runRequest, textOf, userMessage } from '../../../fixtures/runtime.ts';
import { apiError, fallbackRuntime, namedModel, type Script } from '../loop/fallback-runtime.ts';
import { isSummary, longChat, promptText, smallWindow } from './long-chat.ts';

const me = localPrincipal();
const fails: Script = () => Promise.reject(apiError(401));
const long = runRequest({ chat: { id: 'chat-1', messages: longChat(20) } });
const tooLong = runRequest({ chat: { id: 'chat-1', messages: [userMessage('w'.repeat(20_000), 'm0')] } });

/** Runs the request with a first model that fails, and fallbacks with these records. */
async function runWith(request: typeof long, providers: Readonly<Record<string, Partial<ProviderInput>>>) {
  const models = {
    one: namedModel('first', fails),
    two: namedModel('second', says('two answers')),
    three: namedModel('third', says('three answers')),
  };
  const { sink, events } = memorySink();
  const runtime = fallbackRuntime(models, { providers, sinks: [sink], limits: { modelRetries: 0 } });
  return { models, events, chunks: await readAll(await runtime.run(request, me)) };
}

describe('a fallback with a smaller context window than the model before it', () => {
  it('is skipped when not even the trimmed prompt fits, and the next one answers with the whole prompt', async () => {
    const { models, events, chunks } = await runWith(tooLong, { two: smallWindow });
    expect(textOf(chunks)).toBe('three answers');
    expect(models.two.calls).toEqual([]);
    expect(models.three.calls[0]?.prompt).toEqual(models.one.calls[0]?.prompt);
    expect(events.filter(({ action }) => action === 'context.trim')).toEqual([]);
  });
});

describe('the context window of a fallback', () => {
  it('is the smaller one of what the agent and the provider of the fallback say', async () => {
    const windows: readonly (readonly [number | undefined, number | undefined, boolean])[] = [
      [undefined, undefined, false],
      [2_000, undefined, true],
      [100_000, 2_000, true],
      [2_000, 100_000, true],
      [undefined, 100_000, false],
    ];
    for (const [ofAgent, ofProvider, isTrimmed] of windows) {
      const models = { one: namedModel('first', fails), two: namedModel('second', says('Hello')) };
      const agent = ofAgent === undefined ? {} : { contextTokens: ofAgent };
      const providers = ofProvider === undefined ? {} : { two: { contextTokens: ofProvider } };
      await readAll(await fallbackRuntime(models, { agent, providers }).run(long, me));
      expect([ofAgent, ofProvider, !promptText(models.two.calls[0]).includes('question 0 ')]).toEqual([
        ofAgent,
        ofProvider,
        isTrimmed,
      ]);
    }
  });
});

describe('a summary that the model cannot make', () => {
  it('is made by the fallbacks of the agent', async () => {
    const models = {
      one: namedModel('first', fails),
      two: namedModel('second', says('They talked about letters.'), says('Hello')),
    };
    const { sink, events } = memorySink();
    const agent = smallWindow;
    const chunks = await readAll(await fallbackRuntime(models, { agent, sinks: [sink] }).run(long, me));
    expect(lastData(chunks, 'data-compaction')).toMatchObject({ summary: 'They talked about letters.' });
    expect(textOf(chunks)).toBe('Hello');
    expect(models.two.calls.map(isSummary)).toEqual([true, false]);
    expect(events.filter(({ action }) => action === 'model.fallback')).toHaveLength(2); // of the summary, and of the answer
  });

  it('has the newest messages that fit a fallback with a smaller window', async () => {
    const models = {
      one: namedModel('first', fails),
      two: namedModel('second', says('They talked about letters.'), says('Hello')),
    };
    const longer = runRequest({ chat: { id: 'chat-1', messages: longChat(60) } });
    const runtime = fallbackRuntime(models, {
      agent: { contextTokens: 8_000 },
      providers: { two: { contextTokens: 2_000 } },
    });
    await readAll(await runtime.run(longer, me));
    const sent = promptText(models.two.calls.find(isSummary));
    expect(sent.length / 4).toBeLessThan(2_000);
    expect(sent).not.toContain('question 0 ');
  });
});
