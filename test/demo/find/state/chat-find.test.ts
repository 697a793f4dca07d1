import { signal } from '@preact/signals';
import { describe, expect, it } from 'vitest';
import { createChatFind } from '../../../../demo/find/state/chat-find.ts';
import { createAnswer, createTextPart, type Message } from '../../../../demo/chat/state/message.ts';

function question(id: string, text: string): Message {
  return { role: 'user', id, text };
}

function answer(id: string, text: string, isRunning = false): Extract<Message, { role: 'assistant' }> {
  const message = createAnswer({ id, model: 'm', startedAt: 0 });
  message.parts.value = [createTextPart('text', { text, done: !isRunning })];
  if (!isRunning) message.outcome.value = { type: 'done', endedAt: 1 };
  return message;
}

function findIn(...messages: readonly Message[]): ReturnType<typeof createChatFind> {
  const find = createChatFind({ messages: signal(messages) });
  find.open();
  return find;
}

describe('createChatFind', () => {
  it('starts with the newest, goes to older ones, and on from the other end', () => {
    const find = findIn(question('1', 'tide'), question('2', 'tide'), question('3', 'tide'));
    find.look('tide');
    expect(find.at.value).toBe(2);
    find.step(-1);
    expect(find.at.value).toBe(1);
    find.step(1);
    find.step(1);
    expect(find.at.value).toBe(0);
  });

  it('finds nothing for nothing, and while it is closed', () => {
    const find = findIn(question('1', 'tide'));
    find.look('  ');
    expect(find.found.value).toEqual([]);
    find.look('tide');
    find.close();
    expect(find.found.value).toEqual([]);
  });

  it('looks through an answer again when it has ended', () => {
    const running = answer('1', 'The tide', true);
    const find = findIn(running);
    find.look('turns');
    expect(find.found.value).toEqual([]);
    running.parts.value = [createTextPart('text', { text: 'The tide turns', done: true })];
    running.outcome.value = { type: 'done', endedAt: 1 };
    expect(find.found.value).toEqual([0]);
  });
});
