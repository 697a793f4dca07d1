/** A PostgreSQL of its own, from Debian's package: in a folder that goes with it, reached by a socket in it. */

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import postgres, { type Sql } from 'postgres';

/** Where the server's programs are; `undefined` where PostgreSQL is not installed. */
export const postgresPrograms: string | undefined = globSync('/usr/lib/postgresql/*/bin').toSorted().at(-1);

/** A running server. */
export interface PostgresServer {
  readonly connect: () => Sql;
  /** Stops it as a power failure would, or with all it has promised kept. */
  readonly stop: () => Promise<void>;
  /** Stops it, and starts it again when the work is done; without work, at once. */
  readonly restart: (until?: Promise<unknown>) => Promise<void>;
}

/** Starts a server that nobody else can reach. */
export async function startPostgres(): Promise<PostgresServer> {
  if (postgresPrograms === undefined) throw new Error('PostgreSQL is not installed: apt-get install postgresql');
  const folder = mkdtempSync(join(tmpdir(), 'pinnace-postgres-'));
  const identity = ownerOf(folder);
  const made = spawnSync(join(postgresPrograms, 'initdb'), [
    '-D',
    join(folder, 'data'),
    '-U',
    'pinnace',
    '-A',
    'trust',
    '-N',
  ], {
    ...identity,
    cwd: folder,
    encoding: 'utf8',
  });
  if (made.status !== 0) throw new Error(`The database was not made: ${made.stderr}`);
  let server = await launch(folder, identity);
  const stop = async (): Promise<void> => {
    const exited = once(server, 'exit');
    if (server.exitCode === null && server.kill('SIGINT')) await exited; // ends sessions, too
  };
  return {
    connect: () => postgres({ path: join(folder, '.s.PGSQL.5432'), user: 'pinnace', database: 'postgres', max: 4 }),
    async stop() {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
    async restart(until) {
      await stop();
      await until;
      server = await launch(folder, identity);
    },
  };
}

interface Identity {
  readonly uid?: number;
  readonly gid?: number;
}

/** The server refuses to be root: then it runs as the user of Debian's package. */
function ownerOf(folder: string): Identity {
  if (process.getuid?.() !== 0) return {};
  const idOf = (flag: string): number => Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout);
  const identity = { uid: idOf('-u'), gid: idOf('-g') };
  chownSync(folder, identity.uid, identity.gid);
  return identity;
}

async function launch(folder: string, identity: Identity) {
  const settings = ['listen_addresses=', 'fsync=off', `unix_socket_directories=${folder}`].flatMap((
    text,
  ) => ['-c', text]);
  const server = spawn(join(postgresPrograms ?? '', 'postgres'), ['-D', join(folder, 'data'), ...settings], {
    ...identity,
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const stopWithUs = (): void => void server.kill('SIGQUIT');
  process.once('exit', stopWithUs);
  server.once('exit', () => process.off('exit', stopWithUs));
  let log = '';
  await new Promise<void>((resolve, reject) => {
    server.stderr.on('data', (chunk) => {
      if (log.length < 10_000) log += String(chunk);
      if (log.includes('ready to accept connections')) resolve();
    });
    server.once('exit', () => reject(new Error(`The server did not start: ${log}`)));
  });
  return server;
}
