import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConnectPostgres, notePooler, openClient } from '../../../adapters/storage/postgres-client.ts';
import { postgresStorage } from '../../../adapters/storage/postgres.ts';
import { createTestClock, watchableStorageContract } from '../../contracts/storage.ts';
import { hasPooler, type Pooler, startPooler } from '../../tools/servers/pooler-server.ts';
import { postgresPrograms, type PostgresServer, startPostgres } from '../../tools/servers/postgres-server.ts';

let server: PostgresServer;
let poolers: Readonly<Record<'transaction' | 'session', Pooler>>;
let tables = 0;

/** What became of many calls at once, each of which reads what it has written. */
async function outcomesOf(connect: ConnectPostgres, calls: number): Promise<string[]> {
  const storage = postgresStorage({ connect, table: `p${tables++}` });
  const outcomes = await Promise.all(Array.from({ length: calls }, async (_, at) => {
    try {
      const key = ['call', at];
      await storage.commit([{ key, value: { at } }]);
      const entry = await storage.get(key);
      return JSON.stringify(entry?.value);
    } catch (error) {
      return String(error);
    }
  }));
  await storage.close();
  return outcomes;
}

describe.skipIf(postgresPrograms === undefined || !hasPooler)('postgresStorage behind PgBouncer', () => {
  beforeAll(async () => {
    server = await startPostgres();
    poolers = { transaction: await startPooler(server, 'transaction'), session: await startPooler(server, 'session') };
  });
  afterAll(async () => {
    await Promise.all(Object.values(poolers).map(({ stop }) => stop()));
    await server.stop();
  });

  it.each(['transaction', 'session'] as const)('answers every call in %s mode', async (mode) => {
    const expected = Array.from({ length: 120 }, (_, at) => JSON.stringify({ at }));
    for (const more of [{}, { prepare: false }, { prepare: true }]) {
      expect(await outcomesOf(poolers[mode].connect(more), 120)).toEqual(expected);
    }
  });

  it.each(watchableStorageContract)('keeps the contract in transaction mode: $name', async ({ run }) => {
    const clock = createTestClock();
    const storages: { close(): Promise<void> }[] = [];
    const openFresh = () => {
      const storage = postgresStorage({
        connect: poolers.transaction.connect(),
        table: `p${tables++}`,
        now: clock.now,
        pollMs: 50,
      });
      storages.push(storage);
      return Promise.resolve(storage);
    };
    await expect(run({ clock, open: openFresh, openOther: openFresh })).resolves.toBeUndefined();
    await Promise.all(storages.map((storage) => storage.close()));
  });

  it('prepares statements where it reaches the server itself, and nowhere else', async () => {
    for (const [connect, isPooled] of [[server.connect, false], [poolers.transaction.connect(), true]] as const) {
      const clients = { connect, isPooled: false };
      const client = openClient(clients, () => undefined);
      notePooler(clients, client, await client.sql.unsafe('select 1; select pg_backend_pid() as pid'));
      expect([clients.isPooled, client.sql.options.prepare]).toEqual([isPooled, !isPooled]);
      await client.sql.end();
    }
  });
});
