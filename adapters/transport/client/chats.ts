/** The stored chats of an endpoint or of a worker. */

import type { Page, PageOptions } from '../../../src/base/page.ts';
import type { CallOptions } from './call-options.ts';
import type { CallRoute } from './registry.ts';
import { queryOf } from './query.ts';
import type { ChatOwner, ChatSummary, DeletedChat, StoredChat } from '../../../src/runtime/chat-record.ts';

/** The stored chats of the caller; with the scope `admin`, `subject` names another one of the tenant. */
export interface RemoteChats {
  /** Lists chats, the newest first. */
  list(options?: CallOptions & ChatOwner & PageOptions): Promise<Page<ChatSummary>>;
  /** Returns a chat with up to `limit` messages (200), the oldest first. Rejects with `not_found`. */
  get(chatId: string, options?: CallOptions & ChatOwner & PageOptions): Promise<StoredChat>;
  /** Sets the title. Rejects with `conflict` (`version_mismatch`) when another rename came between. */
  rename(
    chatId: string,
    change: { readonly title: string; readonly version: number },
    options?: CallOptions & ChatOwner,
  ): Promise<ChatSummary>;
  /** Deletes a chat with its messages and the logs of its runs. Deleting an unknown chat removes nothing. */
  delete(chatId: string, options?: CallOptions & ChatOwner): Promise<DeletedChat>;
}

type Summary = Omit<ChatSummary, 'createdAt' | 'updatedAt'> & {
  readonly createdAt: string;
  readonly updatedAt: string;
};

/** Creates the stored chats of a remote endpoint. */
export function createRemoteChats(callRoute: CallRoute): RemoteChats {
  const call = async <T>(
    method: string,
    path: string,
    { signal = new AbortController().signal, ...more }: CallOptions & {
      readonly body?: unknown;
      readonly ifMatch?: number;
    },
  ): Promise<T> => await callRoute({ method, path, signal, ...more }) as T; // the endpoint's schemas say what it returns
  const pathOf = (chatId: string): string => `/v1/chats/${encodeURIComponent(chatId)}`;
  return {
    async list({ signal, ...query } = {}) {
      const { items, ...page } = await call<Page<Summary>>('GET', `/v1/chats${queryOf(query)}`, { signal });
      return { items: items.map(withTimes), ...page };
    },
    async get(chatId, { signal, ...query } = {}) {
      const path = `${pathOf(chatId)}${queryOf(query)}`;
      return withTimes(await call<Omit<StoredChat, keyof Summary> & Summary>('GET', path, { signal }));
    },
    async rename(chatId, { title, version }, { signal, ...query } = {}) {
      const given = { signal, ifMatch: version, body: { title } };
      return withTimes(await call<Summary>('PATCH', `${pathOf(chatId)}${queryOf(query)}`, given));
    },
    delete: async (chatId, { signal, ...query } = {}) =>
      await call<DeletedChat>('DELETE', `${pathOf(chatId)}${queryOf(query)}`, { signal }),
  };
}

function withTimes<T extends Summary>(
  { createdAt, updatedAt, ...chat }: T,
): Omit<T, 'createdAt' | 'updatedAt'> & Pick<ChatSummary, 'createdAt' | 'updatedAt'> {
  return { ...chat, createdAt: Date.parse(createdAt), updatedAt: Date.parse(updatedAt) };
}
