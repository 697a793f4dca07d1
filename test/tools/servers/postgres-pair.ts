/** Two PostgreSQL servers: a primary, and a standby that confirms each commit and can be promoted. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import type { ConnectPostgres } from '../../../adapters/storage/postgres-client.ts';
import { freePorts } from './free-ports.ts';
import { killServer, launchServer, ownerOf, runProgram } from './postgres-server.ts';

export interface PostgresPair {
  /** Connects to whichever of the two is the primary. */
  readonly connect: ConnectPostgres;
  /** Kills all processes of the primary at once. */
  killPrimary(): Promise<void>;
  /** Makes the standby the primary, which waits for no other. */
  promote(): Promise<void>;
  /** Ends both and removes their folder. */
  stop(): Promise<void>;
}

/** Starts a pair on the loopback interface. */
export async function startPair(): Promise<PostgresPair> {
  const folder = mkdtempSync(join(tmpdir(), 'pinnace-pair-'));
  const identity = ownerOf(folder);
  const [here = 0, there = 0] = await freePorts(2);
  const settingsOf = (port: number) => ['listen_addresses=127.0.0.1', `port=${port}`];
  runProgram('initdb', ['-D', join(folder, 'a'), '-U', 'pinnace', '-A', 'trust', '-N'], { folder, identity });
  const primary = await launchServer(folder, { identity, data: 'a', settings: settingsOf(here) });
  const source = ['-h', '127.0.0.1', '-p', String(here), '-U', 'pinnace'];
  const copy = ['-D', join(folder, 'b'), '-R', '-X', 'stream', '-c', 'fast', '--no-sync'];
  runProgram('pg_basebackup', [...source, ...copy], { folder, identity });
  const standby = await launchServer(folder, { identity, data: 'b', settings: settingsOf(there) });
  const admin = postgres({ host: '127.0.0.1', port: here, user: 'pinnace', database: 'postgres', max: 1 });
  await admin`alter system set synchronous_standby_names = 'ANY 1 (*)'`;
  await admin`select pg_reload_conf()`;
  const isSynchronous = async () =>
    (await admin`select 1 from pg_stat_replication where sync_state = 'quorum'`).length === 1;
  while (!await isSynchronous()) await new Promise((resolve) => setTimeout(resolve, 20)); // the server says nothing of it
  await admin.end();
  const url = `postgres://pinnace@127.0.0.1:${here},127.0.0.1:${there}/postgres?target_session_attrs=primary`;
  return {
    connect: (options) => postgres(url, { max: 4, ...options }),
    killPrimary: () => killServer(primary, 'SIGKILL'),
    promote: async () => runProgram('pg_ctl', ['-D', join(folder, 'b'), '-w', 'promote'], { folder, identity }),
    async stop() {
      await Promise.all([killServer(primary, 'SIGQUIT'), killServer(standby, 'SIGQUIT')]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
