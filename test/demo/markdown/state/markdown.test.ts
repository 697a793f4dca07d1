import { describe, expect, it } from 'vitest';
import { highlight, longest } from '../../../../demo/markdown/state/highlight.ts';
import type { Block, Inline } from '../../../../demo/markdown/state/markdown-types.ts';
import { createMarkdownReader } from '../../../../demo/markdown/state/markdown.ts';
import { safeHref } from '../../../../demo/markdown/state/markdown-links.ts';
import { plainText } from '../../../../demo/markdown/state/plain-text.ts';
import samples from '../../../fixtures/vectors/markdown-inline.json' with { type: 'json' };

function read(text: string): readonly Block[] {
  return createMarkdownReader().read(text);
}

function item(...blocks: readonly Block[]): { checked: undefined; blocks: readonly Block[] } {
  return { checked: undefined, blocks };
}

function paragraph(text: string): Block {
  return { type: 'paragraph', children: [text] };
}

/** The parts of a text of one paragraph. */
function readInline(text: string): readonly Inline[] {
  const [first] = read(text);
  return first?.type === 'paragraph' ? first.children : [];
}

describe('createMarkdownReader', () => {
  it.each<[string, string, readonly Block[]]>([
    ['paragraphs', 'one\ntwo\n\nthree', [paragraph('one\ntwo'), paragraph('three')]],
    ['headings', '# A #\ntext\n### B', [
      { type: 'heading', level: 1, children: ['A'] },
      paragraph('text'),
      { type: 'heading', level: 3, children: ['B'] },
    ]],
    ['no heading without a space', '#tag', [paragraph('#tag')]],
    ['code', '```ts title\nlet a;\n\n# no heading\n```\nafter', [
      { type: 'code', language: 'ts', text: 'let a;\n\n# no heading', closed: true },
      paragraph('after'),
    ]],
    ['code that has not ended', '~~~\na\n```', [{ type: 'code', language: '', text: 'a\n```', closed: false }]],
    ['rules', 'a\n\n---\n* * *', [paragraph('a'), { type: 'rule' }, { type: 'rule' }]],
    ['quotes', '> a\nlazy\n> - b\n\nafter', [
      {
        type: 'quote',
        blocks: [paragraph('a\nlazy'), { type: 'list', start: undefined, tight: true, items: [item(paragraph('b'))] }],
      },
      paragraph('after'),
    ]],
    ['lists', '- a\n- b\n  more', [
      { type: 'list', start: undefined, tight: true, items: [item(paragraph('a')), item(paragraph('b\nmore'))] },
    ]],
    ['numbered lists with their number', '3. a\n4. b', [
      { type: 'list', start: 3, tight: true, items: [item(paragraph('a')), item(paragraph('b'))] },
    ]],
    ['lists within lists, also by two columns', '1. a\n  - b\n    - c\n2. d', [{
      type: 'list',
      start: 1,
      tight: true,
      items: [
        item(paragraph('a'), {
          type: 'list',
          start: undefined,
          tight: true,
          items: [item(paragraph('b'), { type: 'list', start: undefined, tight: true, items: [item(paragraph('c'))] })],
        }),
        item(paragraph('d')),
      ],
    }]],
    ['loose lists', '- a\n\n- b', [
      { type: 'list', start: undefined, tight: false, items: [item(paragraph('a')), item(paragraph('b'))] },
    ]],
    ['a tight list before a paragraph', '- a\n- b\n\nafter', [
      { type: 'list', start: undefined, tight: true, items: [item(paragraph('a')), item(paragraph('b'))] },
      paragraph('after'),
    ]],
    ['tasks', '- [x] a\n- [ ] b', [{
      type: 'list',
      start: undefined,
      tight: true,
      items: [{ checked: true, blocks: [paragraph('a')] }, { checked: false, blocks: [paragraph('b')] }],
    }]],
    ['code within lists', '- a\n  ```\n  b\n  ```', [{
      type: 'list',
      start: undefined,
      tight: true,
      items: [item(paragraph('a'), { type: 'code', language: '', text: 'b', closed: true })],
    }]],
    ['tables', 'before\n| a | b \\| c |\n|:-:|--:|\n| 1 |\n| 2 | 3 | 4 |\n\nafter', [
      paragraph('before'),
      { type: 'table', align: ['center', 'right'], head: [['a'], ['b | c']], rows: [[['1'], []], [['2'], ['3']]] },
      paragraph('after'),
    ]],
    ['no table without its line', 'a | b\nc | d', [paragraph('a | b\nc | d')]],
    ['HTML as text', '<script>alert(1)</script>', [paragraph('<script>alert(1)</script>')]],
    ['lines of Windows', 'a\r\n\r\nb', [paragraph('a'), paragraph('b')]],
  ])('reads %s', (_, text, blocks) => {
    expect(read(text)).toEqual(blocks);
  });

  it('reads links whose addresses come later, also while the text grows', () => {
    const reader = createMarkdownReader();
    const text =
      'See [the log][log] and [1].\n\nMore.\n\n[log]: https://example.org/log\n[1]: https://example.org/one\n';
    for (let end = 1; end < text.length; end++) reader.read(text.slice(0, end));
    expect(reader.read(text)).toEqual(read(text));
    expect(read(text)[0]).toEqual({
      type: 'paragraph',
      children: [
        'See ',
        { type: 'link', href: 'https://example.org/log', children: ['the log'] },
        ' and ',
        { type: 'link', href: 'https://example.org/one', children: ['1'] },
        '.',
      ],
    });
  });

  it('reads a growing text as it reads the whole', () => {
    const text =
      '# A\n\n1. a\n  - b\n    - c\n2. d\n\n> q\n> - r\n\n| a | b |\n|---|---|\n| 1 | `x` |\n\n```ts\nlet a;\n```\n\n$$\nx\n$$\nend';
    const reader = createMarkdownReader();
    for (let end = 1; end <= text.length; end++) {
      expect(reader.read(text.slice(0, end))).toEqual(read(text.slice(0, end)));
    }
  });

  it('loses no text below the deepest quote', () => {
    expect(plainText(`${'> '.repeat(200)}treasure`)).toContain('treasure');
    expect(plainText(`${'*a **b '.repeat(200)}treasure`)).toContain('treasure');
  });

  it('starts again for another text', () => {
    const reader = createMarkdownReader();
    reader.read('one\n\ntwo\n\nthree');
    expect(reader.read('other')).toEqual([paragraph('other')]);
  });
});

