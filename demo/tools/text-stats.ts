/** The tool that measures a text. */

import * as v from 'valibot';
import { defineTool, type Tool } from '../../src/index.ts';

const longestText = 100_000;

const Input = v.strictObject({
  text: v.pipe(v.string(), v.maxLength(longestText), v.description('The text to measure, in any language')),
  top: v.optional(
    v.pipe(
      v.number(),
      v.integer(),
      v.minValue(0),
      v.maxValue(50),
      v.description('How many of the most frequent words to list'),
    ),
    5,
  ),
});

/** Returns the tool `text_stats`. Words and sentences are found as Unicode defines them, also where no spaces part them. */
export function textStatsTool(): Tool {
  return defineTool({
    id: 'text_stats',
    title: 'Text statistics',
    description:
      'Counts the characters, words, sentences and paragraphs of a text, estimates how long it takes to read and lists its most ' +
      'frequent words. Works for any language, Chinese and Japanese too.',
    category: 'text',
    keywords: ['word count', 'length', 'letters', 'count', 'statistics', 'reading time', 'frequency', 'how long'],
    annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
    input: Input,
    execute: ({ text, top }) => measure(text, top),
  });
}

function measure(text: string, top: number): Record<string, unknown> {
  const words = wordsOf(text);
  const facts = {
    characters: Array.from(text).length,
    graphemes: segments(text, 'grapheme').length,
    words: words.length,
    sentences: segments(text, 'sentence').filter(says).length,
    paragraphs: text.split(/\r?\n[^\S\n]*\r?\n/).filter((paragraph) => paragraph.trim() !== '').length,
  };
  const readingSeconds = secondsToRead(words);
  const readingTime = timeOf(readingSeconds);
  const counted = [
    numbered(facts.words, 'word'),
    numbered(facts.characters, 'character'),
    numbered(facts.sentences, 'sentence'),
  ];
  const said = `${counted.join(', ')}; about ${readingTime} to read`;
  return { ...facts, readingSeconds, readingTime, frequentWords: mostFrequent(words, top), text: said };
}

function numbered(count: number, name: string): string {
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}

function segments(text: string, granularity: 'grapheme' | 'word' | 'sentence'): Intl.SegmentData[] {
  return [...new Intl.Segmenter('en', { granularity }).segment(text)];
}

function wordsOf(text: string): string[] {
  return segments(text, 'word').filter(says).map(({ segment }) => segment.toLowerCase());
}

/** Engines disagree on which segments are like words: to Firefox, some Japanese verbs are not. */
function says({ segment }: Intl.SegmentData): boolean {
  return /[\p{L}\p{N}]/u.test(segment);
}

const ideographs = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu;

/** People read about 240 words a minute, or 500 characters of a script without spaces. */
function secondsToRead(words: readonly string[]): number {
  const characters = words.map((word) => word.match(ideographs)?.length ?? 0);
  const spaced = characters.filter((count) => count === 0).length;
  const dense = characters.reduce((sum, count) => sum + count, 0);
  return Math.ceil((spaced * 25 + dense * 12) / 100);
}

function timeOf(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** The most frequent first; equally frequent words in the order of the text. */
function mostFrequent(words: readonly string[], top: number): { word: string; count: number }[] {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].map(([word, count]) => ({ word, count })).toSorted((a, b) => b.count - a.count).slice(0, top);
}
