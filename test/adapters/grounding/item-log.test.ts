import { describe, expect, it } from 'vitest';
import { storedLog } from '../../../adapters/grounding/item-log.ts';
import { createSnapshotStore } from '../../../adapters/grounding/snapshot-store.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import type { Change, Storage } from '../../../src/contracts/storage.ts';

const rowsOf = (count: number, size = 100_000) =>
  Array.from({ length: count }, (_, i) => {
    return { item: { id: `${i}`, text: 'x'.repeat(size), uri: '', metadata: {}, updatedAt: 0 } };
  });

/** A storage that fails from the first commit on that `when` matches: its process ends there. */
function crashing(storage: Storage, when: (changes: readonly Change[]) => boolean): Storage {
  let isDead = false;
  return {
    ...storage,
    commit: async (changes) => {
      isDead ||= when(changes);
      if (isDead) throw new Error('The process ended');
      return await storage.commit(changes);
    },
  };
}

const hasHead = (name: string) => (changes: readonly Change[]) => changes.some(({ key }) => key.at(-1) === name);
const countOf = async (storage: Storage, kind: string) =>
  (await storage.list({ prefix: ['s', kind], limit: 1000 })).length;

describe('storedLog', () => {
  it('removes what a rewrite left behind that never ended, with a later rewrite', async () => {
    let time = 0;
    const storage = memoryStorage();
    const dying = storedLog(crashing(storage, hasHead('head')), ['s'], () => time);
    await expect(dying.rewrite(rowsOf(6))).rejects.toThrow('The process ended');
    const left = await countOf(storage, 'part');
    expect(left).toBeGreaterThan(0);
    time += 60_000;
    const log = storedLog(storage, ['s'], () => time);
    await Array.fromAsync(log.catchUp());
    expect(await log.rewrite(rowsOf(1, 10))).toBe(true);
    expect(await countOf(storage, 'part')).toBe(1);
    expect(await countOf(storage, 'part-garbage')).toBe(0);
  });

  it('removes the former parts with a rewrite, and leaves those of a rewrite in progress alone', async () => {
    const storage = memoryStorage();
    const [log, other] = [storedLog(storage, ['s']), storedLog(storage, ['s'])];
    await Array.fromAsync(log.catchUp());
    await log.append({ removed: [], put: rowsOf(6) });
    await Array.fromAsync(other.catchUp());
    const slow = other.rewrite(rowsOf(2));
    expect(await log.rewrite(rowsOf(1, 10))).toBe(true);
    expect(await slow).toBe(false);
    expect(await countOf(storage, 'part')).toBe(1);
    const read = await Array.fromAsync(storedLog(storage, ['s']).catchUp());
    expect(read).toHaveLength(1);
  });
});

describe('createSnapshotStore', () => {
  it('removes the parts of a snapshot that was never finished, with a later one', async () => {
    let time = 0;
    const storage = memoryStorage();
    const bytes = new Uint8Array(3_000_000);
    const dying = createSnapshotStore(crashing(storage, hasHead('index-head')), ['s'], () => time);
    await expect(dying.write('1', bytes)).rejects.toThrow('The process ended');
    expect(await countOf(storage, 'index-part')).toBe(3);
    time += 60_000;
    const snapshots = createSnapshotStore(storage, ['s'], () => time);
    await snapshots.write('2', bytes.slice(0, 10));
    expect(await countOf(storage, 'index-part')).toBe(1);
    expect(await (await snapshots.find())?.read()).toHaveLength(10);
  });
});
