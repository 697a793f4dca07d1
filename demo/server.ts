/** The sample endpoint, for `deno serve` on 127.0.0.1. */

import { staticCatalog } from '../adapters/catalog/static.ts';
import { createDenoEndpoint } from '../adapters/deno.ts';
import { developmentAuthenticator } from '../adapters/transport/development-authenticator.ts';
import { sampleAgents, sampleProviders } from './agents.ts';
import { sampleTools } from './tools/index.ts';

const given = Deno.env.get('PINNACE_TOKEN');
const token = given ?? crypto.randomUUID();
if (given === undefined) console.log(`The token of this endpoint is ${token}`);
const kvPath = Deno.env.get('PINNACE_KV');

const fetch = createDenoEndpoint({
  catalog: staticCatalog({ agents: sampleAgents, providers: sampleProviders }),
  authenticator: () => developmentAuthenticator({ token }),
  tools: (storage) => sampleTools({ storage }),
  ...(kvPath !== undefined && { kvPath }),
});

export default { fetch } satisfies Deno.ServeDefaultExport;
