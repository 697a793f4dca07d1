/** What the servers that tests call have in common. */

import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Server as SocketServer } from 'node:net';

export interface TestServer {
  readonly url: string;
  close(): Promise<void>;
}

/** Headers for pages of other origins. `*` does not include `authorization`. */
export const corsHeaders: Readonly<Record<string, string>> = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, POST, DELETE, OPTIONS',
  'access-control-allow-headers': 'authorization, *',
  'access-control-expose-headers': '*',
  'access-control-max-age': '600',
};

/** Binds the server to a free port of 127.0.0.1 and returns its URL. */
export async function listen(server: SocketServer): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // safe: it listens on a port, not on a path
  return `http://127.0.0.1:${port}`;
}

/** Closes the server and whatever still hangs on it. */
export async function closeServer(server: Server): Promise<void> {
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
}

/** Returns a port of 127.0.0.1 that was just free, for servers that take their port as an option. */
export async function freePort(): Promise<number> {
  const probe = createServer();
  const { port } = new URL(await listen(probe));
  await closeServer(probe);
  return Number(port);
}
