/** Asks the agent: `npm run ask -- "What is the weather in Oslo?"`. Calls that need an approval are asked for here. */

import process from 'node:process';
import { createInterface } from 'node:readline/promises';
import { isToolUIPart, readUIMessageStream } from 'ai';
import type { PinnaceUIMessage } from 'pinnace';
import { createClient } from 'pinnace/transport/client';

const { PORT = '8000', TOKEN = '' } = process.env;
const client = createClient({
  url: process.env['ENDPOINT'] ?? `http://127.0.0.1:${PORT}`,
  agentId: 'helper',
  credentials: { bearer: async () => TOKEN },
});
const text = process.argv.slice(2).join(' ') || 'What is the weather in Oslo?';
const messages: PinnaceUIMessage[] = [{
  id: crypto.randomUUID(),
  role: 'user',
  parts: [{ type: 'text', text }],
}];
const chatId = crypto.randomUUID();

for (let isAnswered = false; !isAnswered;) {
  const stream = await client.sendMessages({
    trigger: 'submit-message',
    chatId,
    messageId: undefined,
    messages,
    abortSignal: undefined,
  });
  const before = messages.at(-1);
  let answer = before?.role === 'assistant' ? before : undefined;
  for await (
    const message of readUIMessageStream<PinnaceUIMessage>({
      stream,
      ...(answer && { message: answer }),
    })
  ) {
    answer = message;
  }
  if (!answer) break;
  messages.splice(1, Infinity, answer);
  isAnswered = !await decide(answer);
}
console.log(
  messages.at(-1)?.parts.map((part) => part.type === 'text' ? part.text : '')
    .join(''),
);

/** Asks about every call that waits, and writes the decisions into the message. Returns whether there was one. */
async function decide(answer: PinnaceUIMessage): Promise<boolean> {
  let hasDecided = false;
  for (const part of answer.parts) {
    if (!isToolUIPart(part) || part.state !== 'approval-requested') continue;
    const terminal = createInterface({
      input: process.stdin,
      output: process.stdout,
    });
    const reply = await terminal.question(
      `${part.approval.requestReason}\nAllow (y/n)? `,
    );
    terminal.close();
    const approved = /^y/i.test(reply);
    Object.assign(part, {
      state: 'approval-responded',
      approval: { ...part.approval, approved },
    });
    hasDecided = true;
  }
  return hasDecided;
}
