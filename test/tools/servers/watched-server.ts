/** A server that counts who comes: for code that must reach nobody. */

import { createServer } from 'node:http';
import { closeServer, corsHeaders, listen, type TestServer } from './http-server.ts';

/** Starts the server on 127.0.0.1. It answers every path; `GET /count?path=/x` tells how many requests there were for `/x`. */
export async function startWatchedServer(): Promise<TestServer> {
  const counts = new Map<string, number>();
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
    response.writeHead(200, corsHeaders);
    const asked = pathname === '/count' ? searchParams.get('path') ?? '' : pathname;
    if (asked === pathname) counts.set(pathname, (counts.get(pathname) ?? 0) + 1);
    response.end(String(counts.get(asked) ?? 0));
  });
  return { url: await listen(server), close: () => closeServer(server) };
}
