import { describe, expect, it } from 'vitest';
import { slowness, threadMs } from '../../../tools/thread-time.ts';
import { createMarkdownReader } from '../../../../demo/markdown/state/markdown.ts';
import { readInline } from '../../../../demo/markdown/state/markdown-inline.ts';

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
    for (const block of blocks) {
      if (block.type === 'paragraph') readInline(block.text);
    }
    readInline(text);
    expect(threadMs() - began).toBeLessThan(2000 * slow);
    expect(deepest(blocks)).toBeLessThan(60);
    expect(deepest(readInline(text))).toBeLessThan(60);
  });

  it('reads brackets of growing length, where every one must be looked for, in good time', () => {
    const text = Array.from({ length: 400 }, (_, i) => '`'.repeat(i + 1)).join(' ');
    const began = threadMs();
    readInline(text);
    expect(threadMs() - began).toBeLessThan(1000 * slow);
  });
});

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
