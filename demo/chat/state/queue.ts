/** Messages that a person sends while an answer is written: for the running agent, or else the next message of the chat. */

import { effect, untracked } from '@preact/signals';
import { type Chat, isRunning, type QueuedMessage } from './chat.ts';
import type { Written } from '../../files/state/attached-file.ts';
import type { AssistantMessage, Message } from './message.ts';
import type { Transport } from './run.ts';

interface QueueOptions {
  readonly createId: () => string;
  readonly transports: { to(endpoint: string | undefined): Transport };
  /** Sends the next message of the chat. */
  readonly send: (chat: Chat, written: Written) => void;
}

/** Hands a message to the agent that answers, which takes no files while it works. What the agent has not read when its answer ends, becomes the next message. */
export function queueMessage(
  chat: Chat,
  { text, files = [] }: Written,
  { createId, transports, send }: QueueOptions,
): void {
  const answer = runningAnswer(chat.messages.value);
  const runId = files.length > 0 ? undefined : answer?.facts.value.run?.runId;
  const message: QueuedMessage = { id: createId(), text, files, state: runId === undefined ? 'next' : 'sending' };
  const isFirst = chat.queued.value.length === 0;
  chat.queued.value = [...chat.queued.value, message];
  if (isFirst) whenIdle(chat, () => sendRest(chat, send));
  if (!answer || runId === undefined) return;
  const mark = (state: QueuedMessage['state']): void => {
    chat.queued.value = chat.queued.value.map((queued) => queued.id === message.id ? { ...queued, state } : queued);
  };
  const sending = transports.to(answer.via).send(runId, { id: message.id, parts: [{ type: 'text', text }] });
  sending.then(() => mark('sent'), () => mark('next'));
}

/** What the agent has not read yet. */
export function unread({ queued, messages }: Chat): readonly QueuedMessage[] {
  if (queued.value.length === 0) return queued.value;
  const answers = messages.value.flatMap((message) => message.role === 'assistant' ? message.parts.value : []);
  const read = new Set(answers.flatMap((part) => part.type === 'steering' ? [part.id] : []));
  return queued.value.filter(({ id }) => !read.has(id));
}

/** An answer that a person stopped, that failed or that waits is not simply answered: the text then goes back into the composer. */
function sendRest(chat: Chat, send: QueueOptions['send']): void {
  const rest = unread(chat);
  const text = rest.map((message) => message.text).filter((each) => each !== '').join('\n\n');
  const files = rest.flatMap((message) => message.files ?? []);
  chat.queued.value = [];
  if (rest.length === 0) return;
  const last = chat.messages.value.at(-1);
  if (last?.role === 'assistant' && last.outcome.value.type === 'done') return send(chat, { text, files });
  chat.draft.value = [text, chat.draft.value].filter((each) => each.trim() !== '').join('\n\n');
  chat.attached.value = [...files, ...chat.attached.value];
}

/** Calls back in a turn after the end: an answer of another tab ends before the messages of that tab are taken in. */
function whenIdle(chat: Chat, then: () => void): void {
  let isOver = false;
  const stop = effect(() => {
    if (isOver || isRunning(chat)) return;
    isOver = true;
    setTimeout(() => {
      stop();
      if (untracked(() => isRunning(chat))) whenIdle(chat, then);
      else then();
    });
  });
}

function runningAnswer(messages: readonly Message[]): AssistantMessage | undefined {
  return messages.findLast((message) => message.role === 'assistant' && message.outcome.value.type === 'running') as
    | AssistantMessage
    | undefined; // as the condition says
}
