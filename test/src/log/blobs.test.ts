import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { storageBlobs } from '../../../src/log/blobs.ts';
import { blobStoreContract } from '../../contracts/blobs.ts';

const day = 86_400_000;
const scope = { tenant: 't', subject: 'ada', signal: new AbortController().signal };
const blob = { bytes: new Uint8Array(600_000).fill(7), mediaType: 'image/png' };

function setup() {
  let time = 1_000_000;
  const now = () => time;
  const storage = memoryStorage({ now });
  const writes: number[] = [];
  const counted: typeof storage = {
    ...storage,
    get: (key) => storage.get(key),
    commit: (changes) => (writes.push(changes.length), storage.commit(changes)),
  };
  const blobs = storageBlobs({ storage: counted, ttlMs: 30 * day, now });
  return { blobs, storage, writes, pass: (ms: number) => void (time += ms) };
}

describe('files in a storage', () => {
  it.each(blobStoreContract.map((check) => [check.name, check] as const))('%s', async (_, { run }) => {
    await expect(run(setup().blobs)).resolves.toBeUndefined();
  });

  it('expire 30 days after their last use', async () => {
    const { blobs, pass, storage } = setup();
    const id = await blobs.put(blob, scope);
    for (let use = 0; use < 4; use++) {
      pass(20 * day);
      expect(await blobs.get(id, scope)).toEqual(blob);
    }
    pass(30 * day);
    expect(await blobs.get(id, scope)).toBeUndefined();
    expect(await storage.list({ prefix: ['blob'], limit: 10 })).toEqual([]);
  });

  it('are missing as a whole when a part is missing', async () => {
    const { blobs, storage } = setup();
    const id = await blobs.put(blob, scope);
    await storage.commit([{ key: ['blob', 't', 'ada', id, 1] }]);
    expect(await blobs.get(id, scope)).toBeUndefined();
  });

  it('leave nothing behind when they are deleted', async () => {
    const { blobs, storage } = setup();
    await blobs.delete(await blobs.put(blob, scope), scope);
    expect(await storage.list({ prefix: [], limit: 10 })).toEqual([]);
  });

  it('do not exist until all of their parts are written', async () => {
    const storage = memoryStorage();
    let commits = 0;
    const failing = {
      get: (key: Parameters<typeof storage.get>[0]) => storage.get(key),
      commit: (changes: Parameters<typeof storage.commit>[0]) =>
        ++commits === 2 ? Promise.reject(new Error('lost')) : storage.commit(changes),
    };
    const blobs = storageBlobs({ storage: failing, ttlMs: day, now: Date.now });
    await expect(blobs.put(blob, scope)).rejects.toThrow('lost');
    const id = await blobs.put(blob, scope); // the second time it works, over what the first has left
    expect(await blobs.get(id, scope)).toEqual(blob);
  });
});
