import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { etcdStorage, type EtcdStorageOptions } from '../../../adapters/storage/etcd.ts';
import { createTestClock, watchableStorageContract } from '../../contracts/storage.ts';
import { type EtcdCluster, etcdProgram, startEtcd } from '../../tools/servers/etcd-server.ts';

const blocked = { code: 'unavailable', details: { reason: 'storage_blocked' } };
let prefixes = 0;
const open: { close(): Promise<void> }[] = [];

function opened(cluster: EtcdCluster, options: Partial<EtcdStorageOptions> = {}) {
  const storage = etcdStorage({ endpoints: cluster.endpoints, prefix: `p${prefixes++}`, ...options });
  open.push(storage);
  return storage;
}

afterEach(async () => void await Promise.all(open.splice(0).map((storage) => storage.close())));

describe.skipIf(etcdProgram === undefined)('etcdStorage', () => {
  let cluster: EtcdCluster;
  beforeAll(async () => void (cluster = await startEtcd(1)));
  afterAll(() => cluster.stop());

  it.each(watchableStorageContract)('keeps the contract: $name', async ({ run }) => {
    const clock = createTestClock();
    const prefix = `p${prefixes++}`;
    const openOne = async () => opened(cluster, { now: clock.now, prefix });
    const openOther = async () => opened(cluster, { now: clock.now });
    await expect(run({ clock, open: openOne, openOther })).resolves.toBeUndefined();
  });

  it('takes 100 changes with their versions, and values of 4 MiB', async () => {
    const storage = opened(cluster);
    const changes = Array.from({ length: 100 }, (_, at) => ({ key: ['n', at], value: at, ttlMs: 60_000 }));
    const first = await storage.commit(changes.map((change) => ({ ...change, ifVersion: null })));
    if (!first.ok) throw new Error('The first commit conflicts');
    const again = await storage.commit(changes.map((change) => ({ ...change, ifVersion: first.version })));
    expect(again.ok).toBe(true);
    const value = 'x'.repeat(4 * 1024 * 1024 - 100);
    await storage.commit([{ key: ['large'], value }]);
    expect((await storage.get(['large']))?.value).toBe(value);
  });

  it('lists as many as asked where most are over', async () => {
    const clock = createTestClock();
    const storage = opened(cluster, { now: clock.now });
    const changes = Array.from(
      { length: 90 },
      (_, at) => ({ key: ['n', at], value: at, ...(at % 9 > 0 && { ttlMs: 10 }) }),
    );
    await storage.commit(changes);
    clock.advance(20);
    const listed = await storage.list({ prefix: ['n'], limit: 4 });
    expect(listed.map(({ value }) => value)).toEqual([0, 9, 18, 27]);
  });

  it('reads nothing of another program under its keys, and says so', async () => {
    const storage = opened(cluster, { prefix: 'shared' });
    await storage.commit([{ key: ['a'], value: 1 }]);
    const init = { method: 'POST', body: JSON.stringify({ key: btoa('shared/e\u0001'), value: btoa('theirs') }) };
    await fetch(`${cluster.endpoints[0]}/v3/kv/put`, init);
    await expect(storage.list({ prefix: [], limit: 10 })).rejects.toMatchObject({
      ...blocked,
      message: expect.stringContaining('another program'),
    });
  });

  it.each([
    [{ endpoints: [] }, 'invalid_client'],
    [{ endpoints: ['10.0.0.1:2379'] }, 'invalid_client'],
    [{ endpoints: ['http://root:secret@10.0.0.1:2379'] }, 'invalid_client'],
    [{ endpoints: ['http://10.0.0.1:2379'], prefix: 'a/b' }, 'invalid_client'],
    [{ endpoints: ['http://10.0.0.1:2379'], table: 'x' }, 'wrong_argument'],
  ])('refuses %j', (options, reason) => {
    const refused = expect.objectContaining({ code: 'invalid_argument', details: expect.objectContaining({ reason }) });
    expect(() => etcdStorage(options)).toThrow(refused);
  });

  it('refuses a cluster that would refuse large commits later, and names the setting', async () => {
    for (
      const [settings, flag] of [[[], '--max-txn-ops'], [['--max-txn-ops', '256'], '--max-request-bytes']] as const
    ) {
      const small = await startEtcd(1, settings);
      await expect(opened(small).get(['a'])).rejects.toMatchObject({
        code: 'invalid_argument',
        details: { reason: 'invalid_client' },
        message: expect.stringContaining(flag),
      });
      await small.stop();
    }
  });

  it('signs in as a user, again where the node has forgotten it, and keeps the password out of errors', async () => {
    const guarded = await startEtcd(1);
    const send = async (path: string, body: object) => {
      const response = await fetch(`${guarded.endpoints[0]}${path}`, { method: 'POST', body: JSON.stringify(body) });
      expect(response.status).toBe(200);
    };
    await send('/v3/auth/user/add', { name: 'root', password: 'secret-word' });
    await send('/v3/auth/role/add', { name: 'root' });
    await send('/v3/auth/user/grant', { user: 'root', role: 'root' });
    await send('/v3/auth/enable', {});
    const storage = opened(guarded, { user: { name: 'root', password: 'secret-word' } });
    await storage.commit([{ key: ['a'], value: 1 }]);
    await expect(opened(guarded).get(['a'])).rejects.toMatchObject(blocked);
    guarded.signal(0, 'SIGKILL');
    await guarded.ended(0);
    guarded.start(0); // its tokens were in its memory
    await expect.poll(() => storage.get(['a']).then((entry) => entry?.value, () => undefined)).toBe(1);
    const wrong = opened(guarded, { user: { name: 'root', password: 'wrong-word' } }).get(['a']);
    const error: unknown = await wrong.catch((cause: unknown) => cause);
    expect(error).toMatchObject({ ...blocked, message: expect.stringContaining('refuses this user') });
    expect(JSON.stringify(error)).not.toContain('wrong-word');
    await guarded.stop();
  });
});

