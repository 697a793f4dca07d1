/** Sends a person's messages: new ones, edited ones, and the last one again. */

import { signal } from '@preact/signals';
import { queueMessage } from './queue.ts';
import type { Drafts } from './drafts.ts';
import { type AttachedFile, hasFiles, type Written } from '../../files/state/attached-file.ts';
import { parentOf } from './branches.ts';
import { afterLast, append, type Chat, isRunning, titleOf } from './chat.ts';
import type { ChatRuns, ChatRunsOptions } from './chat-runs.ts';
import type { ChatShelf } from './chat-shelf.ts';
import type { AssistantMessage } from './message.ts';

/** Sends messages in chats. `Chats` describes what each does. */
export interface Sending {
  send(chat: Chat, text: string, files: readonly AttachedFile[]): void;
  retry(chat: Chat): void;
  edit(chat: Chat, messageId: string, text: string): void;
  removeFiles(chat: Chat): void;
  /** Puts back what was written in a chat and not sent, once. */
  restoreDraft(chat: Chat): void;
}

interface SendingOptions extends ChatRunsOptions {
  readonly shelf: ChatShelf;
  readonly runs: ChatRuns;
  readonly drafts: Drafts | undefined;
}

/** Creates what sends messages. */
export function createSending({ shelf, runs, drafts, ...options }: SendingOptions): Sending {
  const { now, createId } = options;

  /** Adds a person's message, and requests its answer. */
  function add(chat: Chat, { text, files = [] }: Written, after: string | undefined): void {
    chat.updatedAt.value = now();
    const from = chat.all.value.length;
    append(chat, {
      role: 'user',
      id: createId(),
      text,
      ...(files.length > 0 && { files: signal(files) }),
      ...(after !== undefined && { after }),
    });
    runs.ask(chat, from);
  }

  function sendNow(chat: Chat, { text, files = [] }: Written): void {
    if (!shelf.find(chat.id)) {
      chat.title.value = titleOf(text === '' ? files[0]?.name ?? '' : text);
      shelf.add(chat);
    }
    if (runs.dismiss(chat)) void runs.save(chat);
    add(chat, { text, files }, afterLast(chat));
  }

  /** Sends what an answer has not taken, unless its chat was deleted meanwhile. */
  function sendNext(chat: Chat, written: Written): void {
    if (shelf.find(chat.id)) sendNow(chat, written);
  }

  const sending: Sending = {
    send(chat, text, files) {
      if ((text.trim() === '' && files.length === 0) || chat.loaded.value !== 'ready') return;
      const written = { text: text.trim(), files };
      if (isRunning(chat)) queueMessage(chat, written, { ...options, send: sendNext });
      else sendNow(chat, written);
    },
    retry(chat) {
      const last = chat.messages.value.at(-1);
      if (!last || !isReady(chat) || runs.goOn(chat)) return;
      if (last.role === 'user') return runs.ask(chat, chat.all.value.length);
      if (isWorthKeeping(last)) {
        return runs.ask(chat, chat.all.value.length, { after: parentOf(chat.all.value, last.id) });
      }
      chat.all.value = chat.all.value.filter((message) => message !== last);
      runs.ask(chat, chat.all.value.length, { after: last.after, dropped: last.id });
    },
    edit(chat, messageId, text) {
      const edited = chat.messages.value.find(({ id }) => id === messageId);
      if (edited?.role !== 'user' || !isReady(chat) || (text.trim() === '' && !edited.files)) return;
      if (runs.dismiss(chat)) void runs.save(chat);
      add(chat, { text: text.trim(), files: edited.files?.value }, parentOf(chat.all.value, messageId));
    },
    removeFiles(chat) {
      if (!isReady(chat)) return;
      for (const message of chat.messages.value) {
        if (message.role !== 'user' || !message.files || !hasFiles(message)) continue;
        message.files.value = message.files.value.map((file) => ({ ...file, isRemoved: true }));
        void runs.save(chat, message);
      }
      const question = chat.messages.value.findLast(({ role }) => role === 'user');
      if (question?.role === 'user' && question.text !== '') sending.retry(chat);
    },
    restoreDraft(chat) {
      const waiting = drafts?.restore(chat) ?? [];
      if (!isRunning(chat)) return appendToDraft(chat, waiting.map(({ text }) => text));
      for (const { id, text } of waiting) {
        queueMessage(chat, { text }, { ...options, createId: () => id, send: sendNext });
      }
    },
  };
  return sending;
}

/** Whether the chat is read and nothing is written in it. */
export function isReady(chat: Chat): boolean {
  return chat.loaded.value === 'ready' && !isRunning(chat);
}

/** Puts messages whose answer has ended back into the composer. */
function appendToDraft(chat: Chat, texts: readonly string[]): void {
  if (texts.length === 0) return;
  chat.draft.value = [...texts, chat.draft.value].filter((text) => text.trim() !== '').join('\n\n');
}

/** Whether the answer says or has done something. */
function isWorthKeeping({ parts, outcome }: AssistantMessage): boolean {
  return outcome.value.type === 'done' || parts.value.some(({ type }) => type !== 'step');
}
