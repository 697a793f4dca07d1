import { afterEach, describe, expect, it, vi } from 'vitest';
import { keyedActions } from '../../../../demo/app/ui/actions.ts';
import { answer, mount, type Page, send } from '../../../fixtures/page/playground.tsx';

let page: Page;

afterEach(() => page.unmount());

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
      expect(page.all('destination').map(({ textContent }) => textContent)).toEqual(['New chat with Mate'])
    );
    page.all('switcher-query')[0]?.focus();
    page.press('Enter');
    await vi.waitFor(() => expect(page.all('switcher')).toHaveLength(0));
    expect(page.playground.chats.current.value.agentId.value).toBe('mate');
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

  it('are listed at a question mark, but not where a person writes', async () => {
    page = await mount();
    (await page.find('composer')).focus();
    page.press('?');
    expect(page.playground.overlay.value).toBe('none');
    page.all('composer')[0]?.blur();
    page.press('?');
    const dialog = await page.find('keys');
    for (const { title } of keyedActions) expect(dialog.textContent).toContain(title);
    await page.click('keys-close');
    await vi.waitFor(() => expect(page.all('keys')).toHaveLength(0));
  });

  it('edit the last message at an arrow up, in an empty composer alone', async () => {
    page = await mount();
    await send(page, 'What is 6 * 7?');
    await answer(page, '42');
    await page.type('composer', 'draft');
    page.all('composer')[0]?.focus();
    page.press('ArrowUp');
    expect(page.all('question-edit')).toHaveLength(0);
    await page.type('composer', '');
    await vi.waitFor(() => expect(page.playground.chats.current.value.draft.value).toBe(''));
    page.press('ArrowUp');
    expect(await page.find('edit-text')).toHaveProperty('value', 'What is 6 * 7?');
    await page.type('edit-text', 'What is 6 * 8?');
    await vi.waitFor(() => expect(page.all('edit-send')[0]).toHaveProperty('disabled', false));
    await page.click('edit-send');
    await vi.waitFor(() => expect(page.transport.sent).toHaveLength(2));
    expect(page.transport.sent[1]?.messages).toHaveLength(1);
    expect((await page.find('version')).textContent).toBe('2 / 2');
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
    // What Enter does at once costs nothing.
    await vi.waitFor(() => expect(page.all('destination')[0]?.textContent).toContain('New chat'));
    expect(page.all('destination').some(({ textContent }) => textContent.includes('Regenerate'))).toBe(true);
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

  it('move in the menu of the chat, which Esc closes and leaves the focus where it was', async () => {
    page = await mount();
    await page.click('chat-menu');
    const first = await page.find('open-knowledge');
    await vi.waitFor(() => expect(document.activeElement).toBe(first));
    const press = (key: string): unknown =>
      document.activeElement?.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
    press('ArrowDown');
    expect(document.activeElement).toBe(page.all('open-chat-settings')[0]);
    press('Home');
    expect(document.activeElement).toBe(first);
    press('c');
    expect(document.activeElement).toBe(page.all('open-chat-settings')[0]);
    press('Escape');
    await vi.waitFor(() => expect(page.all('open-chat-settings')).toEqual([]));
    expect(document.activeElement).toBe(page.all('chat-menu')[0]);
  });
});
