/** What the page does once it is there and idle. */

import { modelContext } from '../../../adapters/webmcp/model-context.ts';
import { keepOffline } from '../../offline/state/keep-offline.ts';
import { listenToTabs } from '../../privacy/state/tabs.ts';
import type { Playground } from './playground.ts';

/** Listens to other tabs, gives the worker the page's tools and installs the service worker. */
export async function settleIn({ offline, quiet, webmcp }: Playground): Promise<void> {
  listenToTabs({ quiet, reload: () => location.replace(location.pathname + location.search) });
  const pageTools = modelContext() && import('../../webmcp/state/page-tools.ts');
  await pageTools?.then(({ connectPageTools }) => connectPageTools(webmcp)).catch(() => undefined); // the server of the page is unavailable then
  if (import.meta.env.PINNACE_OFFLINE) await keepOffline(offline);
}