describe('readInline', () => {
  it.each(samples as [string, string, unknown][])('reads %s', (_, text, nodes) => {
    expect(readInline(text)).toEqual(nodes);
  });

  it('keeps links out of links', () => {
    const nodes = readInline('[a [b](https://example.org/b) c](https://example.org/a)');
    expect(nodes.filter((node) => typeof node === 'object')).toEqual([
      { type: 'link', href: 'https://example.org/b', children: ['b'] },
      { type: 'link', href: 'https://example.org/a', children: ['https://example.org/a'] },
    ]);
  });

  it.each([
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'java\tscript:alert(1)',
    '\u0001javascript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'vbscript:x',
    'file:///etc/passwd',
    'blob:https://example.org/x',
    '//example.org',
    '/relative',
    '#fragment',
  ])('does not link to %s', (href) => {
    expect(safeHref(href)).toBeUndefined();
    const nodes = readInline(`[press](${href})`);
    expect(nodes.some((node) => typeof node === 'object' && node.type === 'link')).toBe(false);
  });
});

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
    expect(read(`Half:\n${text}\nthen`)).toEqual([
      paragraph('Half:'),
      { type: 'math', text: '\\frac{1}{2}' },
      paragraph('then'),
    ]);
  });

  it('that are still being written are text, and a blank line ends them', () => {
    expect(read('$$\n\\frac{1}')).toMatchObject([{ type: 'paragraph' }]);
    expect(read('$$\na\n\nb')).toMatchObject([{ type: 'paragraph' }, { type: 'paragraph' }]);
  });

  it('are read in linear time, however many open and none closes', () => {
    for (const text of ['$a ', '\\(a ']) expect(readInline(text.repeat(300_000))).not.toEqual([]); // in quadratic time it would not end
    expect(read('$$\n'.repeat(300_000))).not.toEqual([]);
  });
});

describe('plainText', () => {
  it('says the words without the signs', () => {
    const text =
      '# Tide\n\nIt is **high** at `noon`, see [the log](https://example.com).\n\n- one\n- *two* [1]\n\n| a | b |\n|---|---|\n| 1 | 2 |';
    expect(plainText(text)).toBe('Tide\nIt is high at noon, see the log.\none\ntwo \na, b\n1, 2');
  });
});

describe('highlight', () => {
  it.each([
    ['ts', 'const a: number = 1; // one'],
    ['TypeScript', 'export async function f() { return `a${1 + 1}b`; }'],
    ['python', 'def f(x):\n    return "a" + x  # why'],
    ['json', '{"a": [1, true, null]}'],
    ['html', '<p class="a">b</p><script>let a = 1;</script>'],
    ['sh', 'npm install --save "a b" # now'],
    ['sql', "select 'a' from b where c = 1"],
  ])('tells the kinds and loses no character: %s', async (language, code) => {
    const tokens = await highlight(code, language) ?? [];
    expect(tokens.map(({ text }) => text).join('')).toBe(code);
    expect(tokens.some(({ kind }) => kind !== undefined)).toBe(true);
  });

  it('leaves unknown languages and long code in one color', async () => {
    expect(await highlight('a b', 'klingon')).toBeUndefined();
    expect(await highlight('a b', 'constructor')).toBeUndefined();
    expect(await highlight('1;'.repeat(longest), 'js')).toBeUndefined();
  });
});
