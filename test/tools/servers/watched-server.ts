/** A server that counts requests, for code that must not send any. */

import { createServer } from 'node:http';
import { closeServer, corsHeaders, listen, type TestServer } from './http-server.ts';

/** Starts the server on 127.0.0.1. It answers every path; `GET /count?path=/x` returns the number of requests for `/x`. */
export async function startWatchedServer(): Promise<TestServer> {
  const counts = new Map<string, number>();
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
    response.writeHead(200, corsHeaders);
    const counted = pathname === '/count' ? searchParams.get('path') ?? '' : pathname;
    if (counted === pathname) counts.set(pathname, (counts.get(pathname) ?? 0) + 1);
    response.end(String(counts.get(counted) ?? 0));
  });
  return { url: await listen(server), close: () => closeServer(server) };
}
