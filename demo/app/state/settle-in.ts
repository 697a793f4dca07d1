/** What the page does once it is there and idle. */

import { keepOffline } from '../../offline/state/keep-offline.ts';
import { listenToTabs } from '../../privacy/state/tabs.ts';
import type { Playground } from './playground.ts';

/** Listens to other tabs and installs the service worker. */
export async function settleIn({ offline, privacy }: Playground): Promise<void> {
  listenToTabs({ quiet: privacy.quiet, reload: () => location.replace(location.pathname + location.search) });
  if (import.meta.env.PINNACE_OFFLINE) await keepOffline(offline);
}
