import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { rehearsal } from '../../../adapters/models/rehearsal.ts';
import { ask, type Part, partsOf, stream, user } from './rehearsal/ask.ts';
import { calculator, several, weather } from './rehearsal/tools.ts';

const hello = [user('Hello')];

describe('rehearsal', () => {
  it('says what it is when it has nothing to do', async () => {
    for (const prompt of [hello, [], [{ role: 'system' as const, content: 'Be kind' }]]) {
      expect((await ask(prompt)).text).toContain('No tool is active here');
    }
  });

  it('returns the same from doGenerate as from doStream', async () => {
    const options = { prompt: [user('Think first: what is 2+2?')], tools: [calculator] };
    const parts = await stream(options);
    const { content, finishReason, usage } = await rehearsal({ delayMs: 0 }).doGenerate(options);
    expect(content).toEqual([
      { type: 'reasoning', text: parts.map((part) => part.type === 'reasoning-delta' ? part.delta : '').join('') },
      parts.find(({ type }) => type === 'tool-call'),
    ]);
    expect(parts.at(-1)).toEqual({ type: 'finish', finishReason, usage });
  });

  it('writes hundreds of words when it is asked for a long answer, and as many as asked for', async () => {
    const { text } = await ask('Tell me a long story about a lighthouse', several);
    expect(text).toContain('filler text by a scripted demo');
    expect(text).toContain('a lighthouse');
    expect(countWords(text)).toBe(400);
    expect(countWords((await ask('Write 123 words about rain', several)).text)).toBe(123);
  });

  it('stops with the reason "length" where its output is limited', async () => {
    const { text, finish } = await ask('Write a long answer', [], { maxOutputTokens: 10 });
    expect([countWords(text), finish]).toEqual([10, 'length']);
  });

  it('repeats what the message asks it to say', async () => {
    expect((await ask('Say "good evening"')).text).toBe('good evening');
  });

  it('heeds the choice of tools', async () => {
    const prompt = [user('What is 2+2?')];
    expect((await ask(prompt, [calculator], { toolChoice: { type: 'none' } })).calls).toEqual([]);
    const forced = await ask(prompt, [calculator, weather], { toolChoice: { type: 'tool', toolName: 'get_weather' } });
    expect(forced.calls).toMatchObject([{ toolName: 'get_weather' }]);
    const required = await ask(hello, [weather], { toolChoice: { type: 'required' } });
    expect(required.calls).toMatchObject([{ toolName: 'get_weather', input: expect.stringContaining('"city"') }]);
  });

  it('asks for what the message does not say', async () => {
    const { text, calls } = await ask('What is the weather?', [weather]);
    expect(calls).toEqual([]);
    expect(text).toBe('To call `get_weather` I need `city`. Your message does not say it.');
  });
});

describe('the pace of rehearsal', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('ends with the reason of an abort between two words, and leaves no timer', async () => {
    const abort = new AbortController();
    const { parts, ended } = await startReading({ delayMs: 50 }, abort.signal);
    await vi.advanceTimersByTimeAsync(120);
    const reason = new Error('enough');
    const waiting = vi.getTimerCount(); // what ran before in this process may wait as well
    abort.abort(reason);
    await expect(ended).rejects.toBe(reason);
    expect(wordsIn(parts)).toBe(2);
    expect(vi.getTimerCount()).toBe(waiting - 1);
  });
});

/** Reads in the background; the parts so far can be looked at any time. */
async function startReading(
  settings: { delayMs: number },
  abortSignal?: AbortSignal,
): Promise<{ parts: Part[]; ended: Promise<unknown> }> {
  const options = { prompt: [user('Write a long answer')], ...(abortSignal && { abortSignal }) };
  const { stream: source } = await rehearsal(settings).doStream(options);
  const parts: Part[] = [];
  const ended = partsOf(source.pipeThrough(
    new TransformStream<Part, Part>({
      transform(part, controller) {
        parts.push(part);
        controller.enqueue(part);
      },
    }),
  ));
  ended.catch(() => undefined); // looked at later
  await vi.advanceTimersByTimeAsync(0);
  return { parts, ended };
}

function wordsIn(parts: readonly Part[]): number {
  return parts.filter(({ type }) => type === 'text-delta').length;
}

function countWords(text: string): number {
  return text.trim().split(/\s+/u).length;
}
