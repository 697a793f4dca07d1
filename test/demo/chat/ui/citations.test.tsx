import { afterEach, describe, expect, it, vi } from 'vitest';
import type { CitedSource } from '../../../../demo/chat/state/run-data.ts';
import { mount, type Page, send } from '../../../fixtures/page/playground.tsx';

let page: Page;

afterEach(() => page.unmount());

const source = (n: number, rest: Partial<CitedSource> = {}): CitedSource => ({
  n,
  dataSourceId: 'knowledge',
  id: `guide.md#${n}`,
  title: `Chapter ${n}`,
  uri: 'guide.md',
  lines: [n, n + 2],
  version: '1',
  confidence: 0.9,
  contentHash: 'abc',
  ...rest,
});

async function answerWith(text: string, ...sources: readonly CitedSource[]): Promise<void> {
  page = await mount();
  await send(page, 'Tell me');
  page.transport.write(
    { type: 'data-sources', id: 'c', data: { toolCallId: 'c', sources } },
    { type: 'text-delta', id: 't', delta: text },
    { type: 'finish', finishReason: 'stop' },
  );
  page.transport.close();
  await page.find('answer-footer');
  await vi.waitFor(() => expect(page.all('message').at(-1)?.querySelector('.markdown')).not.toBeNull());
}

const labels = () => page.all('citation').map((button) => button.getAttribute('aria-label'));

describe('citations in answers', () => {
  it('are buttons with the numbers of what was found, and text where nothing is known of them', async () => {
    await answerWith('So it is [1][2], maybe [1, 7] or [9], not `a[1]`.', source(1), source(2));
    expect(labels()).toEqual(['Source 1: Chapter 1', 'Source 2: Chapter 2', 'Source 1: Chapter 1']);
    expect(page.all('message').at(-1)?.querySelector('.markdown')?.textContent).toBe(
      'So it is 12, maybe 1[7] or [9], not a[1].',
    );
  });

  it('open the source in the knowledge at the place', async () => {
    await answerWith('So it is [2].', source(2));
    await page.click('citation');
    await page.find('knowledge-panel');
    await vi.waitFor(() => expect(page.all('knowledge-reader-name')[0]?.textContent).toBe('guide.md'));
    await vi.waitFor(() =>
      expect(page.all('knowledge-reader')[0]?.textContent).toContain('Cannot open "guide.md": it was removed')
    );
  });

  it('stand below the answer with title, place and confidence, and what was not cited on demand', async () => {
    await answerWith('So it is [2].', source(1), source(2), source(3, { confidence: 0.1 }));
    const listed = page.all('cited-source').map((one) => [one.dataset['n'], one.textContent]);
    expect(listed[0]).toEqual(['2', '1Chapter 2guide.mdlines 2–4strong match, confidence 90%']);
    expect(listed.map(([n]) => n)).toEqual(['2', '1', '3']);
    expect(page.all('uncited-sources')[0]?.querySelector('summary')?.textContent).toBe(
      '2 more passages found, not cited',
    );
    page.all('cited-source')[0]?.click();
    await page.find('knowledge-panel');
  });

  it('lead to the list where the source is none of this page, and follow no unsafe address', async () => {
    await answerWith(
      'So it is [1][2].',
      source(1, { dataSourceId: 'orders', uri: 'javascript:alert(1)' }),
      source(2, { dataSourceId: 'site', uri: 'https://example.org/a' }),
    );
    const [first, second] = page.all('cited-source');
    expect(first?.tagName).toBe('P');
    expect(second?.getAttribute('href')).toBe('https://example.org/a');
    await page.click('citation');
    expect(document.activeElement).toBe(first);
    expect(page.all('knowledge-panel')).toHaveLength(0);
  });

  it('shows titles as text, whatever stands in them', async () => {
    await answerWith('So it is [1].', source(1, { title: '<img src=x onerror=alert(1)>', uri: '"><script>' }));
    expect(page.all('cited-sources')[0]?.querySelector('img, script')).toBeNull();
    expect(labels()).toEqual(['Source 1: <img src=x onerror=alert(1)>']);
  });
});
