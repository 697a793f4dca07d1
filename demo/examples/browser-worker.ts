/** An agent in a Web Worker: it stores its state in the browser and calls models from there. */

import { createBrowserRuntime } from 'pinnace/browser';
import { staticCatalog } from 'pinnace/catalog/static';
import { memorySecrets } from 'pinnace/secrets/memory';
import { exposeRuntime } from 'pinnace/transport/comlink';
import { findCabin, giveCabin } from './tool.ts';

const catalog = staticCatalog({
  agents: [{ id: 'purser', name: 'Purser', providerId: 'main', entryTools: ['cabin_find', 'cabin_give'] }],
  providers: [{ id: 'main', kind: 'rehearsal' }],
});

// Every caller on this port is the local principal.
exposeRuntime(createBrowserRuntime({
  name: 'cabins', // the IndexedDB database
  catalog,
  secrets: memorySecrets(),
  tools: () => [findCabin, giveCabin],
}));
