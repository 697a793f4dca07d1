import { describe, expect, it } from 'vitest';
import { readInline } from '../../../../demo/markdown/state/markdown-inline.ts';
import samples from '../../../fixtures/vectors/markdown-inline.json' with { type: 'json' };

describe('readInline', () => {
  it.each(samples as [string, string, unknown][])('reads %s', (_, text, nodes) => {
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
});
