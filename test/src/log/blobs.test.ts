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

  it('are written once for the same content', async () => {
    const { blobs, writes } = setup();
    await blobs.put(blob, scope);
    const before = writes.length;
    await blobs.put(blob, scope);
    expect(writes).toHaveLength(before);
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
});
