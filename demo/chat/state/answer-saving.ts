/** Stores answers while they are written and when they have ended. */

import { computed, effect, untracked } from '@preact/signals';
import type { ChatStore } from './chat-storage.ts';
import type { Saved } from './chat-storage.ts';
import { planOf } from './plan.ts';
import { type Chat, headOf } from './chat.ts';
import type { AssistantMessage, Message } from './message.ts';
import type { Run } from './run.ts';

/** How often an answer is written while it is streamed. */
export const saveEveryMs = 3000;

/** Stores the messages of chats. */
export interface AnswerSaving {
  /** Writes the messages from one index to another. `dropped` is the id of a message to remove. */
  saveFrom(chat: Chat, what: { from: number; to?: number; dropped?: string | undefined }): Promise<void>;
  /** Writes one message, or the last one. */
  save(chat: Chat, message?: Message): Promise<void>;
  /** Stores the answer while it grows and when it has ended. */
  follow(chat: Chat, answer: AssistantMessage, run: Run): Promise<void>;
  /** Whether the answer is being written here and is not fully stored yet. */
  readonly isOurs: (answerId: string) => boolean;
}

interface AnswerSavingOptions {
  readonly chatStore: ChatStore;
  readonly now: () => number;
  readonly isStored: (chat: Chat) => boolean;
  readonly onSaved: (chat: Chat, saved: Saved) => Promise<void>;
}

/** Creates the storing of answers. */
export function createAnswerSaving({ chatStore, now, isStored, onSaved }: AnswerSavingOptions): AnswerSaving {
  const ours = new Map<string, Run>();

  const saveFrom: AnswerSaving['saveFrom'] = async (chat, what) =>
    await onSaved(chat, await chatStore.save(headOf(chat), { messages: chat.all.value, ...what }));

  function save(chat: Chat, message?: Message): Promise<void> {
    const found = chat.all.value.lastIndexOf(message ?? chat.messages.value.at(-1) as Message); // -1 without one
    return saveFrom(chat, { from: Math.max(0, found), to: found + 1 });
  }

  return {
    saveFrom,
    save,
    isOurs: (answerId) => ours.has(answerId),
    async follow(chat, answer, run) {
      ours.set(answer.id, run);
      const timer = setInterval(() => void save(chat, answer), saveEveryMs);
      const ids = computed(() => [answer.facts.value.run?.runId, planOf(answer)?.planId].join(' ').trim());
      // Runs and plans may go on without the page: their ids must not be lost with a page that is closed in its first seconds.
      const stopWatching = effect(() => {
        if (ids.value !== '') untracked(() => void save(chat, answer));
      });
      await run.ended;
      clearInterval(timer);
      stopWatching();
      chat.updatedAt.value = now();
      if (isStored(chat)) await save(chat, answer);
      if (ours.get(answer.id) === run) ours.delete(answer.id);
    },
  };
}
