/** An endpoint on Bun: `bun run bun-server.ts`. State is in PostgreSQL at `DATABASE_URL`. */

import process from 'node:process';
import { createNodeEndpoint } from 'pinnace/node';
import { memoryStorage } from 'pinnace/storage/memory';
import { endpointOptions } from './endpoint-options.ts';

const { TOKEN = '', PORT = '8000', DATABASE_URL } = process.env;
const endpoint = await createNodeEndpoint({
  ...await endpointOptions(TOKEN),
  ...(DATABASE_URL === undefined && { storage: memoryStorage() }), // for a trial: it ends with the process
});

export default {
  port: Number(PORT),
  hostname: '127.0.0.1',
  idleTimeout: 60, // seconds; Bun closes streams that are silent for 10 s, and the endpoint sends a comment every 15 s
  fetch: endpoint.handler,
};
