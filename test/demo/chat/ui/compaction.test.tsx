import { afterEach, describe, expect, it, vi } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { createChatStore } from '../../../../demo/chat/store/chat-store.ts';
import { fromStored } from '../../../../demo/chat/store/stored-message.ts';
import { mount, type Page } from '../../../fixtures/page/playground.tsx';

let page: Page | undefined;

afterEach(() => page?.unmount());

const stored = {
  role: 'assistant',
  id: 'a',
  model: 'm',
  startedAt: 1,
  outcome: { type: 'done', endedAt: 2 },
  facts: {},
  parts: [
    {
      type: 'compaction',
      id: 'c',
      throughMessageId: 'm0',
      summary: 'They planned a trip.',
      tokensBefore: 104_000,
      tokensAfter: 21_500,
    },
    { type: 'text', text: 'Here it is.' },
  ],
};

describe('an answer before which earlier messages were summarized', () => {
  it('shows a folded line, and the summary when it is opened', async () => {
    const storage = memoryStorage();
    const answer = fromStored(stored);
    const messages = [{ role: 'user' as const, id: 'm1', text: 'Where to?' }, ...(answer ? [answer] : [])];
    const head = { id: 'long', agentId: 'navigator', title: 'Long', createdAt: 1, updatedAt: 1 };
    await createChatStore(storage).save(head, { messages, from: 0 });
    page = await mount({ storage, chatId: 'long' });
    const line = await page.find('compaction');
    expect(line.textContent).toBe('Earlier messages were summarized (104,000 → 21,500 tokens)');
    const button = line.querySelector('button');
    expect(button?.getAttribute('aria-expanded')).toBe('false');
    button?.click();
    await vi.waitFor(() => expect(line.textContent).toContain('They planned a trip.'));
    expect(button?.getAttribute('aria-expanded')).toBe('true');
  });
});
