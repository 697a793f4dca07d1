/** Serves the pages of this worker: a dedicated one has one page, a shared one a port for each. */

import { type Endpoint, expose } from 'comlink';
import { listenToTabs } from '../../privacy/state/tabs.ts';
import type { Control } from '../../control/page-control.ts';

/** Exposes the interface. Call it before anything is awaited: the first page connects as soon as the script has run. */
export function exposeControl(control: Control): void {
  if (!('onconnect' in globalThis)) return expose(control);
  globalThis.addEventListener('connect', (event) => {
    const [port] = (event as MessageEvent).ports;
    if (port) expose(control, port satisfies Endpoint);
  });
  // It may outlast its page, which would else end it before the stored data is erased or replaced.
  listenToTabs({ quiet: () => control.close(), reload: () => undefined });
}
