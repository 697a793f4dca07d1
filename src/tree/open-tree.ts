/** A tree that outlives its page or is shared by instances: stored, and edited in memory. */

import { loadOnce } from '../base/load-once.ts';
import type { OpenTree, OpenTreeOptions } from './open-stored.ts';

export type { OpenTree, OpenTreeOptions } from './open-stored.ts';

const load = /* @__PURE__ */ loadOnce(() => import('./open-stored.ts'));

/**
 * Opens a tree: the stored one, or where there is none a new one with `rows`. Its tools store each change, together with its
 * idempotency record, before they answer.
 *
 * @throws PinnaceError `unavailable` when the storage is, `invalid_argument` as `createTree`.
 */
export async function openTree(options: OpenTreeOptions): Promise<OpenTree> {
  const { openStored } = await load();
  return await openStored(options);
}
