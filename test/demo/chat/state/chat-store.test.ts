import { afterEach, describe, expect, it, vi } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import type { ChatHead } from '../../../../demo/chat/state/chat.ts';
import { createChatStore, tryAgainMs } from '../../../../demo/chat/store/chat-store.ts';
import {
  type AssistantMessage,
  createAnswer,
  createTextPart,
  createToolPart,
  type Message,
} from '../../../../demo/chat/state/message.ts';
import { PinnaceError } from '../../../../src/base/errors.ts';
import type { Storage } from '../../../../src/contracts/storage.ts';

const head: ChatHead = { id: 'c', agentId: 'mate', title: 'Tides', createdAt: 1, updatedAt: 2 };
const question: Message = { role: 'user', id: 'q', text: 'Hi' };

function answered(): AssistantMessage {
  const answer = createAnswer({ id: 'a', model: 'rehearsal', startedAt: 3 });
  answer.parts.value = [
    { type: 'step' },
    createTextPart('reasoning', { text: 'hmm', done: true }),
    createToolPart('t', {
      name: 'add',
      dynamic: true,
      state: 'result',
      input: { a: 1 },
      output: 2,
      startedAt: 3,
      endedAt: 4,
    }, {
      inputText: '{"a":1}',
      logs: [{ level: 'info', text: 'line' }],
    }),
    createTextPart('text', { text: 'Two', done: true }),
  ];
  answer.facts.value = { run: { runId: 'r', traceId: 'x', state: 'completed', error: undefined } };
  answer.outcome.value = { type: 'done', finishReason: 'stop', endedAt: 5 };
  return answer;
}

function broken(reason: string): Storage {
  const refuse = (): Promise<never> => Promise.reject(new PinnaceError('unavailable', 'No', { details: { reason } }));
  return { get: refuse, list: refuse, commit: refuse };
}

/** A storage that has room or not, as the test says. */
function limited(): { readonly storage: Storage; hasRoom: boolean } {
  const stored = memoryStorage();
  const disk = { hasRoom: false };
  const commit: Storage['commit'] = (changes) =>
    disk.hasRoom ? stored.commit(changes) : broken('storage_full').commit(changes);
  return Object.assign(disk, { storage: { ...stored, commit } });
}

afterEach(() => vi.useRealTimers());

