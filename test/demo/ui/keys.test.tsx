import { afterEach, describe, expect, it, vi } from 'vitest';
import { mount, type Page, send } from '../../fixtures/playground.tsx';

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

  it('Ctrl K opens the switcher, which finds an agent by its letters', async () => {
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

  it('arrows go round in the switcher', async () => {
    page = await mount();
    page.press('k', { metaKey: true });
    await page.find('switcher');
    page.all('switcher-query')[0]?.focus();
    page.press('ArrowUp');
    await vi.waitFor(() => expect(selected()).toContain('Model settings'));
    page.press('ArrowDown');
    await vi.waitFor(() => expect(selected()).toContain('Navigator'));
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
