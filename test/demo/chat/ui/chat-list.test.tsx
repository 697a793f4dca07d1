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
  it('are listed, opened and deleted after a question', async () => {
    page = await mount();
    await send(page, 'First');
    await answer(page, 'One');
    await page.click('new-chat');
    await page.find('welcome');
    expect(page.all('chat-item')).toHaveLength(1);
    page.all('chat-item')[0]?.querySelector('button')?.click();
    await vi.waitFor(() => expect(page.all('message')).toHaveLength(2));
    await page.click('delete-chat');
    await page.click('keep-chat');
    await vi.waitFor(() => expect(page.all('confirm-delete')).toHaveLength(0));
    await page.click('delete-chat');
    await page.click('confirm-delete');
    await vi.waitFor(() => expect(page.all('chat-item')).toHaveLength(0));
    await page.find('welcome');
  });

  it('keep what is written and not sent', async () => {
    page = await mount();
    await send(page, 'First');
    await answer(page, 'One');
    await page.type('composer', 'Half a thou');
    await page.click('new-chat');
    await page.find('welcome');
    expect(page.all('composer')[0]).toHaveProperty('value', '');
    page.all('chat-item')[0]?.querySelector('button')?.click();
    await vi.waitFor(() => expect(page.all('composer')[0]).toHaveProperty('value', 'Half a thou'));
  });

  it('are found again after a reload, a cut off answer as stopped', async () => {
    const storage = memoryStorage();
    page = await mount({ storage });
    await send(page, 'First');
    await vi.waitFor(async () => expect(await storage.list({ prefix: ['message'], limit: 9 })).toHaveLength(2));
    const { id } = page.playground.chats.current.value;
    page.unmount();
    page = await mount({ storage, chatId: id });
    expect((await page.find('stopped')).textContent).toContain('cut off');
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
