/** A complete endpoint: `deno serve --unstable-kv --allow-net --allow-env --allow-sys deno-endpoint.ts`. */

import { createDenoEndpoint } from 'pinnace/deno';
import { denoEnvSecrets } from 'pinnace/secrets/deno-env';
import { createRegistry, type Registry } from 'pinnace/registry';
import { createAuthenticator } from 'pinnace/transport/authenticator';
import type { ConnectionInfo } from 'pinnace/transport/http';
import { findCabin, giveCabin } from './tool.ts';

/** A setting of the process. */
function setting(name: string, otherwise: string): string {
  return Deno.env.get(name) ?? otherwise;
}

const kvPath = Deno.env.get('KV_PATH'); // a file or a KV server; default: the platform's KV
let prepare = async (): Promise<void> => undefined;

const endpoint = createDenoEndpoint({
  tools: () => [findCabin, giveCabin],
  // `model-key` is read from PINNACE_SECRET_MODEL_KEY and is sent only to these origins
  secrets: denoEnvSecrets({ origins: { 'model-key': ['https://api.example.com'] } }),
  catalog(storage, tools, observability) {
    const registry = createRegistry({ storage, tools, ...observability });
    let prepared: Promise<unknown> | undefined;
    prepare = async () => void await (prepared ??= addFirstRecords(registry));
    return registry;
  },
  authenticator: (storage) =>
    createAuthenticator({
      issuers: JSON.parse(setting('ISSUERS', '[]')), // the public root keys of your chat back end; checked
      audience: setting('AUDIENCE', 'agents'),
      authorities: setting('AUTHORITIES', 'localhost:8000').split(','),
      storage,
    }),
  ...(kvPath !== undefined && { kvPath }),
});

/** Runs once for each storage. Existing records do not change. */
async function addFirstRecords(registry: Registry): Promise<void> {
  if (await registry.agent('purser')) return;
  await registry.providers.register({ id: 'main', kind: 'rehearsal' }); // or openai-compatible, baseUrl, secret: { id: 'model-key' }
  await registry.agents.register({
    id: 'purser',
    name: 'Purser',
    providerId: 'main',
    entryTools: ['cabin_find', 'cabin_give'],
  });
}

export default {
  async fetch(request: Request, connection?: ConnectionInfo): Promise<Response> {
    await prepare();
    return await endpoint(request, connection);
  },
};
