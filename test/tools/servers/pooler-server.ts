/** A PgBouncer in front of a test's PostgreSQL, from Debian's package. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import postgres from 'postgres';
import type { ConnectPostgres } from '../../../adapters/storage/postgres-client.ts';
import { ownerOf, type PostgresServer } from './postgres-server.ts';

const program = '/usr/sbin/pgbouncer';
/** Whether PgBouncer is installed (`apt-get install pgbouncer`). */
export const hasPooler: boolean = existsSync(program);

/** A running pooler with two connections to the server. */
export interface Pooler {
  /** Creates clients with these options of Postgres.js. */
  readonly connect: (more?: { readonly prepare?: boolean }) => ConnectPostgres;
  readonly stop: () => Promise<void>;
}

/** Starts a pooler; `mode` is what a client keeps a connection to the server for. */
export async function startPooler({ socket }: PostgresServer, mode: 'transaction' | 'session'): Promise<Pooler> {
  const folder = mkdtempSync(join(tmpdir(), 'pinnace-pooler-'));
  const settings = [
    ['unix_socket_dir', folder],
    ['listen_port', '6432'],
    ['auth_type', 'any'],
    ['pool_mode', mode],
    ['default_pool_size', mode === 'session' ? '12' : '2'],
  ].map(([name, value]) => `${name} = ${value}`);
  const database = `postgres = host=${dirname(socket)} port=5432 user=pinnace dbname=postgres`;
  writeFileSync(join(folder, 'pooler.ini'), ['[databases]', database, '[pgbouncer]', ...settings, ''].join('\n'));
  const server = spawn(program, [join(folder, 'pooler.ini')], {
    ...ownerOf(folder),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const stopWithUs = (): void => void server.kill('SIGKILL');
  process.once('exit', stopWithUs);
  let log = '';
  await new Promise<void>((resolve, reject) => {
    server.stderr.on('data', (chunk) => {
      log += String(chunk);
      if (log.includes('process up')) resolve();
    });
    server.once('exit', () => reject(new Error(`The pooler did not start: ${log}`)));
  });
  const path = join(folder, '.s.PGSQL.6432');
  return {
    connect: (more) => (options) =>
      postgres({ path, user: 'pinnace', database: 'postgres', max: 10, ...more, ...options }),
    async stop() {
      process.off('exit', stopWithUs);
      const exited = once(server, 'exit');
      server.kill('SIGTERM');
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
