/** The stored chats of a worker, as its page calls them. */

import { PinnaceError } from '../../../src/base/errors.ts';
import type { Principal } from '../../../src/base/principal.ts';
import type { RemoteChats } from '../client/chats.ts';
import type { Chats } from '../../../src/runtime/chat-record.ts';

/** A call on its way to the worker: the method, its first arguments, and its options without the signal. */
export type ChatCall = {
  [Method in keyof RemoteChats]: readonly [method: Method, ...args: Parameters<RemoteChats[Method]>];
}[keyof RemoteChats];

/** Calls a method of the stored chats. The principal is that of the port, whatever the page passes. */
export async function callChats(chats: Chats | undefined, principal: Principal, call: ChatCall): Promise<unknown> {
  if (!chats) throw new PinnaceError('unavailable', 'Cannot read chats: the runtime stores none', { retryable: false });
  switch (call[0]) {
    case 'list':
      return await chats.list(principal, call[1]);
    case 'get':
      return await chats.get(call[1], principal, call[2]);
    case 'rename':
      return await chats.rename(call[1], call[2], principal, call[3]);
    case 'delete':
      return await chats.delete(call[1], principal, call[2]);
    default:
      call satisfies never;
      throw new PinnaceError('invalid_argument', 'Cannot call the stored chats: the method is unknown');
  }
}

/** Returns the stored chats of a worker. Signals stay on this side. */
export function workerChats(send: (call: ChatCall) => Promise<unknown>): RemoteChats {
  const call = async (...given: ChatCall): Promise<never> => await send(given) as never; // what the method of this name returns
  return {
    list: ({ signal: _, ...query } = {}) => call('list', query),
    get: (chatId, { signal: _, ...query } = {}) => call('get', chatId, query),
    rename: (chatId, change, { signal: _, ...query } = {}) => call('rename', chatId, change, query),
    delete: (chatId, { signal: _, ...query } = {}) => call('delete', chatId, query),
  };
}
