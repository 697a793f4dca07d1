import { describe, expect, it } from 'vitest';
import { textStatsTool } from '../../../demo/tools/text-stats.ts';
import { outcomeOf } from '../../fixtures/tools/tool-call.ts';

const tool = textStatsTool();

async function measure(text: unknown, top?: number): Promise<Record<string, unknown>> {
  return await outcomeOf(tool, { text, ...(top !== undefined && { top }) });
}

describe('text_stats', () => {
  it('finds nothing in nothing', async () => {
    const nothing = { words: 0, sentences: 0, paragraphs: 0, readingSeconds: 0, frequentWords: [] };
    expect(await measure('')).toMatchObject({ characters: 0, graphemes: 0, ...nothing });
    expect(await measure(' \n\n … !')).toMatchObject({ characters: 7, ...nothing, paragraphs: 1 });
  });

  it.each([
    ['👩‍👩‍👧‍👦', 7, 1],
    ['🇩🇪🇯🇵', 4, 2],
    ['e\u0301', 2, 1],
    ['नमस्ते', 6, 3],
    ['\r\n', 2, 1],
  ])('sees %j as people do', async (text, characters, graphemes) => {
    expect(await measure(text)).toMatchObject({ characters, graphemes });
  });

  it('finds words and sentences in Chinese and Japanese', async () => {
    expect(await measure('我喜欢吃苹果。你好,世界!')).toMatchObject({
      words: 6,
      sentences: 2,
      frequentWords: expect.arrayContaining([{ word: '苹果', count: 1 }]),
    });
    expect(await measure('東京に行きます。')).toMatchObject({
      sentences: 1,
      frequentWords: expect.arrayContaining([{ word: '東京', count: 1 }]),
    });
  });

  it('counts words in any case as the same', async () => {
    expect(await measure('Über über ÜBER', 1)).toMatchObject({ words: 3, frequentWords: [{ word: 'über', count: 3 }] });
  });

  it('keeps contractions and decimals in one word', async () => {
    expect(await measure("Don't pay 3.50")).toMatchObject({ words: 3 });
  });

  it('counts paragraphs between blank lines, however these are written', async () => {
    expect(await measure('one\r\n\r\ntwo\n \t\nthree\nstill three\n\n\n\nfour')).toMatchObject({ paragraphs: 4 });
  });

  it('estimates the reading time of long texts in minutes', async () => {
    expect(await measure('word '.repeat(600))).toMatchObject({ readingSeconds: 150, readingTime: '2 min 30 s' });
    expect(await measure('水'.repeat(1_000))).toMatchObject({ readingSeconds: 120, readingTime: '2 min 0 s' });
  });

  it('lists as many frequent words as asked for', async () => {
    expect(await measure('a b c', 2)).toMatchObject({ frequentWords: [{ word: 'a' }, { word: 'b' }] });
    expect(await measure('a b c', 0)).toMatchObject({ frequentWords: [] });
  });

  it('is not confused by words that are names of properties', async () => {
    expect(await measure('constructor constructor hasOwnProperty', 1)).toMatchObject({
      frequentWords: [{ word: 'constructor', count: 2 }],
    });
  });

  it('measures the longest text that it takes, and refuses a longer one', async () => {
    expect(await measure('ahoy '.repeat(20_000))).toMatchObject({ words: 20_000 });
    expect(await measure('x'.repeat(100_001))).toMatchObject({ code: 'invalid_argument' });
  });
});
