/** The stored files of a runtime, whose code is loaded with the first call. */

import { loadOnce } from '../../base/load-once.ts';
import type { StoredFiles } from './stored-file.ts';
import type { createStoredFiles } from './stored-files.ts';

const load = /* @__PURE__ */ loadOnce(() => import('./stored-files.ts'));

/** Creates the stored files of a runtime. */
export function storedFilesOnUse(...parts: Parameters<typeof createStoredFiles>): StoredFiles {
  const files = async (): Promise<StoredFiles> => (await load()).createStoredFiles(...parts);
  return {
    put: async (...args) => await (await files()).put(...args),
    get: async (...args) => await (await files()).get(...args),
    delete: async (...args) => await (await files()).delete(...args),
  };
}
