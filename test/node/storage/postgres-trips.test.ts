import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ConnectPostgres, PostgresClientOptions } from '../../../adapters/storage/postgres-client.ts';
import { postgresStorage, type PostgresStorageOptions } from '../../../adapters/storage/postgres.ts';
import type { Change, Storage } from '../../../src/contracts/storage.ts';
import { openPostgresProxy, type PostgresProxy } from '../../tools/servers/postgres-proxy.ts';
import { postgresPrograms, type PostgresServer, startPostgres } from '../../tools/servers/postgres-server.ts';

let server: PostgresServer;
let proxy: PostgresProxy;
let tables = 0;
const cleanUps: (() => unknown)[] = [];

function fresh(options: Partial<PostgresStorageOptions> = {}) {
  // No commit waits for its announcements, so these are not counted.
  const connect: ConnectPostgres = (given) => (given.max === undefined ? proxy.connect : server.connect)(given);
  const storage = postgresStorage({ connect, table: `t${tables}`, ...options });
  cleanUps.unshift(() => storage.close());
  return storage;
}

/** Watches a key, and returns how often it was notified so far. */
function watch(storage: ReturnType<typeof fresh>, key: readonly string[]): { readonly calls: () => number } {
  const stop = new AbortController();
  let calls = 0;
  storage.watch([key], { signal: stop.signal, onNews: () => calls++ });
  cleanUps.unshift(() => stop.abort());
  return { calls: () => calls };
}

async function put(storage: Storage, ...changes: Change[]): Promise<string> {
  const result = await storage.commit(changes);
  if (!result.ok) throw new Error('A commit without rivals conflicts');
  return result.version;
}

/** Options of a client that knows nothing of the storage. */
const plainOptions: PostgresClientOptions = {
  fetch_types: false,
  idle_timeout: 0,
  max_lifetime: 0,
  connect_timeout: 5,
  backoff: () => 0.1,
  onnotice: () => undefined,
  onclose: () => undefined,
};

const someKeys = (count: number) => Array.from({ length: count }, (_, i) => ({ key: ['k', i] }));

describe.skipIf(postgresPrograms === undefined)('postgresStorage and its round trips', () => {
  beforeAll(async () => {
    server = await startPostgres();
    proxy = await openPostgresProxy(server);
  });
  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0)) await cleanUp();
    tables += 1;
  });
  afterAll(async () => {
    await proxy.stop();
    await server.stop();
  });

  it('never reads the whole table, not even one that has grown since its first commits and was not analyzed', async () => {
    const storage = fresh();
    const sql = server.connect({ ...plainOptions, max: 1 });
    cleanUps.push(() => sql.end());
    await put(storage, { key: ['a', 0], value: 0 });
    await sql`alter table ${sql(`t${tables}`)} set (autovacuum_enabled = false)`;
    for (let n = 1; n < 60; n++) {
      const changes = Array.from(
        { length: 50 },
        (_, i) => ({ key: ['a', n, i], value: 'x'.repeat(200), ifVersion: null }),
      );
      await put(storage, ...changes, { key: ['a', n - 1, 0] });
      await storage.list({ prefix: ['a', n], limit: 10 });
      await storage.get(['a', n, 7]);
    }
    const whole = async (): Promise<number> => {
      const [row] = await sql`select seq_scan from pg_stat_user_tables where relname = ${`t${tables}`}`;
      return Number(row?.['seq_scan']);
    };
    await storage.close(); // its connections report what they have done
    await expect.poll(async () => await sql`select idx_scan from pg_stat_user_tables where relname = ${`t${tables}`}`)
      .toMatchObject([{ idx_scan: expect.toSatisfy((count: string) => Number(count) > 100) }]);
    expect(await whole()).toBeLessThan(10);
  });

  it('reads, lists and commits with one round trip each once a connection has prepared them', async () => {
    const storage = fresh();
    const trips = async (call: () => Promise<unknown>): Promise<number> => {
      proxy.take();
      await call();
      return proxy.take();
    };
    await put(storage, { key: ['a'], value: 1 });
    await storage.get(['a']);
    await storage.list({ prefix: [], limit: 10 });
    expect(await trips(() => storage.get(['a']))).toBe(1);
    expect(await trips(() => storage.list({ prefix: [], limit: 1000 }))).toBe(1);
    for (const count of [1, 20, 100]) {
      const keys = someKeys(count);
      const create = () => put(storage, ...keys.map((one) => ({ ...one, value: count, ttlMs: 1000 })));
      expect([count, await trips(create)]).toEqual([count, 1]);
      const version = await create();
      const check = () => put(storage, ...keys.map((one) => ({ ...one, ifVersion: version, keep: true as const })));
      expect([count, await trips(check)]).toEqual([count, 1]);
      const conflict = () => storage.commit(keys.map((one) => ({ ...one, value: 1, ifVersion: null })));
      expect([count, await trips(conflict)]).toEqual([count, 1]);
      expect(await conflict()).toEqual({ ok: false, conflicts: keys.map(({ key }) => key) });
    }
  });

  it('opens, creates its table and commits with a few round trips, and joins an existing table with as few', async () => {
    for (const round of ['creates', 'joins']) {
      const storage = fresh();
      proxy.take();
      await put(storage, { key: ['a'], value: round });
      expect(proxy.take()).toBeLessThanOrEqual(4); // to connect, to set up, to prepare the commit, and to commit
    }
  });

  it('lets calls that come at once share round trips over one connection', async () => {
    const storage = fresh();
    await put(storage, { key: ['a'], value: 1 });
    await storage.get(['a']);
    proxy.take();
    await Promise.all(someKeys(50).flatMap(({ key }) => [put(storage, { key, value: 1 }), storage.get(key)]));
    expect(proxy.take()).toBeLessThan(50); // of 100 calls
  });

  it('watches more keys without another round trip, and is notified without one', async () => {
    const [storage, other] = [fresh({ connect: proxy.connect, pollMs: 60_000 }), fresh({ connect: server.connect })];
    const first = watch(storage, ['a']);
    await expect.poll(first.calls).toBe(1); // it listens now
    let quiet = 0; // a look may fall before its probe has gone, as well as behind it
    await expect.poll(() => quiet = proxy.take() === 0 ? quiet + 1 : 0).toBeGreaterThan(5);
    const second = watch(storage, ['b']);
    await put(other, { key: ['b'], value: 2 });
    await expect.poll(second.calls).toBe(1);
    expect(proxy.take()).toBe(0);
    expect(first.calls()).toBe(1);
  });
});

