/** Keeps the page's chats in IndexedDB. A chunk of its own: it is fetched while the worker starts. */

import { openKept } from '../../storage/open-kept.ts';
import { browserTabs } from './chat-tabs.ts';
import { createKeeper, type Keeper } from './keeper.ts';

/** The keeper, and its end: then nothing more is written. */
interface ClosableKeeper extends Keeper {
  close(): Promise<void>;
}

/** Creates the keeper of this browser. It opens nothing before it is used. */
export function createBrowserKeeper(): ClosableKeeper {
  const storage = openKept('pinnace-playground');
  // A page of plain http has no locks: what another tab writes there is shown as it was written last.
  const { locks } = navigator as Partial<Navigator>;
  const keeper = createKeeper(storage, browserTabs(new BroadcastChannel('pinnace-chats'), locks));
  return {
    ...keeper,
    async close() {
      keeper.tabs.close();
      await storage.close();
    },
  };
}
