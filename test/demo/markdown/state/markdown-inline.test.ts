import { describe, expect, it } from 'vitest';
import { readInline } from '../../../../demo/markdown/state/markdown-inline.ts';
import { safeHref } from '../../../../demo/markdown/state/markdown-links.ts';
import samples from '../../../fixtures/vectors/markdown-inline.json' with { type: 'json' };

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
