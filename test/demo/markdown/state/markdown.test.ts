import { describe, expect, it } from 'vitest';
import { createMarkdownReader } from '../../../../demo/markdown/state/markdown.ts';
import type { Block } from '../../../../demo/markdown/state/markdown-types.ts';

function read(text: string): readonly Block[] {
  return createMarkdownReader().read(text);
}

function item(...blocks: readonly Block[]): { checked: undefined; blocks: readonly Block[] } {
  return { checked: undefined, blocks };
}

function paragraph(text: string): Block {
  return { type: 'paragraph', text };
}

describe('createMarkdownReader', () => {
  it.each<[string, string, readonly Block[]]>([
    ['paragraphs', 'one\ntwo\n\nthree', [paragraph('one\ntwo'), paragraph('three')]],
    ['headings', '# A #\ntext\n### B', [
      { type: 'heading', level: 1, text: 'A' },
      paragraph('text'),
      { type: 'heading', level: 3, text: 'B' },
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
    ['tables', 'before\n| a | b \\| c |\n|:-:|--:|\n| 1 |\n| 2 | 3 | 4 |\nafter', [
      paragraph('before'),
      { type: 'table', align: ['center', 'right'], head: ['a', 'b | c'], rows: [['1', ''], ['2', '3']] },
      paragraph('after'),
    ]],
    ['no table without its line', 'a | b\nc | d', [paragraph('a | b\nc | d')]],
    ['HTML as text', '<script>alert(1)</script>', [paragraph('<script>alert(1)</script>')]],
    ['lines of Windows', 'a\r\n\r\nb', [paragraph('a'), paragraph('b')]],
  ])('reads %s', (_, text, blocks) => {
    expect(read(text)).toEqual(blocks);
  });

  it('starts again for another text', () => {
    const reader = createMarkdownReader();
    reader.read('one\n\ntwo\n\nthree');
    expect(reader.read('other')).toEqual([paragraph('other')]);
  });
});
