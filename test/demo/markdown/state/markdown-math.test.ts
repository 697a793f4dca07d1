import { describe, expect, it } from 'vitest';
import { createMarkdownReader } from '../../../../demo/markdown/state/markdown.ts';
import { readInline } from '../../../../demo/markdown/state/markdown-inline.ts';
import { plainText } from '../../../../demo/markdown/state/plain-text.ts';

const blocks = (text: string) => createMarkdownReader().read(text);

describe('formulas', () => {
  it.each([
    ['\\(a^2\\)', false],
    ['$a^2$', false],
    ['$$a^2$$', true],
    ['\\[a^2\\]', true],
  ])('are read within a line: %s', (text, isBlock) => {
    expect(readInline(`so ${text}, then`)).toEqual(['so ', { type: 'math', text: 'a^2', isBlock }, ', then']);
  });

  it.each(['$$\n\\frac{1}{2}\n$$', '\\[\n\\frac{1}{2}\n\\]', '$$ \\frac{1}{2} $$'])('are blocks: %j', (text) => {
    expect(blocks(`Half:\n${text}\nthen`)).toEqual([
      { type: 'paragraph', text: 'Half:' },
      { type: 'math', text: '\\frac{1}{2}' },
      { type: 'paragraph', text: 'then' },
    ]);
  });

  it('that are still being written are text, and a blank line ends them', () => {
    expect(blocks('$$\n\\frac{1}')).toMatchObject([{ type: 'paragraph' }]);
    expect(blocks('$$\na\n\nb')).toMatchObject([{ type: 'paragraph' }, { type: 'paragraph' }]);
  });

  it('are read in linear time, however many open and none closes', () => {
    const before = performance.now();
    readInline('$a '.repeat(30_000));
    readInline('\\(a '.repeat(30_000));
    blocks('$$\n'.repeat(3000));
    expect(performance.now() - before).toBeLessThan(3000);
  });
});

describe('plainText', () => {
  it('says the words without the signs', () => {
    const text =
      '# Tide\n\nIt is **high** at `noon`, see [the log](https://example.com).\n\n- one\n- *two* [1]\n\n| a | b |\n|---|---|\n| 1 | 2 |';
    expect(plainText(text)).toBe('Tide\nIt is high at noon, see the log.\none\ntwo \na, b\n1, 2');
  });
});
