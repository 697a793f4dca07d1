/** How the page reaches the agent: at the endpoint that `VITE_ENDPOINT` names, otherwise in a worker of the page. */

import type { PinnaceUIMessage, ToolsOf } from 'pinnace';
import { createClient } from 'pinnace/transport/client';
import { connectRuntime } from 'pinnace/transport/comlink';
import type { tools } from './agent.ts';

export type Message = PinnaceUIMessage<ToolsOf<typeof tools>>;

const agentId = 'helper';
const { VITE_ENDPOINT: endpoint, VITE_TOKEN: token } = import.meta
  .env as Record<string, string | undefined>;

export const transport = endpoint ? connectEndpoint(endpoint) : connectRuntime(startWorker(), { agentId });

/** The token of `.env` is for development. In production return one for the signed-in user. */
function connectEndpoint(url: string) {
  return createClient({
    url,
    agentId,
    credentials: { bearer: async () => token ?? '' },
  });
}

/**
 * A shared worker outlives a reload of the page where the browser supports that. In development each reload starts a new worker, which
 * has your changes. Bundlers need `new URL` at this place.
 */
function startWorker(): SharedWorker | Worker {
  return import.meta.env.PROD && 'SharedWorker' in globalThis
    ? new SharedWorker(
      new URL('./worker.ts', import.meta.url),
      { type: 'module', extendedLifetime: true } as WorkerOptions,
    )
    : new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
}
