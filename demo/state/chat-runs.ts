/** Runs in chats: each fills a new answer, and is kept while it goes on. */

import { type Chat, headOf } from './chat.ts';
import type { Schedule } from './frame-queue.ts';
import type { Keeper } from './keeper.ts';
import { createAnswer } from './message.ts';
import { type Run, startRun, type Transport } from './run.ts';
import { toWireMessages } from './wire-messages.ts';

/** What runs need. */
export interface ChatRunsOptions {
  readonly transport: Transport;
  readonly keeper: Keeper;
  /** Names the model in use. */
  readonly modelLabel: () => string;
  readonly now: () => number;
  readonly createId: () => string;
  readonly schedule?: Schedule;
}

/** Starts runs and keeps what they give. */
export interface ChatRuns {
  /** Asks for an answer to the messages of the chat; those from `from` on have not been kept yet. */
  ask(chat: Chat, from: number): void;
  /** Writes the last message of the chat. */
  save(chat: Chat): Promise<void>;
}

/** How often an answer is written while it is streamed. */
export const saveEveryMs = 3000;

/** Gives the runs of chats; one that is not `isKept` any more has been deleted meanwhile. */
export function createChatRuns(options: ChatRunsOptions & { isKept: (chat: Chat) => boolean }): ChatRuns {
  const { keeper, modelLabel, now, createId, isKept } = options;

  function saveFrom(chat: Chat, from: number): Promise<void> {
    return keeper.save(headOf(chat), { messages: chat.messages.value, from });
  }

  function save(chat: Chat): Promise<void> {
    return saveFrom(chat, Math.max(0, chat.messages.value.length - 1));
  }

  /** Keeps the answer while it grows and when it has ended. */
  async function follow(chat: Chat, run: Run): Promise<void> {
    const timer = setInterval(() => void save(chat), saveEveryMs);
    await run.ended;
    clearInterval(timer);
    chat.updatedAt.value = now();
    if (isKept(chat)) await save(chat);
  }

  return {
    save,
    ask(chat, from) {
      const answer = createAnswer({ id: createId(), model: modelLabel(), startedAt: now() });
      const messages = toWireMessages(chat.messages.value);
      chat.messages.value = [...chat.messages.value, answer];
      const run = startRun({ ...options, chatId: chat.id, agentId: chat.agentId.value, messages, answer });
      chat.run.value = run;
      void saveFrom(chat, from);
      void follow(chat, run);
    },
  };
}
