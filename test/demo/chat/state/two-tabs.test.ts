import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { waitingCalls } from '../../../../demo/chat/state/approval.ts';
import { isRunning } from '../../../../demo/chat/state/chat.ts';
import type { ChatTabs } from '../../../../demo/chat/state/chat-tabs.ts';
import type { Chats } from '../../../../demo/chat/state/chats.ts';
import { createChatStore } from '../../../../demo/chat/store/chat-store.ts';
import { answerText } from '../../../../demo/chat/state/message.ts';
import type { ClosableStorage } from '../../../../src/contracts/storage.ts';
import { openChats } from '../../../fixtures/page/chats.ts';
import { type FakeTransport, fakeTransport } from '../../../fixtures/page/fake-transport.ts';
import { createTabs } from '../../../fixtures/page/tabs.ts';

interface Tab {
  readonly chats: Chats;
  readonly transport: FakeTransport;
  readonly tabs: ChatTabs;
}

let storage: ClosableStorage;
let newTab: () => ChatTabs;

beforeEach(() => {
  storage = memoryStorage();
  newTab = createTabs();
});

afterEach(() => vi.useRealTimers());

function open(): Tab {
  const tabs = newTab();
  const transport = fakeTransport();
  const chats = openChats(transport, { chatStore: createChatStore(storage, tabs) });
  return { chats, transport, tabs };
}

async function ask({ chats, transport }: Tab, text: string): Promise<void> {
  const before = transport.sent.length;
  chats.send(text);
  await vi.waitFor(() => expect(transport.sent.length).toBeGreaterThan(before));
}

async function answer({ chats, transport }: Tab, text: string): Promise<void> {
  const ended = chats.current.value.run.value?.ended;
  transport.write({ type: 'text-delta', id: 't', delta: text }, { type: 'finish', finishReason: 'stop' });
  transport.close();
  await ended;
}

const textsOf = ({ chats }: Tab): readonly string[] =>
  chats.current.value.messages.value.map((message) => message.role === 'user' ? message.text : answerText(message));
const shows = (tab: Tab, texts: readonly string[]): Promise<void> =>
  vi.waitFor(() => {
    expect(textsOf(tab)).toEqual(texts);
    expect(isRunning(tab.chats.current.value)).toBe(false);
  });

async function openBoth(): Promise<readonly [Tab, Tab]> {
  const first = open();
  await ask(first, 'Hi');
  await answer(first, 'Hello');
  const second = open();
  await second.chats.restore(first.chats.current.value.id);
  await shows(second, ['Hi', 'Hello']);
  return [first, second];
}

