import { signal } from '@preact/signals';
import { render } from 'preact';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Markdown } from '../../../../demo/markdown/ui/markdown.tsx';

let root: HTMLElement;

beforeEach(() => {
  root = document.body.appendChild(document.createElement('div'));
});

afterEach(() => {
  render(null, root);
  root.remove();
});

function show(text: string): HTMLElement {
  render(<Markdown text={signal(text)} isLive={false} />, root);
  return root.querySelector<HTMLElement>('.markdown')!; // safe: it was just rendered
}

describe('Markdown', () => {
  it('renders every kind of block', () => {
    const html = show(
      '# A\n\ntext **b** *i* `c` ~~d~~\n\n> q\n\n- l\n  1. n\n\n- [x] t\n\n| h |\n|--:|\n| d |\n\n```ts\ncode\n```\n\n---',
    );
    for (
      const tag of [
        'h3',
        'p',
        'strong',
        'em',
        'code',
        'del',
        'blockquote',
        'ul li ol li',
        'input[type=checkbox]:checked',
        'table th.align-right',
        'td',
        '.code-block pre code',
        'hr',
      ]
    ) {
      expect(html.querySelector(tag), tag).not.toBeNull();
    }
  });

  it('opens links apart from this page', () => {
    const link = show('[a](https://example.org/)').querySelector('a');
    expect(link?.getAttribute('href')).toBe('https://example.org/');
    expect(link?.getAttribute('rel')).toContain('noopener');
    expect(link?.getAttribute('target')).toBe('_blank');
  });

  it.each([
    '<img src=x onerror=alert(1)>',
    '<script>alert(1)</script>',
    '<a href="javascript:alert(1)">x</a>',
    '[x](javascript:alert(1))',
    '![x](https://example.org/track.png)',
    '[x](data:text/html,1)',
    '| <iframe src=x> |\n|--|',
    '```<svg onload=alert(1)>\n<svg onload=alert(1)>\n```',
  ])('makes nothing of %s that fetches or runs', (text) => {
    const html = show(text);
    expect(html.querySelector('img, script, iframe, .markdown svg:not(.icon), [onload], [onerror]')).toBeNull();
    for (const link of html.querySelectorAll('a')) expect(link.href).toMatch(/^(https?|mailto):/);
  });

  it('copies code', async () => {
    const copied = vi.spyOn(navigator.clipboard, 'writeText').mockResolvedValue();
    show('```\na <b>\n```').querySelector<HTMLElement>('button')?.click();
    await vi.waitFor(() => expect(copied).toHaveBeenCalledWith('a <b>'));
  });
});
