import { beforeEach, describe, expect, it, vi } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { createNotes, type Notes } from '../../../../demo/storage/notes.ts';
import { createChatStore } from '../../../../demo/chat/store/chat-store.ts';
import type { Chats } from '../../../../demo/chat/state/chats.ts';
import type { ClosableStorage } from '../../../../src/contracts/storage.ts';
import { openChats } from '../../../fixtures/page/chats.ts';
import { type FakeTransport, fakeTransport } from '../../../fixtures/page/fake-transport.ts';

let storage: ClosableStorage;
let texts: Map<string, string>;
let transport: FakeTransport;

beforeEach(() => {
  storage = memoryStorage();
  texts = new Map();
});

function notesOf(): Notes {
  return createNotes(() => ({
    getItem: (key) => texts.get(key) ?? null,
    setItem: (key, value) => void texts.set(key, value),
    removeItem: (key) => void texts.delete(key),
  }));
}

/** Opens the page, as after a reload. */
async function visit(chatId?: string): Promise<Chats> {
  transport = fakeTransport();
  const chats = openChats(transport, { chatStore: createChatStore(storage), notes: notesOf() });
  await chats.restore(chatId);
  return chats;
}

async function answered(chats: Chats, text: string): Promise<void> {
  chats.current.value.draft.value = '';
  chats.send(text);
  await vi.waitFor(() => expect(transport.sent.length).toBeGreaterThan(0));
  transport.write({ type: 'text-delta', id: 't', delta: 'Ho' }, { type: 'finish', finishReason: 'stop' });
  transport.close();
  await chats.current.value.run.value?.ended;
}

describe('drafts', () => {
  it('of a new chat are there after a reload, until they are sent', async () => {
    const chats = await visit();
    chats.current.value.draft.value = 'How is the ti';
    const again = await visit();
    expect(again.current.value.draft.value).toBe('How is the ti');
    await answered(again, 'How is the tide?');
    expect((await visit()).current.value.draft.value).toBe('');
    expect(texts.has('pinnace.drafts')).toBe(false);
  });

  it('of each chat are its own, with small files', async () => {
    const chats = await visit();
    await answered(chats, 'one');
    const first = chats.current.value;
    const file = { name: 'a.txt', mediaType: 'text/plain', size: 2, url: 'data:text/plain;base64,YWE=' };
    first.draft.value = 'of the first';
    first.attached.value = [file];
    chats.start();
    chats.current.value.draft.value = 'of a new one';
    const again = await visit(first.id);
    expect([again.current.value.draft.value, again.current.value.attached.value]).toEqual(['of the first', [file]]);
    again.start();
    expect(again.current.value.draft.value).toBe('of a new one');
  });

  it('are forgotten with their chat', async () => {
    const chats = await visit();
    await answered(chats, 'one');
    chats.current.value.draft.value = 'more';
    await chats.remove(chats.current.value.id);
    expect(texts.has('pinnace.drafts')).toBe(false);
  });
});

describe('messages that wait for an answer', () => {
  it('are sent to the run again after a reload, with their ids', async () => {
    const chats = await visit();
    chats.send('one');
    await vi.waitFor(() => expect(transport.sent).toHaveLength(1));
    transport.write({ type: 'data-run', id: 'r', data: { runId: 'r' } });
    await vi.waitFor(async () =>
      expect(JSON.stringify(await storage.list({ prefix: ['message'], limit: 9 }))).toContain('"runId":"r"')
    );
    chats.send('In metric units');
    const [waiting] = chats.current.value.queued.value;
    const again = await visit(chats.current.value.id);
    expect(again.current.value.queued.value).toMatchObject([{ id: waiting?.id, text: 'In metric units' }]);
    await vi.waitFor(() => expect(transport.steered).toMatchObject([{ runId: 'r', id: waiting?.id }]));
  });

  it('are back in the composer when the answer has ended meanwhile', async () => {
    const chats = await visit();
    await answered(chats, 'one');
    const { id } = chats.current.value;
    texts.set('pinnace.drafts', JSON.stringify({ [id]: { text: 'rest', queued: [{ id: 'q', text: 'waited' }] } }));
    const again = await visit(id);
    expect(again.current.value.draft.value).toBe('waited\n\nrest');
    expect(again.current.value.queued.value).toEqual([]);
  });
});