describe('two tabs on one chat', () => {
  it('show a chat that one of them starts in the list of the other', async () => {
    const [first, second] = [open(), open()];
    await ask(first, 'Tides');
    await answer(first, 'High');
    await vi.waitFor(() => expect(second.chats.list.value.map(({ title }) => title.value)).toEqual(['Tides']));
    await second.chats.open(first.chats.current.value.id);
    expect(textsOf(second)).toEqual(['Tides', 'High']);
  });

  it('lose nothing when both send in the same moment, and agree on the order', async () => {
    const [first, second] = await openBoth();
    first.chats.send('From the first');
    second.chats.send('From the second');
    await vi.waitFor(() => expect([first, second].map(({ transport }) => transport.sent.length)).toEqual([2, 1]));
    await answer(second, 'To the second');
    await answer(first, 'To the first');
    const texts = ['Hi', 'Hello', 'From the first', 'To the first', 'From the second', 'To the second'];
    await Promise.all([shows(first, texts), shows(second, texts)]);
    const third = open();
    await third.chats.restore(first.chats.current.value.id);
    expect(textsOf(third)).toEqual(texts);
  });

  it('stop an answer that the other one writes', async () => {
    const [first, second] = await openBoth();
    await ask(first, 'Go on for ever');
    await vi.waitFor(() => expect(isRunning(second.chats.current.value)).toBe(true));
    second.chats.stop();
    await vi.waitFor(() =>
      expect(second.chats.current.value.messages.value.at(-1)).toMatchObject({
        outcome: { value: { type: 'stopped', by: 'person' } },
      })
    );
  });

  it('show an answer as cut off once the tab that wrote it is closed', async () => {
    const [first, second] = await openBoth();
    await ask(first, 'Go on');
    await vi.waitFor(() => expect(isRunning(second.chats.current.value)).toBe(true));
    first.tabs.close();
    await vi.waitFor(() =>
      expect(second.chats.current.value.messages.value.at(-1)).toMatchObject({
        outcome: { value: { type: 'stopped', by: 'page' } },
      })
    );
  });

  it('drop what the other one asks for anew', async () => {
    const [first, second] = await openBoth();
    const before = first.transport.sent.length;
    first.chats.retry();
    await vi.waitFor(() => expect(first.transport.sent.length).toBeGreaterThan(before));
    await answer(first, 'Ahoy');
    await shows(second, ['Hi', 'Ahoy']);
  });

  it('decide on a call in both, when one of them decides', async () => {
    const [first, second] = await openBoth();
    await ask(first, 'Delete it');
    first.transport.write(
      { type: 'data-run', id: 'run', data: { runId: 'run' } },
      { type: 'tool-input-available', toolCallId: 'c', toolName: 'delete', input: {}, dynamic: true },
      { type: 'tool-approval-request', approvalId: 'p', toolCallId: 'c' },
      { type: 'finish', finishReason: 'tool-calls' },
    );
    first.transport.close();
    const callsIn = ({ chats }: Tab) =>
      chats.current.value.messages.value.flatMap((message) =>
        message.role === 'assistant' ? waitingCalls(message) : []
      );
    await vi.waitFor(() => expect(callsIn(second)).toHaveLength(1));
    await second.chats.decide(callsIn(second)[0]!, { approved: true }); // safe: just seen
    expect(second.transport.decided).toMatchObject([{ approvalId: 'p', approved: true }]);
    await vi.waitFor(() => expect(callsIn(first)[0]?.call.value.approval?.decision).toEqual({ approved: true }));
    await vi.waitFor(() => expect(second.transport.sent).toHaveLength(1));
    second.transport.write(
      { type: 'tool-output-available', toolCallId: 'c', output: 'gone' },
      { type: 'text-delta', id: 't', delta: 'Deleted' },
      { type: 'finish', finishReason: 'stop' },
    );
    second.transport.close();
    await shows(first, ['Hi', 'Hello', 'Delete it', 'Deleted']);
    expect(first.transport.sent).toHaveLength(2); // it was carried out once
  });

  it('take a chat away that the other one deletes, and say so', async () => {
    const [first, second] = await openBoth();
    await second.chats.remove(second.chats.current.value.id);
    await vi.waitFor(() => expect(first.chats.list.value).toEqual([]));
    expect(first.chats.deletedElsewhere.value).toBe('Hi');
    expect(textsOf(first)).toEqual([]);
    first.chats.send('Anew');
    expect(first.chats.deletedElsewhere.value).toBeUndefined();
  });

  it('do not bring a chat back by an answer that was under way when it was deleted', async () => {
    const [first, second] = await openBoth();
    await ask(first, 'More');
    second.tabs.close(); // its word does not arrive
    await second.chats.remove(second.chats.current.value.id);
    first.transport.write({ type: 'text-delta', id: 't', delta: 'Too late' });
    first.chats.saveRunning();
    await vi.waitFor(() => expect(first.chats.deletedElsewhere.value).toBe('Hi'));
    expect(await storage.list({ prefix: ['chat'], limit: 10 })).toMatchObject([{
      value: { deletedAt: expect.any(Number) },
    }]);
    expect(JSON.stringify(await storage.list({ prefix: ['message'], limit: 10 }))).not.toContain('Too late');
  });
});
