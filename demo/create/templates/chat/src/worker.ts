/** The agent's worker: it runs the agent, calls the model and stores runs in IndexedDB. */

import { createBrowserRuntime } from 'pinnace/browser';
import { staticCatalog } from 'pinnace/catalog/static';
import { consoleErrors } from 'pinnace/console-errors';
import { memorySecrets } from 'pinnace/secrets/memory';
import { exposeRuntime } from 'pinnace/transport/comlink';
import { agents, providers, tools } from './agent.ts';

exposeRuntime(createBrowserRuntime({
  name: 'helper', // the IndexedDB database
  catalog: staticCatalog({ agents, providers }),
  secrets: memorySecrets(),
  tools: () => tools,
  privateOrigins: ['http://127.0.0.1:11434'], // a model server on this computer
  onError: consoleErrors(), // prints causes; remove it in production
}));
