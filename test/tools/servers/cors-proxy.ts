/** Passes requests on to a server on this machine and lets pages of any origin make them and read every header. */

import { createServer, type IncomingMessage, request as callServer, type ServerResponse } from 'node:http';
import { closeServer, corsHeaders, listen, type TestServer } from './http-server.ts';

/** Starts the proxy on 127.0.0.1. A client that leaves takes the server's request with it. */
export async function startCorsProxy(target: string): Promise<TestServer> {
  const server = createServer((request, response) => {
    if (request.method === 'OPTIONS') response.writeHead(204, corsHeaders).end();
    else forward(target, request, response);
  });
  return { url: await listen(server), close: () => closeServer(server) };
}

function forward(target: string, request: IncomingMessage, response: ServerResponse): void {
  const { method, headers, url = '/' } = request;
  const { host: _, ...passed } = headers;
  const upstream = callServer(new URL(url, target), { method, headers: passed }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, { ...answer.headers, ...corsHeaders });
    answer.on('error', () => response.destroy());
    answer.pipe(response);
  });
  upstream.on('error', () => response.headersSent ? response.destroy() : response.writeHead(502, corsHeaders).end());
  response.on('close', () => upstream.destroy());
  request.pipe(upstream);
}
