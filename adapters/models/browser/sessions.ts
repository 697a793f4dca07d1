/** Conversations with the browser's model that are continued instead of being read again. */

import type { PromptApi, PromptMessage, PromptSession, PromptSessionOptions } from './prompt-api.ts';

/** A conversation, and the messages that it has not read yet. */
export interface TakenSession {
  readonly session: PromptSession;
  readonly rest: readonly PromptMessage[];
  readonly isContinued: boolean;
}

export interface Sessions {
  take(messages: readonly PromptMessage[], signal: AbortSignal): Promise<TakenSession>;
  keep(session: PromptSession, messages: readonly PromptMessage[]): void;
  close(): void;
}

/** Each holds memory of the model. */
const mostKept = 2;

export function createSessions(api: PromptApi, options: PromptSessionOptions): Sessions {
  let kept: readonly { readonly session: PromptSession; readonly read: readonly string[] }[] = [];
  return {
    async take(messages, signal) {
      const keys = messages.map(keyOf);
      const [best] = kept.filter(({ read }) => read.length < keys.length && read.every((key, i) => key === keys[i]))
        .toSorted((a, b) => b.read.length - a.read.length);
      if (best) {
        kept = kept.filter((one) => one !== best);
        return { session: best.session, rest: messages.slice(best.read.length), isContinued: true };
      }
      const initialPrompts = messages.slice(0, -1);
      const session = await api.create({ ...options, signal, ...(initialPrompts.length > 0 && { initialPrompts }) });
      return { session, rest: messages.slice(-1), isContinued: false };
    },
    keep(session, messages) {
      const all = [...kept, { session, read: messages.map(keyOf) }];
      for (const old of all.slice(0, -mostKept)) old.session.destroy();
      kept = all.slice(-mostKept);
    },
    close() {
      for (const { session } of kept) session.destroy();
      kept = [];
    },
  };
}

function keyOf({ role, content }: PromptMessage): string {
  return `${role} ${content}`;
}
