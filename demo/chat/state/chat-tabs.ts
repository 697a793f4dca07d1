/** Messages about chats between the tabs of one browser. */

/** `saved`: the head, and messages from this index on; `stop`: the tab that writes the answer must stop; `agents`: they have changed. */
export type ChatNews =
  | { readonly type: 'saved'; readonly chatId: string; readonly from: number }
  | { readonly type: 'removed'; readonly chatId: string }
  | { readonly type: 'stop'; readonly chatId: string }
  | { readonly type: 'agents' };

/** The other tabs. */
export interface ChatTabs {
  emit(news: ChatNews): void;
  subscribe(onNews: (news: ChatNews) => void): void;
  /** Lets other tabs see that this one is writing the answer, until that has ended. */
  hold(answerId: string, ended: Promise<unknown>): void;
  /** Whether a tab is writing the answer. */
  isHeld(answerId: string): Promise<boolean>;
  /** Resolves when no tab writes the answer: it has ended, or the tab is closed. */
  released(answerId: string): Promise<void>;
  close(): void;
}

/** For a page that is by itself. */
export const noTabs: ChatTabs = {
  emit: () => undefined,
  subscribe: () => undefined,
  hold: () => undefined,
  isHeld: () => Promise.resolve(false),
  released: () => Promise.resolve(),
  close: () => undefined,
};

const lockOf = (answerId: string): string => `pinnace answer ${answerId}`;

/** Returns the other tabs of this browser: news over a broadcast channel, and a lock for each answer that is being written. */
export function browserTabs(
  channel: Pick<BroadcastChannel, 'postMessage' | 'addEventListener' | 'close'>,
  locks: Pick<LockManager, 'request' | 'query'> | undefined,
): ChatTabs {
  return {
    emit: (news) => channel.postMessage(news),
    subscribe: (onNews) => channel.addEventListener('message', ({ data }: MessageEvent<ChatNews>) => onNews(data)),
    hold: (answerId, ended) => void locks?.request(lockOf(answerId), () => ended),
    async isHeld(answerId) {
      const { held = [] } = await locks?.query() ?? {};
      return held.some(({ name }) => name === lockOf(answerId));
    },
    released: async (answerId) => await locks?.request(lockOf(answerId), () => undefined),
    close: () => channel.close(),
  };
}
