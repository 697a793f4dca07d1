/** Keeps the page's chats in IndexedDB. A chunk of its own: it is fetched while the worker starts. */

import { indexedDbStorage } from '../../adapters/storage/indexeddb.ts';
import { createKeeper, type Keeper } from './keeper.ts';

/** The keeper, and its end: then nothing more is written. */
interface ClosableKeeper extends Keeper {
  close(): Promise<void>;
}

/** Gives the keeper of this browser. It opens nothing before it is used. */
export function createBrowserKeeper(): ClosableKeeper {
  const storage = indexedDbStorage({ name: 'pinnace-playground' });
  return { ...createKeeper(storage), close: () => storage.close() };
}
