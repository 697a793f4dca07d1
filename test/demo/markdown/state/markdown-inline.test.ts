import { describe, expect, it } from 'vitest';
import { readInline } from '../../../../demo/markdown/state/markdown-inline.ts';
import { safeHref } from '../../../../demo/markdown/state/markdown-links.ts';

describe('readInline', () => {
  it.each<[string, string, unknown]>([
    ['plain text', 'a b', ['a b']],
    ['bold and italic', '**a** *b* __c__ _d_', [
      { type: 'strong', children: ['a'] },
      ' ',
      { type: 'em', children: ['b'] },
      ' ',
      { type: 'strong', children: ['c'] },
      ' ',
      { type: 'em', children: ['d'] },
    ]],
    ['both at once', '***a***', [{ type: 'strong', children: [{ type: 'em', children: ['a'] }] }]],
    ['deleted text', '~~a~~ ~b~', [{ type: 'del', children: ['a'] }, ' ~b~']],
    ['code, with marks inside', '`*a*` ``b ` c``', [{ type: 'code', text: '*a*' }, ' ', {
      type: 'code',
      text: 'b ` c',
    }]],
    ['underscores inside words', 'snake_case_name', ['snake_case_name']],
    ['stars between spaces', '2 * 3 * 4', ['2 * 3 * 4']],
    ['escapes', '\\*a\\* \\n', ['*a* \\n']],
    ['entities', '&lt;b&gt; &amp; &nope;', ['<b> & &nope;']],
    ['line breaks', 'a  \nb\\\nc\nd', ['a', { type: 'break' }, 'b', { type: 'break' }, 'c\nd']],
    ['links', '[a *b*](https://example.org/x_(y) "title")', [
      { type: 'link', href: 'https://example.org/x_(y)', children: ['a ', { type: 'em', children: ['b'] }] },
    ]],
    ['bare addresses without the full stop', 'See https://example.org/a_b.', [
      'See ',
      { type: 'link', href: 'https://example.org/a_b', children: ['https://example.org/a_b'] },
      '.',
    ]],
    ['addresses in angle brackets', '<mailto:a@example.org>', [
      { type: 'link', href: 'mailto:a@example.org', children: ['mailto:a@example.org'] },
    ]],
    ['images as links, for nothing is fetched', '![chart](https://example.org/a.png)', [
      { type: 'link', href: 'https://example.org/a.png', isImage: true, children: ['chart'] },
    ]],
    ['numbers in brackets', 'a [1], b[2, 13]. [x1] [1](https://example.org/)', [
      'a ',
      { type: 'citation', numbers: [1], text: '[1]' },
      ', b',
      { type: 'citation', numbers: [2, 13], text: '[2, 13]' },
      '. ',
      '[',
      'x1',
      '] ',
      { type: 'link', href: 'https://example.org/', children: ['1'] },
    ]],
    ['numbers in the text of a link', '[see [1]](https://example.org/)', [
      { type: 'link', href: 'https://example.org/', children: ['see ', '[', '1', ']'] },
    ]],
    ['numbers in code', '`a[1]`', [{ type: 'code', text: 'a[1]' }]],
    ['HTML as text', '<img src=x onerror=alert(1)>', ['<img src=x onerror=alert(1)>']],
  ])('reads %s', (_, text, nodes) => {
    expect(readInline(text)).toEqual(nodes);
  });

  it.each(['**a', '*a', '[a', '[a](', '[a](b', '`a', '![a', '~~a', 'a]', '_a', '<https://', '&am'])(
    'keeps the text of what never closes: %s',
    (text) => {
      const texts = readInline(text).map((node) => typeof node === 'string' ? node : 'not a text');
      expect(texts.join('')).toBe(text);
    },
  );

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
