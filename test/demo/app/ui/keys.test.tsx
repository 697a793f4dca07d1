import { afterEach, describe, expect, it, vi } from 'vitest';
import { mount, type Page, send } from '../../../fixtures/page/playground.tsx';

let page: Page;

afterEach(() => page.unmount());

function selected(): string | null | undefined {
  return document.querySelector('[aria-selected=true]')?.textContent;
}

describe('the keys', () => {
  it('/ goes to the composer, and is a letter inside it', async () => {
    page = await mount();
    const composer = await page.find('composer');
    composer.blur();
    page.press('/');
    await vi.waitFor(() => expect(document.activeElement).toBe(composer));
    const event = new KeyboardEvent('keydown', { key: '/', bubbles: true, cancelable: true });
    composer.dispatchEvent(event);
    expect(event.defaultPrevented).toBe(false);
  });

  it('Ctrl K opens the palette, which finds an agent by its letters', async () => {
    page = await mount();
    page.press('k', { ctrlKey: true });
    await page.find('switcher');
    await page.type('switcher-query', 'mat');
    await vi.waitFor(() =>
      expect(page.all('destination').map(({ textContent }) => textContent)).toEqual(['New chat with MateAgent'])
    );
    page.all('switcher-query')[0]?.focus();
    page.press('Enter');
    await vi.waitFor(() => expect(page.all('switcher')).toHaveLength(0));
    expect(page.playground.chats.current.value.agentId.value).toBe('mate');
  });

  it('arrows go round in the palette', async () => {
    page = await mount();
    page.press('k', { metaKey: true });
    await page.find('switcher');
    page.all('switcher-query')[0]?.focus();
    page.press('ArrowUp');
    await vi.waitFor(() => expect(selected()).toContain('Dark colors'));
    page.press('ArrowDown');
    await vi.waitFor(() => expect(selected()).toContain('New chat'));
  });

  it('Alt with a letter goes where the palette says, and back', async () => {
    page = await mount();
    (await page.find('composer')).focus();
    const alt = (code: string): void => page.press(code.slice(-1).toLowerCase(), { altKey: true, code });
    alt('KeyT');
    await page.find('tree-panel');
    alt('KeyT');
    await vi.waitFor(() => expect(page.all('tree-panel')).toHaveLength(0));
    page.press('m', { altKey: true, ctrlKey: true, code: 'KeyM' }); // AltGr makes letters
    alt('KeyM');
    await page.find('settings-dialog');
    page.press('k', { ctrlKey: true });
    await page.type('switcher-query', 'tree');
    await vi.waitFor(() => expect(page.all('destination')[0]?.textContent).toContain('Alt T'));
  });

  it('the palette offers what fits the open answer: to stop it, to ask again, to inspect it', async () => {
    page = await mount();
    await send(page, 'Hi');
    page.transport.write({ type: 'data-run', id: 'r', data: { runId: 'r', traceId: 'trace-1' } });
    page.press('k', { ctrlKey: true });
    await vi.waitFor(() => expect(page.all('destination')[0]?.textContent).toContain('Stop the run'));
    await page.type('switcher-query', 'stop run');
    page.all('switcher-query')[0]?.focus();
    page.press('Enter');
    await page.find('stopped');
    page.press('k', { ctrlKey: true });
    await vi.waitFor(() => expect(page.all('destination')[0]?.textContent).toContain('Regenerate'));
    await page.type('switcher-query', 'dark');
    await vi.waitFor(() => expect(page.all('destination')).toHaveLength(1));
    page.all('switcher-query')[0]?.focus();
    page.press('Enter');
    await vi.waitFor(() => expect(page.playground.theme.value).toBe('dark'));
    page.playground.theme.value = 'system';
  });

  it('Esc closes the drawer before it stops a run', async () => {
    page = await mount();
    await send(page, 'Hi');
    await page.click('open-drawer');
    page.press('Escape');
    await vi.waitFor(() => expect(page.all('side-bar')[0]?.dataset['open']).toBe('false'));
    expect(page.transport.sent[0]?.signal?.aborted).toBe(false);
  });

  it('the theme button changes the colours', async () => {
    page = await mount();
    await page.click('theme-toggle');
    expect(document.documentElement.dataset['theme']).toBe('light');
    await page.click('theme-toggle');
    expect(document.documentElement.dataset['theme']).toBe('dark');
    await page.click('theme-toggle');
    expect(document.documentElement.dataset['theme']).toBeUndefined();
  });
});
