/** The stored chats of a runtime, as their owners see them. Types only. */

import type { UIMessage } from '../../contracts/ai-types.ts';
import type { Page, PageOptions } from '../../base/page.ts';
import type { Principal } from '../../base/principal.ts';
import type { CallerTrace } from '../runtime-options.ts';

/** A stored chat without its messages. */
export interface ChatSummary {
  readonly chatId: string;
  /** From the first message until a rename. Text from users: show it as text. */
  readonly title: string;
  /** Counts renames; a rename names the version that it has seen. */
  readonly version: number;
  /** The agents that have answered in it. */
  readonly agentIds: readonly string[];
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** When the last run was started. */
  readonly updatedAt: number;
}

/** A stored chat with one page of its messages, the oldest first. */
export interface StoredChat extends ChatSummary {
  readonly messages: readonly UIMessage[];
  /** The run that writes the next message. */
  readonly runId?: string;
  readonly nextPageToken?: string;
}

/** What a delete has removed. */
export interface DeletedChat {
  readonly messages: number;
  /** Logs of runs that have ended. */
  readonly runs: number;
  /** Runs that were under way: they were asked to stop, and their logs expire with `Limits.retentionMs`. */
  readonly running: number;
}

/** Whose chats: those of the caller, or with the scope `admin` those of another subject of its tenant. */
export interface ChatOwner {
  readonly subject?: string | undefined;
}

/** Options of a change. */
export interface ChatChange extends ChatOwner {
  readonly trace?: CallerTrace;
}

/**
 * The chats that requests with `chat.store` have stored. A chat belongs to the subject that started it: for all others it does not
 * exist, except for principals of its tenant with the scope `admin` that name the subject.
 */
export interface Chats {
  /**
   * Lists chats, the one with the newest run first. A chat that gets a run meanwhile moves to the front.
   *
   * Rejects with `invalid_argument` for a wrong limit or page token, `forbidden` for another subject without the scope `admin`.
   *
   * @example
   * const { items, nextPageToken } = await runtime.chats.list(principal, { limit: 20 });
   */
  list(principal: Principal, options?: ChatOwner & PageOptions): Promise<Page<ChatSummary>>;
  /** Returns a chat with up to `limit` messages (200). Rejects with `not_found`, and as `list`. */
  get(chatId: string, principal: Principal, options?: ChatOwner & PageOptions): Promise<StoredChat>;
  /**
   * Sets the title: 1 to 200 characters in one line, without control and format characters.
   *
   * Rejects with `conflict` when another rename came between (`version_mismatch`), `not_found`, `invalid_argument`, and as `guard` does.
   */
  rename(
    chatId: string,
    change: { readonly title: string; readonly version: number },
    principal: Principal,
    options?: ChatChange,
  ): Promise<ChatSummary>;
  /**
   * Deletes a chat with its messages and the logs of its runs, and cancels a run under way, if the caller may. Deleting an unknown chat
   * removes nothing. A delete that was interrupted is completed by the next one, or by the next request of the chat.
   */
  delete(chatId: string, principal: Principal, options?: ChatChange): Promise<DeletedChat>;
}
