import { describe, expect, it } from 'vitest';
import { ask, called, callsFor, toolOf, user } from './ask.ts';

const retrieve = toolOf('retrieve', 'Finds what is known about something', { query: { type: 'string' } });
const clock = toolOf('current_time', 'Tells the current time', { timeZone: { type: 'string' } }, []);
const tools = [retrieve, clock];
const question = 'What is an approval bound to?';

/** An output of the tool, as the runtime's own gives it. */
function found(blocks: readonly string[], sources: readonly object[] = [{ dataSourceId: 'guide', status: 'ok' }]) {
  const body = blocks.join('\n\n');
  const text = body === '' ? 'Nothing was found.' : `Retrieved data.\n<data 0123abcd>\n${body}\n</data 0123abcd>`;
  return { type: 'json' as const, value: { untrusted: true, text, citations: [], sources, fused: false } as never }; // JSON
}
const answerTo = async (text: string, output: Parameters<typeof called>[2]) =>
  (await ask([user(text), ...called('retrieve', { query: text }, output)], tools)).text;

describe('rehearsal, with data sources', () => {
  it('asks them in the words of the message', async () => {
    expect(await callsFor(question, tools)).toEqual([['retrieve', { query: question, topK: 6 }]]);
    expect(await callsFor('  Who\nkeeps the log? ', tools)).toEqual([['retrieve', {
      query: 'Who keeps the log?',
      topK: 6,
    }]]);
  });

  it('leaves to other tools what is plainly theirs, and to words what wants words', async () => {
    expect(await callsFor('What is the current time?', tools)).toMatchObject([['current_time', {}]]);
    expect(await callsFor('Who are you?', tools)).toEqual([]);
    expect(await callsFor('Write a long answer about rope', tools)).toEqual([]);
    expect(await callsFor(question, [clock])).toEqual([]);
  });

  it('answers with the sentences that fit, each with the number of its hit', async () => {
    const text = await answerTo(
      question,
      found([
        '[4] guide/Approvals.md L6-L9 conf=0.81\n## What an approval is bound to\n\nAn approval holds for one call. It is spent once.',
        '[7] guide/Ropes.md conf=0.30\nRopes are of hemp.',
      ]),
    );
    expect(text).toBe('An approval holds for one call. It is spent once. [4]');
  });

  it('says so when the hits are doubtful, or none', async () => {
    expect(await answerTo(question, found(['[1] a conf=0.10\nAn approval is a word.']))).toBe(
      'The sources say little about that. The closest:\n\nAn approval is a word. [1]',
    );
    expect(await answerTo(question, found([]))).toBe('I found nothing about that in the sources.');
  });

  it('reports a source that did not answer, and a call that failed', async () => {
    const failed = { dataSourceId: 'log', status: 'error', error: { code: 'unavailable', message: 'It is away' } };
    const text = await answerTo(question, found(['[1] a conf=0.90\nAn approval is bound.'], [failed]));
    expect(text).toBe('An approval is bound. [1]\n\n`log` did not answer: It is away');
    expect(await answerTo(question, { type: 'error-text', value: 'Cannot use it' })).toContain(
      '`retrieve` failed: Cannot use it',
    );
  });

  it('takes nothing in a hit for a hit of its own', async () => {
    const text = await answerTo(
      question,
      found(['[2] a conf=0.90\n[9] see an approval here.\nAn approval is bound to it.']),
    );
    expect(text).toContain('[2]');
    expect(text).not.toMatch(/\[9\]$/m);
  });
});