describe('createChatStore', () => {
  it('writes only the messages that changed', async () => {
    const storage = memoryStorage();
    const chatStore = createChatStore(storage);
    await chatStore.save(head, { messages: [question, answered()], from: 0 });
    const before = await storage.get(['message', 'c', 0]);
    await chatStore.save(head, { messages: [question, answered()], from: 1 });
    expect((await storage.get(['message', 'c', 0]))?.version).toBe(before?.version);
  });

  it('keeps the order of many messages', async () => {
    const chatStore = createChatStore(memoryStorage());
    const messages = Array.from({ length: 450 }, (_, i): Message => ({ role: 'user', id: `q${i}`, text: String(i) }));
    for (const [i] of messages.entries()) await chatStore.save(head, { messages: messages.slice(0, i + 1), from: i });
    expect(await chatStore.messages('c')).toEqual(messages);
  });

  it('shows an answer that was being streamed as stopped, with its calls', async () => {
    const chatStore = createChatStore(memoryStorage());
    const answer = createAnswer({ id: 'a', model: 'm', startedAt: 3 });
    answer.parts.value = [
      createTextPart('text', { text: 'Half' }),
      createToolPart('t', { name: 'add', dynamic: true, state: 'running', startedAt: 3 }),
    ];
    await chatStore.save(head, { messages: [answer], from: 0 });
    expect((await chatStore.messages('c'))[0]).toMatchObject({
      outcome: { value: { type: 'stopped', by: 'page' } },
      parts: { value: [{ done: { value: true } }, { call: { value: { state: 'stopped' } } }] },
    });
  });

  it('skips what it cannot read, reports it, and never overwrites it', async () => {
    const storage = memoryStorage();
    await storage.commit([
      { key: ['chat', 'x'], value: 'malformed' },
      { key: ['message', 'c', 0], value: { role: 'oracle' } },
      { key: ['message', 'c', 1], value: question },
    ]);
    const chatStore = createChatStore(storage);
    expect(await chatStore.heads()).toEqual([]);
    expect(await chatStore.messages('c')).toEqual([question]);
    expect(chatStore.unreadable.value).toBe(2);
    const messages = [question, answered()];
    await chatStore.save(head, { messages, from: 1 });
    await chatStore.save(head, { messages, from: 0 });
    expect(await storage.get(['message', 'c', 0])).toMatchObject({ value: { role: 'oracle' } });
    expect((await createChatStore(storage).messages('c')).map(({ id }) => id)).toEqual(['q', 'a']);
  });

  it('writes what found no room as soon as there is room again, each message of it', async () => {
    vi.useFakeTimers();
    const disk = limited();
    const chatStore = createChatStore(disk.storage);
    const messages = [question, answered()];
    await chatStore.save(head, { messages, from: 0 });
    await chatStore.save(head, { messages, from: 1 });
    await chatStore.save({ ...head, id: 'd' }, { messages: [question], from: 0 });
    expect(chatStore.notStored.value).toBe('full');
    disk.hasRoom = true;
    await vi.advanceTimersByTimeAsync(tryAgainMs);
    expect(chatStore.notStored.value).toBeUndefined();
    expect((await chatStore.messages('c')).map(({ id }) => id)).toEqual(['q', 'a']);
    expect((await chatStore.heads()).map(({ id }) => id)).toEqual(['c', 'd']);
  });

  it('writes what found no room when the person has deleted a chat', async () => {
    const disk = limited();
    const chatStore = createChatStore(disk.storage);
    await chatStore.save({ ...head, id: 'd' }, { messages: [question], from: 0 });
    disk.hasRoom = true;
    await chatStore.remove('c');
    expect((await chatStore.heads()).map(({ id }) => id)).toEqual(['d']);
  });

  it('restores a deleted chat for 30 days, and what is written to it before that stays out', async () => {
    const storage = memoryStorage();
    let now = 0;
    const chatStore = createChatStore(storage, undefined, () => now);
    const other = createChatStore(storage);
    await chatStore.save(head, { messages: [question, answered()], from: 0 });
    await other.messages('c');
    await chatStore.remove('c');
    expect(await chatStore.heads()).toEqual([]);
    expect(await other.save(head, { messages: [question], from: 0 })).toBe('removed');
    expect(await other.catchUp('c', { here: () => [], isOurs: () => false })).toBe('removed');
    expect([await chatStore.restore('c'), await chatStore.restore('c')]).toEqual([true, false]);
    expect(await chatStore.save({ ...head, title: 'Ebb' }, { messages: [], from: 0 })).toBe('stored');
    expect((await chatStore.messages('c')).map(({ id }) => id)).toEqual(['q', 'a']);
    await chatStore.remove('c');
    now += 30 * 86_400_000;
    expect(await chatStore.deleted()).toEqual([]);
    expect(await storage.list({ prefix: [], limit: 9 })).toEqual([]);
  });

  it('gives the room of deleted chats to what is written', async () => {
    const stored = memoryStorage();
    let room = 2;
    const commit: Storage['commit'] = async (changes) => {
      const isFull = changes.some(({ value }) => value !== undefined) && room <= 0;
      if (isFull) return await broken('storage_full').commit(changes);
      room += changes.some(({ value }) => value !== undefined) ? -1 : 1;
      return await stored.commit(changes);
    };
    const chatStore = createChatStore({ ...stored, commit });
    await chatStore.save(head, { messages: [question], from: 0 });
    await chatStore.remove('c');
    expect(await chatStore.save({ ...head, id: 'd' }, { messages: [question], from: 0 })).toBe('stored');
    expect([await chatStore.deleted(), chatStore.notStored.value]).toEqual([[], undefined]);
  });

  it('keeps a message that is too large without what its tools gave', async () => {
    const chatStore = createChatStore(memoryStorage());
    const answer = answered();
    answer.parts.value = [
      createToolPart('t', {
        name: 'add',
        dynamic: true,
        state: 'result',
        input: {},
        output: 'x'.repeat(3_000_000),
        startedAt: 3,
      }),
      createTextPart('text', { text: 'Two' }),
    ];
    await chatStore.save(head, { messages: [answer], from: 0 });
    expect((await chatStore.messages('c'))[0]).toMatchObject({
      parts: { value: [{ call: { value: { output: 'Too large to store' } } }, { text: { value: 'Two' } }] },
    });
    expect(chatStore.notStored.value).toBeUndefined();
  });

  it.each([['storage_blocked', 'blocked'], ['storage_full', 'full'], ['storage_newer', 'newer']])(
    'reports that %s stores nothing, and does not fail',
    async (reason, why) => {
      const chatStore = createChatStore(broken(reason));
      expect(await chatStore.heads()).toEqual([]);
      expect(await chatStore.messages('c')).toEqual([]);
      await chatStore.save(head, { messages: [question], from: 0 });
      await chatStore.remove('c');
      expect(chatStore.notStored.value).toBe(why);
    },
  );

  it('takes the notice back once it can keep again', async () => {
    const storage = memoryStorage();
    let isFull = true;
    const chatStore = createChatStore({
      ...storage,
      commit: (changes) => isFull ? broken('storage_full').commit(changes) : storage.commit(changes),
    });
    await chatStore.save(head, { messages: [question], from: 0 });
    expect(chatStore.notStored.value).toBe('full');
    isFull = false;
    await chatStore.save(head, { messages: [question], from: 0 });
    expect(chatStore.notStored.value).toBeUndefined();
  });
});
