import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { saveEveryMs } from '../../../../demo/chat/state/chat-runs.ts';
import type { Chats } from '../../../../demo/chat/state/chats.ts';
import { createChatStore } from '../../../../demo/chat/store/chat-store.ts';
import { type ChatStore } from '../../../../demo/chat/state/chat-storage.ts';
import { answerText, type Message } from '../../../../demo/chat/state/message.ts';
import { PinnaceError } from '../../../../src/base/errors.ts';
import type { ClosableStorage } from '../../../../src/contracts/storage.ts';
import { openChats } from '../../../fixtures/page/chats.ts';
import { type FakeTransport, fakeTransport } from '../../../fixtures/page/fake-transport.ts';
import { planTask, planView } from '../../../fixtures/page/plan-view.ts';

let storage: ClosableStorage;
let chatStore: ChatStore;
let transport: FakeTransport;

beforeEach(() => {
  storage = memoryStorage();
  transport = fakeTransport();
});

afterEach(() => vi.useRealTimers());

function create(): Chats {
  chatStore = createChatStore(storage);
  return openChats(transport, { chatStore });
}

async function answer(chats: Chats, text: string): Promise<void> {
  const { run } = chats.current.value;
  const ended = run.value?.ended;
  await vi.waitFor(() => expect(transport.sent.length).toBeGreaterThan(0));
  transport.write({ type: 'text-delta', id: 't', delta: text }, { type: 'finish', finishReason: 'stop' });
  transport.close();
  await ended;
}

function textsOf(messages: readonly Message[]): readonly string[] {
  return messages.map((message) => message.role === 'user' ? message.text : answerText(message));
}

/** Waits until everything written so far is in storage. */
async function stored(): Promise<readonly unknown[]> {
  await chatStore.heads(); // in turn, after what was asked before
  return await storage.list({ prefix: ['message'], limit: 100 });
}

describe('createChats', () => {
  it('starts with an empty chat that is not in the list', () => {
    const chats = create();
    expect(chats.current.value.messages.value).toEqual([]);
    expect(chats.list.value).toEqual([]);
  });

  it('sends nothing while a run is going on, and nothing empty', () => {
    const chats = create();
    chats.send(' \n');
    expect(chats.list.value).toEqual([]);
    chats.send('one');
    chats.send('two');
    expect(transport.sent).toHaveLength(1);
    expect(textsOf(chats.current.value.messages.value)).toEqual(['one', '']);
  });

  it('drops an answer that failed and said nothing', async () => {
    const chats = create();
    transport.rejectNext(new Error('no way'));
    chats.send('one');
    await chats.current.value.run.value?.ended;
    chats.retry();
    await answer(chats, 'better');
    expect(textsOf(chats.current.value.messages.value)).toEqual(['one', 'better']);
    expect(chats.current.value.versions.value.size).toBe(0);
    expect(await stored()).toHaveLength(2);
  });

  it('sends an edited message beside the earlier one, and goes between them, also after a reload', async () => {
    const chats = create();
    chats.send('one');
    await answer(chats, 'first');
    chats.send('two');
    await answer(chats, 'second');
    const chat = chats.current.value;
    const [one] = chat.messages.value;
    chats.edit(one?.id ?? '', 'uno');
    await answer(chats, 'primo');
    expect(textsOf(chat.messages.value)).toEqual(['uno', 'primo']);
    expect(transport.sent.at(-1)?.messages).toHaveLength(1);
    chats.send('due');
    await answer(chats, 'secondo');
    expect(transport.sent.at(-1)?.messages).toHaveLength(3);
    const [uno] = chat.messages.value;
    expect(chat.versions.value.get(uno?.id ?? '')).toEqual({ ids: [one?.id, uno?.id], at: 1 });
    chats.show(one?.id ?? '');
    expect(textsOf(chat.messages.value)).toEqual(['one', 'first', 'two', 'second']);
    chats.send('three');
    await answer(chats, 'third');
    await stored();
    const again = create();
    await again.restore(chat.id);
    expect(textsOf(again.current.value.messages.value)).toEqual(['one', 'first', 'two', 'second', 'three', 'third']);
    again.show(uno?.id ?? '');
    expect(textsOf(again.current.value.messages.value)).toEqual(['uno', 'primo', 'due', 'secondo']);
    await stored();
    const last = create();
    await last.restore(chat.id);
    expect(textsOf(last.current.value.messages.value)).toEqual(['uno', 'primo', 'due', 'secondo']);
  });

  it('joins a run that a reload has cut off, where it is known', async () => {
    const chats = create();
    chats.send('one');
    await vi.waitFor(() => expect(transport.sent).toHaveLength(1));
    transport.write({ type: 'data-run', id: 'r', data: { runId: 'r' } }, { type: 'text-delta', id: 't', delta: 'Ha' });
    await vi.waitFor(async () => expect(JSON.stringify(await stored())).toContain('"runId":"r"'));
    const { id } = chats.current.value;
    transport = fakeTransport();
    const again = create();
    await again.restore(id);
    await vi.waitFor(() => expect(transport.resumed).toMatchObject([{ runId: 'r', after: 0 }]));
    transport.write(
      { type: 'data-run', id: 'r', data: { runId: 'r' } },
      { type: 'text-delta', id: 't', delta: 'Half ' },
      { type: 'text-delta', id: 't', delta: 'and whole' },
      { type: 'finish', finishReason: 'stop' },
    );
    transport.close();
    await again.current.value.run.value?.ended;
    expect(textsOf(again.current.value.messages.value)).toEqual(['one', 'Half and whole']);
    expect(transport.sent).toHaveLength(0);
  });

  it('follows the plan of a run that is stored no more', async () => {
    const chats = create();
    chats.send('one');
    await vi.waitFor(() => expect(transport.sent).toHaveLength(1));
    const view = planView([planTask('1', { status: 'ready' })]);
    transport.write({ type: 'data-run', id: 'r', data: { runId: 'r' } }, {
      type: 'data-plan',
      id: view.planId,
      data: view,
    });
    await vi.waitFor(async () => expect(JSON.stringify(await stored())).toContain(view.planId));
    transport = {
      ...fakeTransport(),
      resume: () => Promise.reject(new PinnaceError('not_found', 'There is no such run')),
    };
    const again = create();
    await again.restore(chats.current.value.id);
    await vi.waitFor(() => expect(transport.sent).toMatchObject([{ body: { planner: { planId: view.planId } } }]));
    expect(again.current.value.messages.value).toHaveLength(2);
  });

  it('writes while it streams at times, not with every chunk', async () => {
    vi.useFakeTimers();
    const chats = create();
    const commit = vi.spyOn(storage, 'commit');
    chats.send('one');
    await vi.advanceTimersByTimeAsync(0);
    for (let i = 0; i < 500; i++) transport.write({ type: 'text-delta', id: 't', delta: 'a' });
    await vi.advanceTimersByTimeAsync(saveEveryMs - 1);
    expect(commit).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(commit).toHaveBeenCalledTimes(2);
    transport.write({ type: 'finish' });
    transport.close();
    await vi.advanceTimersByTimeAsync(0);
    expect(commit).toHaveBeenCalledTimes(3);
    await vi.advanceTimersByTimeAsync(10 * saveEveryMs);
    expect(commit).toHaveBeenCalledTimes(3);
  });
});
