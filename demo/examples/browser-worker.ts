/** The agent of a page, in a Web Worker: its state stays in the browser, its models are reached from there. */

import { createBrowserRuntime } from 'pinnace/browser';
import { staticCatalog } from 'pinnace/catalog/static';
import { memorySecrets } from 'pinnace/secrets/memory';
import { exposeRuntime } from 'pinnace/transport/comlink';
import { findCabin, giveCabin } from './tool.ts';

const catalog = staticCatalog({
  agents: [{ id: 'purser', name: 'Purser', providerId: 'main', entryTools: ['cabin_find', 'cabin_give'] }],
  providers: [{ id: 'main', kind: 'rehearsal' }],
});

// The holder of the page's end of the port is the local principal.
exposeRuntime(createBrowserRuntime({
  name: 'cabins', // of the IndexedDB database
  catalog,
  secrets: memorySecrets(),
  tools: () => [findCabin, giveCabin],
}));
