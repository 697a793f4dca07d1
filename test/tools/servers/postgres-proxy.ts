/** A socket before a PostgreSQL that counts round trips, and that can go silent as a dead connection does. */

import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConnectPostgres } from '../../../adapters/storage/postgres-client.ts';
import type { PostgresServer } from './postgres-server.ts';

/** A counting socket. */
export interface PostgresProxy {
  readonly connect: ConnectPostgres;
  /** The round trips since the last time that this was called: how often a client wrote after the server had, or first. */
  readonly take: () => number;
  /** Lets nothing through of the connections there are, without closing them; others pass. */
  readonly silence: () => void;
  readonly stop: () => Promise<void>;
}

/** Opens a socket that leads to the server. */
export async function openPostgresProxy(server: PostgresServer): Promise<PostgresProxy> {
  const folder = mkdtempSync(join(tmpdir(), 'pinnace-proxy-'));
  const path = join(folder, '.s.PGSQL.5432');
  const open = new Map<Socket, { isSilent: boolean }>();
  let trips = 0;
  const proxy = createServer((client) => {
    const upstream = connect(server.socket);
    const state = { isSilent: false };
    open.set(client, state);
    let isClientsTurn = true;
    client.on('data', (bytes) => {
      if (state.isSilent) return;
      if (isClientsTurn) trips += 1;
      isClientsTurn = false;
      upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      if (state.isSilent) return;
      isClientsTurn = true;
      client.write(bytes);
    });
    const end = (): void => {
      open.delete(client);
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) socket.on('close', end).on('error', end);
  });
  proxy.listen(path);
  await once(proxy, 'listening');
  return {
    connect: server.connectBy(path),
    take() {
      const taken = trips;
      trips = 0;
      return taken;
    },
    silence: () => open.forEach((state) => (state.isSilent = true)),
    async stop() {
      for (const client of open.keys()) client.destroy();
      proxy.close();
      await once(proxy, 'close');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
