/** A PostgreSQL of its own, from Debian's package: in a folder that goes with it, reached by a socket in it. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import postgres from 'postgres';
import type { ConnectPostgres } from '../../../adapters/storage/postgres-client.ts';

/** Where the server's programs are; `undefined` where PostgreSQL is not installed. */
export const postgresPrograms: string | undefined = globSync('/usr/lib/postgresql/*/bin').toSorted().at(-1);

export interface PostgresServer {
  readonly connect: ConnectPostgres;
  /** Connects by another socket, which leads to the server's, with one connection. */
  readonly connectBy: (socket: string) => ConnectPostgres;
  readonly socket: string;
  /** Ends it, and resolves when the process has exited. It can be started again. */
  readonly kill: (how: Ending) => Promise<void>;
  readonly start: () => Promise<void>;
  /** Kills it and starts it again. */
  readonly restart: (how?: Ending) => Promise<void>;
  /** Ends it and removes its folder. */
  readonly stop: () => Promise<void>;
}

/** A fast shutdown, an immediate one, after which it recovers, and the death of all its processes at once. */
export const endings = ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const;
export type Ending = (typeof endings)[number];

/** Starts a server that no other user can reach. */
export async function startPostgres(): Promise<PostgresServer> {
  if (postgresPrograms === undefined) throw new Error('PostgreSQL is not installed: apt-get install postgresql');
  const folder = mkdtempSync(join(tmpdir(), 'pinnace-postgres-'));
  const identity = ownerOf(folder);
  runProgram('initdb', ['-D', join(folder, 'data'), '-U', 'pinnace', '-A', 'trust', '-N'], { folder, identity });
  let server = await launch(folder, identity);
  const kill = (how: Ending): Promise<void> => killServer(server, how);
  const start = async (): Promise<void> => void (server = await launch(folder, identity));
  const socket = join(folder, '.s.PGSQL.5432');
  const connect = (path: string, max: number): ConnectPostgres => (options) =>
    postgres({ path, user: 'pinnace', database: 'postgres', max, ...options });
  return {
    connect: connect(socket, 4),
    connectBy: (path) => connect(path, 1),
    socket,
    kill,
    start,
    async restart(how = 'SIGINT') {
      await kill(how);
      await start();
    },
    async stop() {
      await kill('SIGINT');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Runs one of PostgreSQL's programs to its end. */
export function runProgram(
  name: string,
  args: readonly string[],
  { folder, identity }: { readonly folder: string; readonly identity: Identity },
): void {
  const options = { ...identity, cwd: folder, encoding: 'utf8' } as const;
  const { status, stderr } = spawnSync(join(postgresPrograms ?? '', name), args, options);
  if (status !== 0) throw new Error(`${name} failed: ${stderr}`);
}

/** Ends a server, and resolves when it has exited. */
export async function killServer(server: ChildProcess, how: Ending): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const exited = once(server, 'exit');
  const children = how === 'SIGKILL' ? childrenOf(server.pid) : [];
  server.kill(how);
  for (const pid of children) killIfThere(pid);
  await exited;
}

/** The processes that this one has started and not waited for yet. */
function childrenOf(pid: number | undefined): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text.split(' ').filter((id) => id !== '').map(Number);
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}

export interface Identity {
  readonly uid?: number;
  readonly gid?: number;
}

/** The server refuses to be root: then it runs as the user of Debian's package. */
export function ownerOf(folder: string): Identity {
  if (process.getuid?.() !== 0) return {};
  const idOf = (flag: string): number => Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout);
  const identity = { uid: idOf('-u'), gid: idOf('-g') };
  chownSync(folder, identity.uid, identity.gid);
  return identity;
}

/** Tries again while a killed server's last process still holds its memory. */
async function launch(folder: string, identity: Identity): Promise<ChildProcess> {
  try {
    return await launchServer(folder, { identity });
  } catch (error) {
    if (!String(error).includes('shared memory block')) throw error;
    return await launch(folder, identity);
  }
}

/** Starts a server on the data in a folder, and resolves when it answers. It dies with this process. */
export async function launchServer(
  folder: string,
  { identity, data = 'data', settings = ['listen_addresses='] }: {
    readonly identity: Identity;
    readonly data?: string;
    readonly settings?: readonly string[];
  },
): Promise<ChildProcess> {
  const all = [...settings, 'fsync=off', `unix_socket_directories=${folder}`].flatMap((text) => ['-c', text]);
  const server = spawn(join(postgresPrograms ?? '', 'postgres'), ['-D', join(folder, data), ...all], {
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
      if (/ready to accept (read-only )?connections/.test(log)) resolve();
    });
    server.once('exit', () => reject(new Error(`The server did not start: ${log}`)));
  });
  return server;
}
