/**
 * The rules of the `BlobStore` port as a list of named checks. It knows no test runner: give each check a fresh subject, in a test
 * named like the check.
 *
 * @example
 * for (const { name, run } of blobStoreContract) it(name, () => run(freshStore()));
 */

import type { BlobStore } from '../../src/contracts/blob-store.ts';
import { assertEqual } from './assert.ts';

/** One rule. */
export interface BlobCheck {
  readonly name: string;
  readonly run: (store: BlobStore) => Promise<void>;
}

const scopeOf = (tenant: string, subject = 'ada') => ({ tenant, subject, signal: new AbortController().signal });
const ours = scopeOf('ours');
const others = [scopeOf('theirs'), scopeOf('ours', 'bo'), scopeOf('ada', 'ours')];
const blob = { bytes: new Uint8Array([137, 80, 78, 71]), mediaType: 'image/png' };

/** What every `BlobStore` keeps to. */
export const blobStoreContract: readonly BlobCheck[] = [
  {
    name: 'returns what was put, with its type',
    async run(store) {
      assertEqual(await store.get(await store.put(blob, ours), ours), blob);
    },
  },
  {
    name: 'returns files of every size up to 5 MiB as they were',
    async run(store) {
      for (const size of [1, 65_536, 524_288, 524_289, 5_242_880]) {
        const bytes = new Uint8Array(size).map((_, at) => at % 251);
        const found = await store.get(await store.put({ ...blob, bytes }, ours), ours);
        assertEqual([found?.bytes.length, found?.bytes.every((byte, at) => byte === at % 251)], [size, true]);
      }
    },
  },
  {
    name: 'returns an id that an address can hold',
    async run(store) {
      assertEqual(/^[\w.-]{1,128}$/.test(await store.put(blob, ours)), true);
    },
  },
  {
    name: 'returns nothing for an id that no file has, whatever it looks like',
    async run(store) {
      for (const id of ['unknown', '0'.repeat(64), '../ours', '', '\0', 'x'.repeat(3000)]) {
        assertEqual(await store.get(id, ours), undefined);
      }
    },
  },
  {
    name: 'shows no tenant and no person the files of another, and deletes none of them',
    async run(store) {
      const id = await store.put(blob, ours);
      for (const theirs of others) {
        assertEqual(await store.get(id, theirs), undefined);
        await store.delete(id, theirs);
        assertEqual(await store.get(id, ours), blob);
        await store.delete(await store.put(blob, theirs), theirs);
        assertEqual(await store.get(id, ours), blob);
      }
    },
  },
  {
    name: 'deletes a file, and does nothing for an unknown id',
    async run(store) {
      const id = await store.put(blob, ours);
      await store.delete(id, ours);
      assertEqual(await store.get(id, ours), undefined);
      await store.delete(id, ours);
      await store.delete('unknown', ours);
    },
  },
  {
    name: 'stores the same content twice without harm',
    async run(store) {
      const ids = await Promise.all([store.put(blob, ours), store.put(blob, ours)]);
      for (const id of ids) assertEqual(await store.get(id, ours), blob);
    },
  },
  {
    name: 'rejects when its signal has aborted',
    async run(store) {
      const id = await store.put(blob, ours);
      const gone = { ...ours, signal: AbortSignal.abort() };
      for (const call of [store.get(id, gone), store.put(blob, gone)]) {
        assertEqual(await call.then(() => 'resolved', () => 'rejected'), 'rejected');
      }
    },
  },
];
