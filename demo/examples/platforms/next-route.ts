/** A route of Next.js, at `app/api/agents/[...path]/route.ts`. State is in PostgreSQL at `DATABASE_URL`. */

import process from 'node:process';
import { createNodeEndpoint } from 'pinnace/node';
import { memoryStorage } from 'pinnace/storage/memory';
import { endpointOptions } from './endpoint-options.ts';

export const runtime = 'nodejs'; // of Next.js: not its edge runtime
export const dynamic = 'force-dynamic';
export const maxDuration = 300;

const { TOKEN = '', DATABASE_URL } = process.env;

async function create() {
  return await createNodeEndpoint({
    ...await endpointOptions(TOKEN),
    basePath: '/api/agents',
    exitOnStop: false, // Next.js ends the process
    ...(DATABASE_URL === undefined && { storage: memoryStorage() }),
  });
}

/** One endpoint per process: Next.js loads modules again when they change in development. */
const shared = globalThis as { agentsEndpoint?: ReturnType<typeof create> };

async function handle(request: Request): Promise<Response> {
  const { handler } = await (shared.agentsEndpoint ??= create());
  return await handler(request);
}

export { handle as DELETE, handle as GET, handle as PATCH, handle as POST, handle as PUT };
