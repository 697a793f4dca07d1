import { describe, expect, it } from 'vitest';
import { storedLog } from '../../../adapters/grounding/item-log.ts';
import { createSnapshotStore } from '../../../adapters/grounding/snapshot-store.ts';
import { textSource } from '../../../adapters/grounding/text.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { neverAborted } from '../../fixtures/grounding.ts';
import { losingStorage, repeatingStorage } from '../../fixtures/repeating-storage.ts';

const tenant = 'local';
const items = ['a', 'b', 'c'].map((id) => ({ id, text: `Item ${id}` }));
const change = { removed: [], put: [{ item: { id: 'a', text: 'Item a', uri: '', metadata: {}, updatedAt: 0 } }] };

describe.each([
  ['the storage repeats every commit whose answer was lost', repeatingStorage],
  ['every other commit fails after it was done', losingStorage],
])('a data source, where %s', (_name, broken) => {
  it('adds and removes items once, and reports how many', async () => {
    const storage = memoryStorage();
    const source = textSource({ id: 's', storage: broken(storage) });
    const stored = await source.remember({ tenant, items, idempotencyKey: 'k1' }, neverAborted());
    expect(await source.remember({ tenant, items, idempotencyKey: 'k1' }, neverAborted())).toEqual(stored);
    expect(await source.forget({ tenant, ids: ['a', 'b'] }, neverAborted())).toBe(2);
    const hits = await textSource({ id: 's', storage }).retrieve(
      { tenant, query: 'item', topK: 9, filters: [] },
      neverAborted(),
    );
    expect(hits.map(({ id }) => id)).toEqual(['c']);
  });
});

describe('createSnapshotStore', () => {
  it('keeps the snapshot of an index where the storage repeats a commit whose answer was lost', async () => {
    const snapshots = createSnapshotStore(repeatingStorage(memoryStorage()), ['s']);
    for (const version of ['1', '2', '3']) {
      await snapshots.write(version, new Uint8Array(100_000));
      const found = await snapshots.find();
      expect(found?.version).toBe(version);
      expect(await found?.read()).toHaveLength(100_000);
    }
  });
});

describe('storedLog', () => {
  it('knows its own part behind that of another instance, and reads the other', async () => {
    const storage = memoryStorage();
    const read = async (log: ReturnType<typeof storedLog>) => (await Array.fromAsync(log.catchUp())).length;
    const other = storedLog(storage, ['s']);
    const between = async () => {
      await read(other);
      await other.append(change);
    };
    let armed = true;
    const when = () => armed && !(armed = false);
    const log = storedLog(repeatingStorage(storage, { when, between }), ['s']);
    await read(log);
    expect(await log.append(change)).toBe(true);
    expect(await read(log)).toBe(1);
    expect(await log.append(change)).toBe(true);
    expect(await storage.list({ prefix: ['s', 'part'], limit: 10 })).toHaveLength(3);
  });
});
