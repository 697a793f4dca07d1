import { expect, it } from 'vitest';
import { connectWorker, createChat } from '../../demo/examples/chat-page.ts';

it('the example of a page chats with the agent in the worker of the examples', async () => {
  const drawn: string[] = [];
  const chat = createChat(connectWorker(), () => void drawn.push('again'));
  await chat.sendMessage({ text: '/cabin_find {"cabin": "1"}' }, { body: { agentId: 'purser' } });
  expect(chat.error).toBeUndefined();
  expect(JSON.stringify(chat.lastMessage?.parts)).toContain('"guest":"Ada"');
  expect(drawn.length).toBeGreaterThan(1);
});
