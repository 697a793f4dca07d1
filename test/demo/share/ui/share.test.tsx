import { afterEach, describe, expect, it, vi } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { answer, mount, type Page, send } from '../../../fixtures/page/playground.tsx';

let page: Page;

afterEach(() => {
  page.unmount();
  Reflect.deleteProperty(navigator, 'share');
});

const field = async (): Promise<HTMLInputElement> => await page.find('chat-link') as HTMLInputElement; // as it is

async function chatAbout(text: string): Promise<void> {
  page = await mount();
  await send(page, text);
  await answer(page, 'One');
}

describe('sharing a chat', () => {
  it('makes a link from the menu of the chat, and says that no server gets it', async () => {
    await chatAbout('First');
    await page.click('chat-more');
    await page.click('share-chat-link');
    expect((await page.find('share-chat')).textContent).toContain('nothing is sent to a server');
    expect((await field()).value).toMatch(/#chat=[\w-]{40,}$/);
    expect(page.all('share-native')).toEqual([]);
    await page.click('share-close');
    await vi.waitFor(() => expect(page.playground.overlay.value).toBe('none'));
  });

  it('offers a file for a chat that is too long for a link', async () => {
    await chatAbout(Array.from({ length: 3_000 }, (_, i) => Math.sin(i).toFixed(9)).join(' '));
    page.playground.overlay.value = 'share';
    expect((await page.find('share-too-long')).textContent).toMatch(/too long for a link: [\d,]+ characters/);
    expect(page.all('share-file')).toHaveLength(1);
    expect(page.all('chat-link')).toEqual([]);
  });

  it('has nothing to share before the first message', async () => {
    page = await mount();
    page.playground.overlay.value = 'share';
    expect((await page.find('share-chat')).textContent).toContain('no messages yet');
  });

  it('hands the link to the browser where it shares, and reports a failure but no change of mind', async () => {
    const share = vi.fn<(data: ShareData) => Promise<void>>()
      .mockRejectedValueOnce(new DOMException('No', 'AbortError')).mockRejectedValueOnce(new TypeError('No'));
    Object.defineProperty(navigator, 'share', { value: share, configurable: true });
    await chatAbout('First');
    page.playground.overlay.value = 'share';
    const { value: url } = await field();
    await page.click('share-native');
    await vi.waitFor(() => expect(share).toHaveBeenCalledWith({ title: 'First', url }));
    expect(page.all('share-problem')).toEqual([]);
    await page.click('share-native');
    expect((await page.find('share-problem')).textContent).toContain('Copy it instead');
  });
});

describe('a chat that comes by a link', () => {
  async function follow(hash: string, storage = memoryStorage()): Promise<void> {
    page.unmount();
    page = await mount({ storage });
    page.playground.screen.value = { name: 'shared', hash };
    await page.find('shared-page');
  }

  async function linkOf(text: string): Promise<string> {
    await chatAbout(text);
    page.playground.overlay.value = 'share';
    return new URL((await field()).value).hash;
  }

  it('is shown, stored when the person keeps it, and goes on with the same agent', async () => {
    const hash = await linkOf('First');
    const storage = memoryStorage();
    await follow(hash, storage);
    await page.find('shared-keep');
    expect(page.all('shared-message').map((one) => one.textContent)).toEqual([
      expect.stringContaining('First'),
      expect.stringContaining('One'),
    ]);
    expect(page.all('shared-agent')[0]?.textContent).toContain('your agent Navigator continues it');
    expect(await storage.list({ prefix: ['message'], limit: 9 })).toEqual([]);
    await page.click('shared-keep');
    await vi.waitFor(() => expect(page.all('message')).toHaveLength(2));
    expect(page.playground.chats.current.value.agentId.value).toBe('navigator');
    await vi.waitFor(async () => expect(await storage.list({ prefix: ['message'], limit: 9 })).toHaveLength(2));
    await send(page, 'And now?');
    expect(JSON.stringify(page.transport.sent.at(-1)?.messages)).toContain('One');
  });

  it('runs no script and loads no image', async () => {
    const hash = await linkOf('<img src=x onerror=alert(1)> <script>alert(1)</script>');
    await follow(hash);
    const messages = await page.find('shared-messages');
    expect(messages.querySelectorAll('img, script')).toHaveLength(0);
    expect(messages.textContent).toContain('<script>alert(1)</script>');
  });

  it('says why it cannot be opened, and offers the way back', async () => {
    page = await mount();
    page.playground.screen.value = { name: 'shared', hash: '#chat=abc' };
    expect((await page.find('shared-problem')).textContent).toMatch(/cannot be opened: it is incomplete.*as a file/);
    expect(page.all('shared-keep')).toEqual([]);
    await page.click('shared-leave');
    await vi.waitFor(() => expect(page.all('shared')).toEqual([]));
  });
});
