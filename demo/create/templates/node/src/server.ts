/** The endpoint: `npm start`. */

import { createServer } from 'node:http';
import process from 'node:process';
import { staticCatalog } from 'pinnace/catalog/static';
import { createNodeEndpoint, nodeEnvSecrets } from 'pinnace/node';
import { memoryStorage } from 'pinnace/storage/memory';
import { bearerAuthenticator, digestOfToken } from 'pinnace/transport/bearer-authenticator';
import { agents, providers, tools } from './agent.ts';

const { DATABASE_URL: databaseUrl, ORIGINS = '', PORT = '8000', TOKEN } = process.env;
if (!TOKEN) throw new Error('Set TOKEN in .env');
const digest = await digestOfToken(TOKEN);

const endpoint = await createNodeEndpoint({
  catalog: staticCatalog({ agents, providers }),
  tools,
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
  secrets: nodeEnvSecrets({
    origins: { 'model-key': ['https://api.openai.com'] },
  }),
  origins: ORIGINS.split(',').filter(Boolean),
  privateOrigins: ['http://127.0.0.1:11434'], // a model server on this computer
  ...(databaseUrl ? { databaseUrl } : { storage: memoryStorage() }),
});

const server = createServer(endpoint.listener());
server.listen(Number(PORT), '127.0.0.1', () => {
  const address = server.address();
  console.log(
    `http://127.0.0.1:${typeof address === 'object' ? address?.port : PORT}`,
  );
});
