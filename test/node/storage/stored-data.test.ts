import { execFile } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postgresStorage } from '../../../adapters/storage/postgres.ts';
import { databases, inlineChat } from '../../fixtures/stored-databases.ts';
import { postgresPrograms, type PostgresServer, startPostgres } from '../../tools/servers/postgres-server.ts';

const binary = join(import.meta.dirname, '../../../adapters/cli/pinnace.ts');

describe.skipIf(postgresPrograms === undefined)('pinnace db, over PostgreSQL', () => {
  let server: PostgresServer;
  beforeAll(async () => void (server = await startPostgres()));
  afterAll(() => server.stop());

  function pinnace(
    args: readonly string[],
  ): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
    return new Promise((resolve) => {
      const { PATH } = process.env;
      const folder = server.socket.slice(0, server.socket.lastIndexOf('/'));
      const env = { PATH, DATABASE_URL: 'postgres:///postgres', PGHOST: folder, PGUSER: 'pinnace' };
      execFile(process.execPath, [binary, 'db', ...args], { env }, (error, out, err) => {
        resolve({ code: error ? Number(error.code) : 0, out, err });
      });
    });
  }

  it('checks and upgrades what 0.1 and 0.2 have stored, and changes nothing else', async () => {
    const storage = postgresStorage({ connect: server.connect, table: 'kept' });
    for (const database of databases) await database.fill(storage);
    await inlineChat(storage, Date.now());
    const before = await storage.list({ prefix: [], limit: 1_000 });
    const check = await pinnace(['check', '--table', 'kept']);
    expect(check).toMatchObject({ code: 0, err: '' });
    expect(check.out).toContain('written by version 0.1 or 0.2');
    expect(check.out).toContain('runs without an owner (0.1, 0.2): 7.');
    expect(check.out).toContain(
      'An upgrade would:\n  inline files of stored chats become files: 1\n  mark the format\n',
    );
    for (const secret of ['ada', 'acme', 'run_']) expect(check.out).not.toContain(secret);
    expect(await storage.list({ prefix: [], limit: 1_000 })).toEqual(before);
    const dry = await pinnace(['upgrade', '--dry-run', '--json', '--table', 'kept']);
    expect(JSON.parse(dry.out)).toMatchObject({ state: 'older', entries: before.length, unknown: 0 });
    const done = await pinnace(['upgrade', '--table', 'kept']);
    expect(done.out).toBe(
      `Looked through ${before.length} entries. The data has format 3.\n  inline files of stored chats become files: 1\n`,
    );
    expect((await pinnace(['upgrade', '--json', '--table', 'kept'])).out).toContain('"written":{}');
    expect((await pinnace(['check', '--table', 'kept'])).out).toMatch(
      /^The data has the format of this version \(3\)\./,
    );
    const names = new Set(before.map(({ key, version }) => JSON.stringify([key, version])));
    const after = await storage.list({ prefix: [], limit: 1_000 });
    const changed = after.filter(({ key, version }) => !names.has(JSON.stringify([key, version])));
    expect(changed.map(({ key }) => key[0])).toEqual(['blob', 'blob', 'chats', 'format']);
    await storage.close();
  });

  it('refuses what it does not understand', async () => {
    expect((await pinnace(['purge'])).code).toBe(2);
    expect((await pinnace(['check', '--kv', 'x.kv'])).err).toContain('deno run');
    expect((await pinnace(['check', '--chat-retention', 'long'])).err).toContain('takes days, or none');
    expect((await pinnace(['check', '--table', 'empty_one'])).out).toBe('There is no data.\n0 entries\n');
  });
});
