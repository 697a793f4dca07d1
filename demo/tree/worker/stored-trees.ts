/** The yards of an endpoint's tenants, each in the storage that all instances share. */

import type { OpenTree } from '../../../src/tree/index.ts';
import { type Storage, treeTools } from '../../../src/index.ts';
import type { Watchable } from '../../../src/contracts/index.ts';
import type { CallTree } from './tools.ts';
import { openYard } from './yard.ts';

/** How many are held open; the one that was used least recently is opened again when it is wanted. */
const maxOpen = 16;

/** Returns the way to the trees; each is opened when it is first wanted. */
export function storedTrees(
  storage: Storage & Partial<Watchable>,
  agentId: string,
  now: () => number = Date.now,
): CallTree {
  const open = new Map<string, Promise<OpenTree>>();

  async function treeOf(tenant: string): Promise<OpenTree> {
    const known = open.get(tenant);
    const opening = known ?? openYard(storage, { tenant });
    open.delete(tenant);
    open.set(tenant, opening);
    opening.catch(() => open.delete(tenant)); // the next call tries again
    const [oldest] = open.keys();
    if (open.size > maxOpen && oldest !== undefined) open.delete(oldest);
    const tree = await opening;
    if (known) await tree.refresh();
    return tree;
  }

  return async (tenant, { tool, input, subject }) => {
    const tree = await treeOf(tenant);
    const caller = subject === undefined ? agentId : `${agentId} for ${subject}`;
    return await treeTools(tree, { agentId: caller, role: 'editor', shape: 'columns', now }).call(tool, input);
  };
}