/** Clients on which `listen` does what a pooler or a full server does. */
const listeners: Record<string, (connect: ConnectPostgres) => ConnectPostgres> = {
  'is refused': (connect) => (options) =>
    Object.assign(connect(options), { listen: () => Promise.reject(new Error('too many connections')) }),
  'is accepted and never delivers': (connect) => (options) =>
    Object.assign(connect(options), {
      async listen(_channel: string, _onNotify: unknown, onListen: () => void) {
        onListen();
        return await Promise.resolve({ state: {}, unlisten: () => Promise.resolve() });
      },
    }),
};

describe.skipIf(postgresPrograms === undefined)('postgresStorage without notifications', () => {
  beforeAll(async () => {
    server = await startPostgres();
    proxy = await openPostgresProxy(server);
  });
  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0)) await cleanUp();
    tables += 1;
  });
  afterAll(async () => {
    await proxy.stop();
    await server.stop();
  });

  it.each(Object.keys(listeners))('polls where LISTEN %s', async (name) => {
    const connect = listeners[name]?.(server.connect) ?? server.connect;
    const { calls } = watch(fresh({ connect, pollMs: 50 }), ['a']);
    await expect.poll(calls).toBeGreaterThan(3);
  });

  it('polls while its listener is silent, replaces it, and then polls no more', async () => {
    let isFirst = true;
    const connect: ConnectPostgres = (options) => {
      const here = isFirst ? server.connect : proxy.connect; // only the listeners pass the proxy
      isFirst = false;
      return here(options);
    };
    const storage = fresh({ connect, pollMs: 50 });
    const { calls } = watch(storage, ['a']);
    await expect.poll(() => callsDuringReads(storage, calls)).toBe(0);
    const before = calls();
    proxy.silence();
    await expect.poll(calls).toBeGreaterThan(before + 3);
    await expect.poll(() => callsDuringReads(storage, calls)).toBe(0);
    await hears(storage, calls);
  });

  it('listens once the server is up, when watching started without one', async () => {
    await server.kill('SIGINT');
    const storage = fresh({ connect: server.connect, pollMs: 50 });
    const { calls } = watch(storage, ['a']);
    await expect.poll(calls).toBeGreaterThan(2);
    await server.start();
    await expect.poll(() => storage.get(['a']).then(() => true, () => false)).toBe(true);
    await expect.poll(() => callsDuringReads(storage, calls)).toBe(0);
    await hears(storage, calls);
  });

  it('listens again after only the connection of its listener was ended', async () => {
    const storage = fresh({ connect: server.connect, pollMs: 60_000 });
    const { calls } = watch(storage, ['a']);
    await expect.poll(calls).toBe(1);
    const admin = server.connect({ ...plainOptions });
    await admin`select pg_terminate_backend(pid) from pg_stat_activity where query like 'listen%'`;
    await admin.end();
    await expect.poll(calls).toBe(2); // it may have missed something
    await hears(storage, calls);
  });
});

/** How often the watcher was notified while many polls were due. */
async function callsDuringReads(storage: Storage, calls: () => number): Promise<number> {
  const before = calls();
  for (const start = performance.now(); performance.now() - start < 150;) await storage.get(['a']);
  return calls() - before;
}

/** Checks that a commit of another instance arrives. */
async function hears(storage: Storage, calls: () => number): Promise<void> {
  const before = calls();
  await put(fresh({ connect: server.connect }), { key: ['a'], value: 1 });
  await expect.poll(calls).toBeGreaterThan(before);
  expect((await storage.get(['a']))?.value).toBe(1);
}
