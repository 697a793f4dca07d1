import { afterEach, describe, expect, it, vi } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { PinnaceError } from '../../../../src/base/errors.ts';
import { answer, mount, type Page, send } from '../../../fixtures/page/playground.tsx';

let page: Page;

afterEach(() => page.unmount());

const refuse = (): Promise<never> =>
  Promise.reject(new PinnaceError('unavailable', 'No', { details: { reason: 'storage_blocked' } }));
const noStorage = { get: refuse, list: refuse, commit: refuse };

describe('chats', () => {
  it('are listed, opened and deleted, and a deleted one is brought back', async () => {
    page = await mount();
    await send(page, 'First');
    await answer(page, 'One');
    await page.click('new-chat');
    await page.find('welcome');
    expect(page.all('chat-item')).toHaveLength(1);
    page.all('chat-item')[0]?.querySelector('button')?.click();
    await vi.waitFor(() => expect(page.all('message')).toHaveLength(2));
    await page.click('chat-more');
    await page.click('delete-chat');
    await vi.waitFor(() => expect(page.all('chat-item')).toHaveLength(0));
    await page.find('welcome');
    await page.click('undo-delete');
    await vi.waitFor(() => expect(page.all('message')).toHaveLength(2));
    expect(page.all('chat-item')).toHaveLength(1);
    expect(page.all('removed-notice')).toHaveLength(0);
  });

  it('that were deleted and brought back are there after a reload', async () => {
    const storage = memoryStorage();
    page = await mount({ storage });
    await send(page, 'First');
    await answer(page, 'One');
    const { id } = page.playground.chats.current.value;
    await page.playground.chats.remove(id);
    expect(await page.playground.chatStore.deleted()).toMatchObject([{ id }]);
    await page.playground.chats.undoRemove();
    page.unmount();
    page = await mount({ storage, chatId: id });
    await vi.waitFor(() => expect(page.all('message')).toHaveLength(2));
  });

  it('are renamed with a key, and a blank name is not taken', async () => {
    page = await mount();
    await send(page, 'First');
    await answer(page, 'One');
    await page.click('chat-more');
    await page.click('rename-chat');
    const field = await page.find('chat-name') as HTMLInputElement; // as it is
    field.value = 'Tides';
    field.closest('form')?.requestSubmit();
    await vi.waitFor(() => expect(page.all('chat-item')[0]?.textContent).toContain('Tides'));
    page.playground.chats.rename(page.playground.chats.current.value, '  ');
    expect(page.playground.chats.current.value.title.value).toBe('Tides');
  });

  it('that are pinned stand above the others', async () => {
    page = await mount();
    await send(page, 'First');
    await answer(page, 'One');
    await page.click('new-chat');
    await send(page, 'Second');
    await answer(page, 'Two');
    const titles = () => page.all('chat-item').map((item) => item.querySelector('.chat-title')?.textContent);
    expect(titles()).toEqual(['Second', 'First']);
    page.all('chat-more')[1]?.click();
    await page.click('pin-chat');
    await vi.waitFor(() => expect(titles()).toEqual(['First', 'Second']));
    expect((await page.find('chat-list')).querySelector('h2')?.textContent).toBe('Pinned');
  });

  it('are not stored where there is no storage; the page says so and continues to work', async () => {
    page = await mount({ storage: noStorage });
    expect((await page.find('storage-notice')).textContent).toContain('Chats are not saved');
    await send(page, 'Hi');
    await answer(page, 'Here');
    expect(page.all('message')).toHaveLength(2);
  });

  it('say nothing about storage where it works', async () => {
    page = await mount();
    expect(page.all('storage-notice')).toHaveLength(0);
  });
});

describe('the search in all chats', () => {
  it('finds words of messages, and goes to them in their chat', async () => {
    page = await mount();
    await send(page, 'First');
    await answer(page, 'The tide in Bergen is high at noon');
    await page.click('new-chat');
    await page.find('welcome');
    page.playground.overlay.value = 'switcher';
    await page.type('switcher-query', 'bergen is');
    const hit = await vi.waitFor(() => {
      const [found] = page.all('destination').filter(({ textContent }) => textContent.startsWith('FirstThe tide'));
      if (!found) throw new Error('It is not found');
      return found;
    });
    expect(hit.textContent).toContain('The tide in Bergen is high at noon');
    hit.click();
    await vi.waitFor(() => expect(page.all('message')).toHaveLength(2));
    expect(await page.find('find-query')).toHaveProperty('value', 'bergen is');
  });

  it('finds nothing that was deleted, and no parts of tool results', async () => {
    page = await mount();
    await send(page, 'First');
    await answer(page, 'High at noon');
    const index = await page.playground.chatStore.searchIndex();
    expect(await index.search('NOON')).toMatchObject([{ excerpt: { text: 'High at noon' } }]);
    expect(await index.search('  ')).toEqual([]);
    await page.playground.chats.remove(page.playground.chats.current.value.id);
    expect(await index.search('noon')).toEqual([]);
  });
});
