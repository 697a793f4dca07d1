import { describe, expect, it } from 'vitest';
import { fit, fitKeywords } from '../../../../demo/palette/state/fuzzy.ts';

const titles = [
  'New chat',
  'New chat with Mate',
  'Registry: MCP servers',
  'Registry of agents and tools',
  'Dark colours',
];

function found(query: string): string[] {
  return titles.filter((title) => fit(title, query) > 0)
    .toSorted((a, b) => fit(b, query) - fit(a, query));
}

describe('fit', () => {
  it('finds everything for an empty query', () => {
    expect(found('  ')).toEqual(titles);
  });

  it.each([
    ['part of a word', 'olour', ['Dark colours']],
    ['words in any order', 'mate new', ['New chat with Mate']],
    ['beginnings run together', 'ncm', ['New chat with Mate']],
    ['longer beginnings, with words left out', 'regmcp', ['Registry: MCP servers']],
    ['a letter too few', 'regitry', ['Registry: MCP servers', 'Registry of agents and tools']],
    ['letters that changed places', 'drak', ['Dark colours']],
    ['another letter', 'colaurs', ['Dark colours']],
    ['nothing', 'harbour', []],
    ['no short slips', 'nex', []],
  ])('finds %s', (_, query, titlesFound) => {
    expect(found(query)).toEqual(titlesFound);
  });

  it('puts the beginning of a title before that of a word, and that before the middle', () => {
    expect(['Chat', 'New chat', 'A backchat'].map((title) => fit(title, 'chat'))).toEqual([5, 4, 3]);
  });
});

describe('fitKeywords', () => {
  it('finds words and slips, and runs no beginnings together', () => {
    const words = 'Tool schemas Guide documentation zod arktype';
    expect(['arktype', 'ark', 'arktpye', 'guide zod'].map((query) => fitKeywords(words, query))).toEqual([4, 4, 1, 8]);
    expect([fitKeywords(words, 'dark'), fit(words, 'dark')]).toEqual([0, 2]);
  });
});
