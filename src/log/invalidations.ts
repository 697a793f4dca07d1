/** The invalidations of definitions and secrets: their writers publish them, every runtime over the storage reads them. */

import { type Bulletin, createBulletin } from './bulletin.ts';
import type { Storage } from '../contracts/storage.ts';

/** Creates the bulletin of the keys to invalidate: `agent:<id>`, `provider:<id>`, `tools`, `secrets`, or `*`. */
export function createInvalidations(storage: Storage): Bulletin<readonly string[]> {
  return createBulletin(storage, 'invalidate');
}
