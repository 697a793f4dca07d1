import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { postgresStorage, type PostgresStorageOptions } from '../../../adapters/storage/postgres.ts';
import { localPrincipal } from '../../../src/index.ts';
import type { PostgresClientOptions } from '../../../adapters/storage/postgres-client.ts';
import { createTestClock, watchableStorageContract } from '../../contracts/storage.ts';
import { share } from '../../fixtures/budget.ts';
import { says, scriptedModel, streamOf } from '../../fixtures/model.ts';
import { readAll, runRequest, testRuntime, textOf } from '../../fixtures/runtime.ts';
import { endings, postgresPrograms, type PostgresServer, startPostgres } from '../../tools/servers/postgres-server.ts';

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

let server: PostgresServer;
let tables = 0;
const open: { close(): Promise<void> }[] = [];

function fresh(options: Partial<PostgresStorageOptions> = {}) {
  const storage = postgresStorage({ connect: server.connect, table: `t${tables++}`, ...options });
  open.push(storage);
  return storage;
}

describe.skipIf(postgresPrograms === undefined)('postgresStorage', () => {
  beforeAll(async () => void (server = await startPostgres()));
  afterEach(async () => void await Promise.all(open.splice(0).map((storage) => storage.close())));
  afterAll(() => server.stop());

  it.each(watchableStorageContract)('keeps the contract: $name', async ({ run }) => {
    const clock = createTestClock();
    const openFresh = async () => fresh({ now: clock.now });
    await expect(run({ clock, open: openFresh, openOther: openFresh })).resolves.toBeUndefined();
  });

  it('is one store to all that name the same table, created by any of them', async () => {
    const table = `t${tables++}`;
    const instances = Array.from({ length: 8 }, () => fresh({ table }));
    const results = await Promise.all(
      instances.map((storage, at) => storage.commit([{ key: ['n', at], value: at }])),
    );
    expect(results.map(({ ok }) => ok)).toEqual(instances.map(() => true));
    const listed = await fresh({ table }).list({ prefix: ['n'], limit: 10 });
    expect(listed.map(({ value }) => value)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  it('lets one of many instances win, that expect the same version', async () => {
    const table = `t${tables++}`;
    const instances = Array.from({ length: 4 }, () => fresh({ table }));
    for (let round = 0; round < 20; round++) {
      const results = await Promise.all(
        instances.flatMap((storage, at) => [
          storage.commit([{ key: ['once', round], value: at, ifVersion: null }, {
            key: ['by', at, round],
            value: round,
          }]),
          storage.commit([{ key: ['by', at, -round - 1], value: round }, {
            key: ['once', round],
            value: -at,
            ifVersion: null,
          }]),
        ]),
      );
      expect(results.filter(({ ok }) => ok)).toHaveLength(1);
    }
    expect(await instances[0]?.list({ prefix: ['by'], limit: 100 })).toHaveLength(20); // losers have written nothing
  });

  it('counts right when all instances add to the same number', async () => {
    const table = `t${tables++}`;
    const add = async (storage: ReturnType<typeof fresh>): Promise<void> => {
      for (;;) {
        const found = await storage.get(['sum']);
        const value = (found?.value as number | undefined ?? 0) + 1; // safe: only numbers are written here
        if ((await storage.commit([{ key: ['sum'], value, ifVersion: found?.version ?? null }])).ok) return;
      }
    };
    const instances = Array.from({ length: 4 }, () => fresh({ table }));
    await Promise.all(instances.flatMap((storage) => Array.from({ length: 10 }, () => add(storage))));
    expect((await instances[0]?.get(['sum']))?.value).toBe(40);
  });

  it('receives what another instance commits', async () => {
    const table = `t${tables++}`;
    const [reader, writer] = [fresh({ table }), fresh({ table })];
    const stop = new AbortController();
    const heard = new Promise<void>((resolve) => {
      const look = async () => (await reader.get(['news']))?.value === 'come' && resolve();
      reader.watch([['news']], { signal: stop.signal, onNews: () => void look() });
    });
    await writer.commit([{ key: ['news'], value: 'come' }]);
    await expect(heard).resolves.toBeUndefined();
    stop.abort();
  });

  it('announces the commits of a while together, and to other instances alone', async () => {
    const table = `t${tables++}`;
    const [here, there] = [fresh({ table }), fresh({ table })];
    const stop = new AbortController();
    const heard = { here: 0, there: 0 };
    here.watch([['n', 7]], { signal: stop.signal, onNews: () => heard.here++ });
    there.watch([['n', 7]], { signal: stop.signal, onNews: () => heard.there++ });
    await expect.poll(() => Math.min(heard.here, heard.there)).toBe(1); // both listen
    const texts: string[] = [];
    const ear = server.connect(plainOptions);
    await ear.listen(table, (text) => texts.push(text));
    await Promise.all(
      Array.from({ length: 700 }, (_, at) => here.commit([{ key: ['n', at], value: at }])),
    );
    await expect.poll(() => texts.length).toBeGreaterThan(0);
    await expect.poll(() => heard.there).toBeGreaterThan(1);
    expect(heard.here).toBe(2); // by its own commit, and not by the notification
    expect(texts.length).toBeLessThan(100);
    await ear.end();
    stop.abort();
  });

  it('leaves no connection behind when it closes while it announces', async () => {
    const admin = server.connect(plainOptions);
    onTestFinished(() => admin.end());
    const connect: typeof server.connect = (options) =>
      server.connect(Object.assign({ ...options }, { connection: { application_name: 'leaving' } }));
    for (let round = 0; round < 10; round++) {
      const storage = fresh({ connect });
      await storage.commit([{ key: ['a'], value: 0 }]);
      await storage.commit([{ key: ['a'], value: round }]);
      await storage.close();
    }
    const left = async () => await admin`select 1 from pg_stat_activity where application_name = 'leaving'`;
    await expect.poll(async () => (await left()).length).toBe(0);
  });

  it('refuses a database whose transactions have another isolation level, and says what to set', async () => {
    const connect: typeof server.connect = (options) =>
      server.connect(
        Object.assign({ ...options }, { connection: { default_transaction_isolation: 'repeatable read' } }),
      );
    await expect(fresh({ connect }).commit([{ key: ['a'], value: 1 }])).rejects.toMatchObject({
      code: 'invalid_argument',
      details: { reason: 'invalid_client' },
      message: expect.stringContaining('default_transaction_isolation'),
    });
  });

  it('takes the canceled wait for a standby for an outage, until a standby has confirmed what was written', async () => {
    const errors: unknown[] = [];
    const storage = fresh({ onError: (error) => errors.push(error) });
    await storage.commit([{ key: ['a'], value: 1 }]);
    const admin = server.connect(plainOptions);
    const requireStandby = async (names: string): Promise<void> => {
      await admin.unsafe(`alter system set synchronous_standby_names = '${names}'`);
      await admin`select pg_reload_conf()`;
    };
    // However this ends: without it, every later commit to this server would wait for ever.
    onTestFinished(async () => {
      await requireStandby('');
      await admin.end();
    });
    const cancelWaits = async () =>
      (await admin`select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'`).length;
    const isRefused = async (call: Promise<unknown>): Promise<void> => {
      const refusal = call.then(() => undefined, (error: unknown) => error);
      await expect.poll(cancelWaits).toBeGreaterThan(0);
      expect(await refusal).toMatchObject(blocked);
    };
    const blocked = { code: 'unavailable', details: { reason: 'storage_blocked' } };
    await requireStandby('nobody');
    // `show` has the setting before the checkpointer does, which makes commits wait.
    let probes = 0;
    await expect.poll(async () => {
      let isOpen = true;
      const probe = admin`create table ${admin(`probe${probes++}`)} ()`.finally(() => (isOpen = false));
      let waited = 0;
      while (isOpen) waited += await cancelWaits();
      await probe;
      return waited;
    }).toBeGreaterThan(0);
    await isRefused(storage.commit([{ key: ['a'], value: 2 }]));
    await isRefused(storage.get(['a'])); // what it would read may be lost
    await requireStandby('');
    expect((await storage.get(['a']))?.value).toBe(2);
    expect(await storage.list({ prefix: [], limit: 10 })).toHaveLength(1);
    expect(errors).toHaveLength(1);
  });

  it('continues after a server restart, and reports to watchers that they may have missed changes', async () => {
    const storage = fresh();
    await storage.commit([{ key: ['a'], value: 1 }]);
    const stop = new AbortController();
    let calls = 0;
    const told = Promise.withResolvers<void>();
    storage.watch([['a']], {
      signal: stop.signal,
      onNews: () => {
        calls++;
        told.resolve();
      },
    });
    await told.promise;
    const before = calls;
    await server.restart();
    await expect.poll(() => calls).toBeGreaterThan(before);
    await expect.poll(() => storage.get(['a']).then((entry) => entry?.value, () => undefined)).toBe(1);
    stop.abort();
  });

  it('carries a run: another instance streams it as it goes on, and a retry there runs nothing again', async () => {
    const table = `t${tables++}`;
    const { model, calls } = scriptedModel(() => streamOf(says('The bilge is dry')));
    const [here, there] = [0, 1].map(() => testRuntime({ model, storage: fresh({ table }) }));
    if (!here || !there) throw new Error('No instances');
    const ask = { idempotencyKey: 'key-1' };
    const streams = await Promise.all([
      here.run(runRequest(), localPrincipal(), ask).then(readAll),
      there.run(runRequest(), localPrincipal(), ask).then(readAll),
    ]);
    const again = await readAll(await there.run(runRequest(), localPrincipal(), ask));
    expect([...streams, again].map(textOf)).toEqual(['The bilge is dry', 'The bilge is dry', 'The bilge is dry']);
    expect(again).toEqual(streams[0]);
    expect(calls).toHaveLength(1);
    await Promise.all([here.close(), there.close()]);
  });

  it.each(share(endings, 3))('answers each call with its own value after the server ended by %s', async (how) => {
    const storage = fresh();
    const ids = Array.from({ length: 12 }, (_, id) => id);
    for (const id of ids) await storage.commit([{ key: ['own', id], value: id }]);
    for (let round = 0; round < 4; round++) {
      let isBack = false;
      const answers = new Set<string>();
      const ask = async (id: number): Promise<void> => {
        for (let last = false; !last;) {
          last = isBack; // one that begins after the restart is answered
          const value = await storage.get(['own', id]).then((entry) => entry?.value, () => id);
          answers.add(`${id}: ${String(value)}`);
        }
      };
      const asking = ids.map(ask);
      await server.restart(how).then(() => (isBack = true));
      await Promise.all(asking);
      expect([...answers].toSorted()).toEqual(ids.map((id) => `${id}: ${id}`).toSorted());
    }
  }, 15_000);

  it('still takes one client as `sql`, also across a restart of the server', async () => {
    const storage = postgresStorage({ sql: server.connect(plainOptions), table: `t${tables++}` });
    open.push(storage);
    const [news, heard] = [Promise.withResolvers<void>(), new AbortController()];
    await storage.commit([{ key: ['a'], value: 1 }]);
    storage.watch([['a']], { signal: heard.signal, onNews: news.resolve });
    await news.promise;
    await server.restart('SIGINT');
    await vi.waitFor(() => storage.commit([{ key: ['a'], value: 2 }]), { timeout: 10_000, interval: 50 });
    expect((await storage.get(['a']))?.value).toBe(2);
    heard.abort();
  }, 15_000);

  it('refuses a composition without a client', () => {
    expect(() => postgresStorage({})).toThrow(expect.objectContaining({ details: { reason: 'invalid_client' } }));
  });

  it('refuses a client that was made without the options of the storage', () => {
    const connect: typeof server.connect = ({ onclose: _, ...options }) =>
      server.connect({ ...options, onclose: () => undefined });
    expect(() => postgresStorage({ connect })).toThrow(
      expect.objectContaining({ code: 'invalid_argument', details: { reason: 'invalid_client' } }),
    );
  });

  it('is unavailable where there is no server, and keeps keys and values out of the error', async () => {
    const storage = postgresStorage({
      connect(options) {
        const sql = server.connect(options);
        void sql.end();
        return sql;
      },
    });
    const failed = storage.commit([{ key: ['secret-key'], value: 'secret-value' }]);
    await expect(failed).rejects.toMatchObject({ code: 'unavailable', details: { reason: 'storage_blocked' } });
    await expect(failed.catch((error: unknown) => JSON.stringify(error))).resolves.not.toMatch(/secret/);
  });

  it.each(['', 'a-b', 'Robert"; drop', '1st', 'x'.repeat(49)])('refuses the table %j', (table) => {
    expect(() => postgresStorage({ connect: server.connect, table })).toThrow(
      expect.objectContaining({ code: 'invalid_argument', details: { reason: 'invalid_table' } }),
    );
  });
});
