import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { durableObjectStorage } from '../../../adapters/storage/durable-object.ts';
import type { ClosableStorage, Watchable } from '../../../src/contracts/storage.ts';
import { createTestClock, type StorageSubject, watchableStorageContract } from '../../contracts/storage.ts';
import { objectDatabase } from '../../fixtures/workers/object-database.ts';

function freshSubject(): StorageSubject<ClosableStorage & Watchable> {
  const clock = createTestClock();
  const storage = objectDatabase();
  return {
    clock,
    open: async () => durableObjectStorage({ storage, now: clock.now }),
    openOther: async () => durableObjectStorage({ storage, table: 'other', now: clock.now }),
  };
}

describe('durableObjectStorage keeps the contract of a closable storage', () => {
  it.each(watchableStorageContract)('$name', async ({ run }) => {
    await expect(run(freshSubject())).resolves.toBeUndefined();
  });
});

describe('durableObjectStorage', () => {
  it('finds its state again in the next process of the object', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pinnace-object-'));
    const first = objectDatabase(join(folder, 'a.sqlite'));
    await durableObjectStorage({ storage: first }).commit([{ key: ['a', 1], value: new Map([['b', 2]]) }]);
    first.close();
    const next = objectDatabase(join(folder, 'a.sqlite'));
    expect((await durableObjectStorage({ storage: next }).get(['a', 1]))?.value).toEqual(new Map([['b', 2]]));
    next.close();
    await rm(folder, { recursive: true });
  });

  it('removes expired values, with all their parts, when others are written', async () => {
    const clock = createTestClock();
    const storage = objectDatabase();
    const store = durableObjectStorage({ storage, now: clock.now });
    await store.commit([{ key: ['large'], value: 'x'.repeat(3_000_000), ttlMs: 10 }]);
    expect(storage.sql.exec('select part from pinnace').toArray()).toHaveLength(3);
    clock.advance(10);
    await store.commit([{ key: ['next'], value: 1, ttlMs: 10 }]);
    expect(storage.sql.exec('select name from pinnace').toArray()).toEqual([{ name: '["next"]' }]);
  });

  it('rejects a table that needs quotes, a value over 4 MiB, and what it cannot keep', async () => {
    const storage = objectDatabase();
    expect(() => durableObjectStorage({ storage, table: 'a b' })).toThrow('up to 48 of a-z');
    const store = durableObjectStorage({ storage });
    const reasonOf = (value: unknown) =>
      store.commit([{ key: ['a'], value }]).then(() => undefined, ({ details }) => details.reason);
    expect(await reasonOf('x'.repeat(4 * 1024 * 1024))).toBe('value_too_large');
    expect(await reasonOf([new Blob(['x'])])).toBe('invalid_value');
    expect(await store.get(['a'])).toBeUndefined();
  });

  it('says that the database is full, or cannot be used', async () => {
    const failing = (message: string) => {
      const { sql } = objectDatabase();
      const transactionSync = (): never => {
        throw new Error(message);
      };
      return durableObjectStorage({ storage: { sql, transactionSync } }).commit([{ key: ['a'], value: 1 }]);
    };
    const full = { code: 'unavailable', retryable: false, details: { reason: 'storage_full' } };
    await expect(failing('database or disk is full: SQLITE_FULL')).rejects.toMatchObject(full);
    await expect(failing('Durable Object reset')).rejects.toMatchObject({ details: { reason: 'storage_blocked' } });
  });
});
