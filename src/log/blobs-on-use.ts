/** Files in a storage, whose code is loaded with the first file: most chats have none. */

import { loadOnce } from '../base/load-once.ts';
import type { BlobStore } from '../contracts/blob-store.ts';
import type { StorageBlobsOptions } from './blobs.ts';

const load = /* @__PURE__ */ loadOnce(() => import('./blobs.ts'));

/** Creates a store of files over a storage, as `storageBlobs`. */
export function blobsOnUse(options: StorageBlobsOptions): BlobStore {
  const store = async (): Promise<BlobStore> => (await load()).storageBlobs(options);
  return {
    get: async (...args) => await (await store()).get(...args),
    put: async (...args) => await (await store()).put(...args),
    delete: async (...args) => await (await store()).delete(...args),
  };
}
