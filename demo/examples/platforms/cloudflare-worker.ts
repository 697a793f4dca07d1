/** An endpoint on Cloudflare Workers. The runtime lives in one Durable Object per tenant, so that runs outlive requests. */

import { createRuntime } from 'pinnace';
import { modelSource } from 'pinnace/models/source';
import { memorySecrets } from 'pinnace/secrets/memory';
import { durableObjectStorage, type DurableObjectStorageOptions } from 'pinnace/storage/durable-object';
import { createHandler, type Handler } from 'pinnace/transport/http';
import { endpointOptions } from './endpoint-options.ts';

interface Env {
  readonly TOKEN: string;
  readonly AGENTS: {
    idFromName(name: string): unknown;
    get(id: unknown): { fetch(request: Request): Promise<Response> };
  };
}

/** A Durable Object: its requests share one process and one database, in which the runs are. */
export class Agents {
  readonly #handler: Promise<Handler>;

  constructor({ storage }: DurableObjectStorageOptions, env: Env) {
    this.#handler = createAgents({ storage }, env);
  }

  async fetch(request: Request): Promise<Response> {
    return await (await this.#handler)(request);
  }
}

async function createAgents(state: DurableObjectStorageOptions, { TOKEN }: Env): Promise<Handler> {
  const { catalog, tools, authenticator } = await endpointOptions(TOKEN);
  // Workers forbid what this module does when it loads, except inside a request.
  const { browserEgress } = await import('pinnace/egress/browser');
  const egress = browserEgress();
  const runtime = createRuntime({
    catalog,
    tools,
    egress,
    models: modelSource({ egress }),
    secrets: memorySecrets(),
    storage: durableObjectStorage(state),
  });
  return createHandler(runtime, { authenticator: authenticator(), keepAliveMs: 10_000 });
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    return await env.AGENTS.get(env.AGENTS.idFromName('acme')).fetch(request);
  },
};
