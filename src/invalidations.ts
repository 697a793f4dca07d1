/** The news that definitions or secrets have changed: whoever writes them tells it, every runtime over the storage hears it. */

import { type Bulletin, createBulletin } from './bulletin.ts';
import type { Storage } from './ports.ts';

/** Gives the bulletin of the keys to forget: `agent:<id>`, `provider:<id>`, `tools`, `secrets`, or `*`. */
export function createInvalidations(storage: Storage): Bulletin<readonly string[]> {
  return createBulletin(storage, 'invalidate');
}
