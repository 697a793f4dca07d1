/** The endpoint: `deno task start`. */

import { staticCatalog } from 'pinnace/catalog/static';
import { createDenoEndpoint } from 'pinnace/deno';
import { denoEnvSecrets } from 'pinnace/secrets/deno-env';
import { bearerAuthenticator, digestOfToken } from 'pinnace/transport/bearer-authenticator';
import { agents, providers, tools } from './agent.ts';

const token = Deno.env.get('TOKEN');
if (!token) throw new Error('Set TOKEN in .env');
const digest = await digestOfToken(token);
const kvPath = Deno.env.get('KV_PATH'); // a file; absent, the database of this script

const handler = createDenoEndpoint({
  catalog: staticCatalog({ agents, providers }),
  tools: () => tools,
  authenticator: () =>
    bearerAuthenticator({
      tokens: [{
        digest,
        tenant: 'development',
        subject: 'developer',
        agents: ['helper'],
        scopes: ['run:create', 'run:read', 'run:cancel', 'tool:approve'],
      }],
    }),
  // `model-key` is PINNACE_SECRET_MODEL_KEY, and goes to these origins only
  secrets: denoEnvSecrets({
    origins: { 'model-key': ['https://api.openai.com'] },
  }),
  origins: (Deno.env.get('ORIGINS') ?? '').split(',').filter(Boolean),
  privateOrigins: ['http://127.0.0.1:11434'], // a model server on this computer
  ...(kvPath && { kvPath }),
});

export default { fetch: handler };
