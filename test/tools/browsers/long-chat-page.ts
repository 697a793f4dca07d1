/** Runs in the playground's page: writes a long chat to its chat storage. */

import { openStorage } from '../../../demo/storage/open-storage.ts';
import { createChatStore } from '../../../demo/chat/store/chat-store.ts';
import { createAnswer, createTextPart, createToolPart, type Message } from '../../../demo/chat/state/message.ts';

/** The chat's id in the page's address. */
const chatId = 'long';

async function keepLongChat(count: number): Promise<void> {
  const storage = openStorage('pinnace-playground');
  const messages = Array.from({ length: count }, (_, i) => i % 2 === 0 ? question(i) : answer(i));
  const head = { id: chatId, agentId: 'navigator', title: `${count} messages`, createdAt: 1, updatedAt: Date.now() };
  await createChatStore(storage).save(head, { messages, from: 0 });
  await storage.close();
}

function question(i: number): Message {
  return {
    role: 'user',
    id: `m-${i}`,
    text: `What is the distance of leg ${i}, and how long does it take at ${i % 9 + 1} knots?`,
  };
}

/** Of many lengths, every fifth with a tool call. */
function answer(i: number): Message {
  const message = createAnswer({ id: `m-${i}`, model: 'scripted demo', startedAt: 1 });
  const text = createTextPart('text', { text: textOf(i), done: true });
  message.parts.value = i % 5 === 0 ? [toolCall(i), text] : [text];
  message.outcome.value = { type: 'done', finishReason: 'stop', endedAt: 900 };
  return message;
}

function toolCall(i: number) {
  return createToolPart(`call-${i}`, {
    name: 'calculator',
    dynamic: false,
    state: 'result',
    input: { expression: `${i} * 1.852` },
    output: { value: i * 1.852 },
    startedAt: 1,
    endedAt: 20,
  });
}

const paragraphs = [
  'The leg runs along the **northern shore**, where the stream sets east for `5 hours` after high water.',
  '- Leave before six\n- Keep the buoy to *starboard*\n- Call the harbour on channel 12',
  '```ts\nconst hours = miles / knots;\nconsole.log(hours.toFixed(1));\n```',
  '| port | miles | hours |\n| --- | --: | --: |\n| Northquay | 12 | 2.4 |\n| Heron | 31 | 6.2 |',
  'Nothing is certain at sea: allow a quarter more, and tell somebody ashore when you expect to be in.',
];

function textOf(i: number): string {
  const own = Array.from({ length: i % 7 + 1 }, (_, n) => paragraphs[(i + n) % paragraphs.length]);
  return [`Leg ${i} is ${(i * 37) % 90 + 3} miles.`, ...own].join('\n\n');
}

Object.assign(globalThis, { keepLongChat });
