/** A proxy that adds a bearer token and changes nothing else: for test clients that cannot send one. */

import { createServer, request } from 'node:http';
import { closeServer, listen, type TestServer } from './http-server.ts';

/** Starts the proxy on a free port of 127.0.0.1. */
export async function startBearerProxy(
  { url, token }: { readonly url: string; readonly token: string },
): Promise<TestServer> {
  const { hostname, port } = new URL(url);
  const server = createServer((incoming, response) => {
    const { method, url: path, headers } = incoming;
    const options = { hostname, port, method, path, headers: { ...headers, authorization: `Bearer ${token}` } };
    const outgoing = request(options, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      response.flushHeaders(); // an event stream may say nothing for a while
      answer.pipe(response);
    });
    outgoing.on('error', () => response.destroy());
    response.on('close', () => outgoing.destroy());
    incoming.pipe(outgoing);
  });
  const proxyUrl = await listen(server);
  return { url: proxyUrl, close: () => closeServer(server) };
}
