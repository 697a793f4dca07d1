/** Searches the stored chats, in a worker that starts with the first search. */

import { type Remote, wrap } from 'comlink';
import type { Storage } from '../../../src/contracts/storage.ts';
import { ownScript } from '../../control/trusted.ts';
import type { ChatIndex } from './chat-index.ts';
import type { ChatHit } from '../state/chat-storage.ts';
// oxlint-disable-next-line import/default -- Vite makes this module: it exports the address
import workerUrl from './search-worker.ts?worker&url';

/** The most chats that are returned. */
const mostHits = 8;

let worker: Remote<ChatIndex> | undefined;
const here = new WeakMap<Storage, ChatIndex>();

/** Returns the chats that fit best. Where there are no workers, the page searches by itself. */
export async function searchChats(
  storage: Storage,
  query: string,
  { signal }: { readonly signal: AbortSignal },
): Promise<readonly ChatHit[]> {
  if (query.trim() === '' || signal.aborted) return [];
  if (typeof Worker === 'function') {
    worker ??= wrap<ChatIndex>(new Worker(ownScript(workerUrl), { type: 'module', name: 'search' }));
    return await worker.search(query, mostHits);
  }
  const { createChatIndex } = await import('./chat-index.ts');
  const index = here.get(storage) ?? createChatIndex(storage);
  here.set(storage, index);
  return await index.search(query, mostHits);
}
