import { afterEach, describe, expect, it, vi } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { createChatStore } from '../../../../demo/chat/store/chat-store.ts';
import { placeByKey } from '../../../../demo/chat/ui/thread.tsx';
import { mount, type Page } from '../../../fixtures/page/playground.tsx';

let page: Page | undefined;

afterEach(() => page?.unmount());

const count = 100;

/** The page with a chat of a hundred messages open. */
async function open(): Promise<Page> {
  const storage = memoryStorage();
  const messages = Array.from({ length: count }, (_, i) => ({ role: 'user' as const, id: `m${i}`, text: `No. ${i}` }));
  const head = { id: 'long', agentId: 'navigator', title: 'Long', createdAt: 1, updatedAt: 1 };
  await createChatStore(storage).save(head, { messages, from: 0 });
  const opened = await mount({ storage, chatId: 'long' });
  (await opened.find('thread')).focus();
  return opened;
}

function place(): string | null | undefined {
  return document.activeElement?.getAttribute('aria-posinset');
}

describe('a long chat', () => {
  it('is read with the keys, also where nothing is drawn yet', async () => {
    page = await open();
    for (const [key, at] of [['Home', 1], ['PageDown', 2], ['End', count], ['PageUp', count - 1]] as const) {
      page.press(key);
      await vi.waitFor(() => expect([key, place()]).toEqual([key, String(at)]));
      expect(document.activeElement?.getAttribute('aria-setsize')).toBe(String(count));
      expect(document.activeElement?.getAttribute('aria-label')).toBe('You');
    }
    expect(page.all('message').length).toBeLessThan(count / 2);
  });

  it('ignores keys in text fields, and keys with modifiers', async () => {
    page = await open();
    page.press('Home', { ctrlKey: true });
    expect(place()).toBe(null);
    (await page.find('composer')).focus();
    page.press('Home');
    expect(place()).toBe(null);
  });
});

/** A thread of 500 pixels with three messages, the second of which is as high as said. */
function feed(height: number): { readonly scroller: HTMLElement; readonly messages: readonly HTMLElement[] } {
  const scroller = document.createElement('div');
  const tops = [-40, 60, 60 + height];
  const messages = tops.map((top, i) => {
    const message = document.createElement('article');
    message.setAttribute('aria-posinset', `${i + 1}`);
    message.getBoundingClientRect = () => new DOMRect(0, top, 100, i === 1 ? height : 100);
    return scroller.appendChild(message);
  });
  scroller.getBoundingClientRect = () => new DOMRect(0, 0, 100, 500);
  return { scroller, messages };
}

/** Where a key leads from this element. */
function placeFrom(target: Element | undefined, key: string, scroller: HTMLElement): number | undefined {
  const event = new KeyboardEvent('keydown', { key });
  Object.defineProperty(event, 'target', { value: target });
  return placeByKey(event, { scroller, count: 3 });
}

describe('placeByKey', () => {
  it('goes from the message that has the focus to the next and the one before', () => {
    const { scroller, messages } = feed(100);
    expect(placeFrom(messages[1], 'PageDown', scroller)).toBe(2);
    expect(placeFrom(messages[1], 'PageUp', scroller)).toBe(0);
    expect(placeFrom(messages[2], 'PageDown', scroller)).toBe(undefined);
  });

  it('lets a message be scrolled through that reaches beyond what is in sight', () => {
    const { scroller, messages } = feed(900);
    expect(placeFrom(messages[1], 'PageDown', scroller)).toBe(undefined);
    expect(placeFrom(messages[1], 'PageUp', scroller)).toBe(0);
    expect(placeFrom(messages[0], 'PageUp', scroller)).toBe(undefined);
  });

  it('starts with the visible message where none has the focus', () => {
    const { scroller } = feed(100);
    expect(placeFrom(scroller, 'PageDown', scroller)).toBe(1);
    expect(placeFrom(scroller, 'PageUp', scroller)).toBe(0);
  });
});