describe.skipIf(etcdProgram === undefined)('etcdStorage, over three nodes', () => {
  let cluster: EtcdCluster;
  beforeAll(async () => void (cluster = await startEtcd(3)));
  afterAll(() => cluster.stop());

  /** Counts up until so many commits were acknowledged, and returns what they were. */
  async function count(storage: ReturnType<typeof opened>, commits: number): Promise<number[]> {
    const acknowledged: number[] = [];
    while (acknowledged.length < commits) {
      try {
        const sum = await storage.get(['sum']);
        const next = Number(sum?.value ?? 0) + 1;
        const changes = [{ key: ['sum'], value: next, ifVersion: sum?.version ?? null }, {
          key: ['step', next],
          value: 1,
          ifVersion: null,
        }];
        if ((await storage.commit(changes)).ok) acknowledged.push(next);
      } catch (error) {
        expect(error).toMatchObject(blocked);
      }
    }
    return acknowledged;
  }

  const rest = (node: number): number[] => [0, 1, 2].filter((other) => other !== node);
  it.each<[string, (leader: number) => void, (leader: number) => void]>([
    ['the leader is killed', (leader) => cluster.signal(leader, 'SIGKILL'), (leader) => cluster.start(leader)],
    [
      'the leader is silent',
      (leader) => cluster.signal(leader, 'SIGSTOP'),
      (leader) => cluster.signal(leader, 'SIGCONT'),
    ],
  ])('goes on where %s, and loses and doubles nothing', async (_, harm, heal) => {
    const prefix = `p${prefixes++}`;
    const [writer, reader] = [opened(cluster, { prefix }), opened(cluster, { prefix })];
    const stop = new AbortController();
    let seen = 0;
    const look = async () =>
      void (seen = Math.max(seen, Number((await reader.get(['sum']).catch(() => undefined))?.value ?? 0)));
    reader.watch([['sum']], { signal: stop.signal, onNews: () => void look() });
    const before = await count(writer, 10);
    const leader = await cluster.leader();
    harm(leader);
    const after = await count(writer, 10);
    const last = after.at(-1) ?? 0;
    await expect.poll(() => seen).toBe(last); // told by the watch, also where it was at the lost node
    heal(leader);
    const steps = (await writer.list({ prefix: ['step'], limit: 1000 })).map(({ key }) => key[1]);
    expect(steps).toEqual(Array.from({ length: last }, (_step, at) => at + 1)); // each number once, none missing
    expect(steps).toEqual(expect.arrayContaining([...before, ...after]));
    stop.abort();
  });

  it('is blocked without a majority, and goes on when it is back', async () => {
    const storage = opened(cluster);
    await storage.commit([{ key: ['a'], value: 1 }]);
    const ifVersion = (await storage.get(['a']))?.version ?? null;
    const leader = await cluster.leader();
    for (const node of rest(leader)) cluster.signal(node, 'SIGSTOP');
    await expect(storage.commit([{ key: ['a'], value: 2, ifVersion }])).rejects.toMatchObject(blocked); // it may still be done
    await expect(storage.get(['a'])).rejects.toMatchObject(blocked); // a read too asks the majority
    for (const node of rest(leader)) cluster.signal(node, 'SIGCONT');
    const last = async (): Promise<boolean> => {
      const found = await storage.get(['a']);
      return (await storage.commit([{ key: ['a'], value: 3, ifVersion: found?.version ?? null }])).ok;
    };
    await expect.poll(() => last().catch(() => false)).toBe(true);
    expect((await storage.get(['a']))?.value).toBe(3);
  });
});
