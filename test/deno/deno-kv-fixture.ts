/** Databases of Deno KV for tests: fresh ones, watched ones, and ones in which something happens at the worst moment. */

import { afterEach } from 'vitest';
import { denoKvStorage, type DenoKvStorageOptions } from '../../adapters/storage/deno-kv.ts';
import type { ClosableStorage, Watchable } from '../../src/contracts/storage.ts';
import { createTestClock, type StorageSubject } from '../contracts/storage.ts';

/** A text of four parts. */
export const large = '漢'.repeat(100_000);
/** What an unreachable store answers. */
export const blocked = { code: 'unavailable', details: { reason: 'storage_blocked' } };

const cleanUps: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

/** Opens a storage that is closed after the test. */
export function open(options: DenoKvStorageOptions): ClosableStorage & Watchable {
  const storage = denoKvStorage(options);
  cleanUps.unshift(() => storage.close());
  return storage;
}

/** Gives the path of a database that is removed after the test. */
export function freshPath(): string {
  const directory = Deno.makeTempDirSync();
  cleanUps.push(() => Deno.remove(directory, { recursive: true }));
  return `${directory}/state.kv`;
}

/** Gives subjects whose stores stand where `path` says. */
export function freshSubject(path: () => string): () => StorageSubject<ClosableStorage & Watchable> {
  return () => {
    const clock = createTestClock();
    const openFresh = async () => open({ path: path(), now: clock.now });
    return { clock, open: openFresh, openOther: openFresh };
  };
}

/** The database behind a storage, as another program sees it. */
export async function openRaw(path: string): Promise<Deno.Kv> {
  const kv = await Deno.openKv(path);
  cleanUps.unshift(() => kv.close());
  return kv;
}

export interface KvCalls {
  readonly reads: number;
  readonly operations: number;
}

/** Counts the reads and atomic operations of databases. Each is one round trip where a service hosts the database. */
export function counted(): {
  readonly openKv: (path?: string) => Promise<Deno.Kv>;
  /** The calls since the last time that this was called. */
  readonly take: () => KvCalls;
} {
  let calls = { reads: 0, operations: 0 };
  const read = <Args extends unknown[], Result>(call: (...args: Args) => Result) => (...args: Args): Result => {
    calls.reads += 1;
    return call(...args);
  };
  return {
    take() {
      const taken = calls;
      calls = { reads: 0, operations: 0 };
      return taken;
    },
    async openKv(path) {
      const kv = await Deno.openKv(path);
      const atomic = kv.atomic.bind(kv);
      return Object.assign(kv, {
        get: read(kv.get.bind(kv)),
        getMany: read(kv.getMany.bind(kv)),
        list: read(kv.list.bind(kv)),
        atomic: () => {
          const operation = atomic();
          const commit = operation.commit.bind(operation);
          operation.commit = () => {
            calls.operations += 1;
            return commit();
          };
          return operation;
        },
      });
    },
  };
}

/** Gives the keys of one kind: `entry`, `part` or `unnamed`. */
export async function rawKeys(kv: Deno.Kv, kind: string): Promise<Deno.KvKey[]> {
  return (await Array.fromAsync(kv.list({ prefix: ['pinnace', kind] }))).map(({ key }) => key);
}

/**
 * Opens a database in which something happens before each atomic operation that checks, which is when values become visible; or
 * that deletes, which is when replaced parts are removed; or that sets, which is when parts are written, too.
 */
export function interrupted(before: () => unknown, method: Method = 'check'): (path?: string) => Promise<Deno.Kv> {
  return async (path) => {
    const kv = await Deno.openKv(path);
    const atomic = kv.atomic.bind(kv);
    return Object.assign(kv, { atomic: () => interruptedWrite(atomic(), before, method) });
  };
}

type Method = 'check' | 'set' | 'delete';

function interruptedWrite(write: Deno.AtomicOperation, before: () => unknown, method: Method): Deno.AtomicOperation {
  const commit = write.commit.bind(write);
  let isMeant = false;
  const noted = new Proxy(Reflect.get(write, method), {
    apply: (target, _, args) => {
      isMeant = true;
      return Reflect.apply(target, write, args);
    },
  });
  return Object.assign(write, {
    [method]: noted,
    commit: async () => {
      if (isMeant) await before();
      return await commit();
    },
  });
}
