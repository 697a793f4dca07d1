import { describe, expect, it } from 'vitest';
import { slowness, threadMs } from '../../../tools/thread-time.ts';
import { createMarkdownReader } from '../../../../demo/markdown/state/markdown.ts';
import { share } from '../../../fixtures/budget.ts';
import { randomNumbers } from '../../../fixtures/chance/random.ts';

describe('Markdown that means harm', () => {
  const size = 100_000;
  const slow = slowness();
  it.each(
    [
      '*',
      '**a',
      '_a ',
      '[',
      '![',
      '[a](',
      ']',
      '[](',
      '`',
      '``a`',
      '> ',
      '- ',
      '1. ',
      '#',
      '|',
      '| - ',
      '~~',
      '\\',
      '<',
      '&',
      '&amp',
      'https://',
      ')',
      '***a** ',
      '(',
      '[1]',
      '[1, ',
      '\n> ',
      '\n- ',
      '\n  - ',
      '\n|-|',
      '\n```',
      '\n***',
    ],
  )('reads 100 KB of %j in good time', (piece) => {
    const text = piece.repeat(Math.ceil(size / piece.length));
    const began = threadMs();
    const blocks = createMarkdownReader().read(text);
    expect(threadMs() - began).toBeLessThan(2000 * slow);
    expect(deepest(blocks)).toBeLessThan(60);
  });

  it.each(share([1, 2, 3, 4], 4))('reads 60 KB of openers in every arrangement in good time (%i)', (seed) => {
    const random = randomNumbers(seed);
    const of = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
    for (let round = 0; round < 60; round++) {
      const piece = Array.from({ length: 1 + Math.floor(random() * 4) }, () => of(openers) + of(gaps)).join('');
      const text = of(heads) + piece.repeat(Math.ceil(60_000 / piece.length));
      const began = threadMs();
      const { nodes } = readWhole(createMarkdownReader().read(text));
      expect(threadMs() - began, JSON.stringify(piece)).toBeLessThan(1500 * slow);
      expect(nodes, JSON.stringify(piece)).toBeLessThan(text.length * 3);
    }
  });

  it.each(['\\[\n', '\\[ \n', '\\[a(\n', '> \\[\n', '- \\[\n', '$$a\nb\n'])(
    'does not look for the end of each of 60,000 characters of formulas that %j opens',
    (piece) => {
      const text = piece.repeat(Math.ceil(60_000 / piece.length));
      const began = threadMs();
      createMarkdownReader().read(text);
      expect(threadMs() - began).toBeLessThan(500 * slow);
    },
  );

  it('makes no table of forty cells out of each line of two characters', () => {
    const head = `|${'a|'.repeat(40)}\n|${'-|'.repeat(40)}\n`;
    const { nodes } = readWhole(createMarkdownReader().read(head + '|\n'.repeat(50_000)));
    expect(nodes).toBeLessThan(200_000);
  });

  it('reads brackets of growing length, where every one must be looked for, in good time', () => {
    const text = Array.from({ length: 400 }, (_, i) => '`'.repeat(i + 1)).join(' ');
    const began = threadMs();
    createMarkdownReader().read(text);
    expect(threadMs() - began).toBeLessThan(1000 * slow);
  });
});

const openers = [
  '\\[',
  '$$',
  '$',
  '$a',
  '$1',
  '\\(',
  '`',
  '```',
  '~~~',
  '~~',
  '*',
  '**',
  '***',
  '_',
  '[',
  '![',
  '](',
  '[](',
  '<',
  '<https://a',
  'http://',
  '&amp',
  '#',
  '# ',
  '> ',
  '>',
  '- ',
  '-',
  '* ',
  '1. ',
  '- [ ] ',
  '|',
  '|-',
  '|a|',
  '|-|',

  ':-',
  '---',
  '\\',
  ' ',
  '    ',
  '\t',
  '[1',
  '[1]',
  '[1,',
  '!',
  'h',
  'a',
  '(',
  ')',
  ']',
  '\\]',
  '\\)',
  '> - ',
  '\r',
];
const gaps = ['', '\n', ' ', '\n\n', 'a', '\n ', ' \n'];
const heads = ['', '|a|b|\n|-|-|\n', `|${'a|'.repeat(40)}\n|${'-|'.repeat(40)}\n`, '```\n', '> ', '- '];

/** Reads all that blocks hold, and counts it. */
function readWhole(blocks: readonly unknown[]): { readonly nodes: number } {
  let nodes = 0;
  const stack: unknown[] = [...blocks];
  while (stack.length > 0) {
    const next = stack.pop();
    nodes++;
    if (typeof next !== 'object' || next === null) continue;
    for (const part of Object.values(next)) {
      if (typeof part === 'object' && part !== null) stack.push(part);
      else if (Array.isArray(next)) nodes++;
    }
  }
  return { nodes };
}

/** How deep a tree goes, counted without recursion. */
function deepest(root: unknown): number {
  let depth = 0;
  const stack: [unknown, number][] = [[root, 0]];
  for (let next = stack.pop(); next; next = stack.pop()) {
    const [node, level] = next;
    depth = Math.max(depth, level);
    if (typeof node === 'object' && node !== null) {
      for (const child of Object.values(node)) stack.push([child, level + 1]);
    }
  }
  return depth;
}
