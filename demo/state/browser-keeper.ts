/** Keeps the page's chats in IndexedDB. A chunk of its own: it is fetched while the worker starts. */

import { indexedDbStorage } from '../../adapters/storage/indexeddb.ts';
import { createKeeper, type Keeper } from './keeper.ts';

/** Gives the keeper of this browser. It opens nothing before it is used. */
export function createBrowserKeeper(): Keeper {
  return createKeeper(indexedDbStorage({ name: 'pinnace-playground' }));
}
