/** The dependencies of a call, for trees with `conflictScope: "node"`: agents on separate branches never conflict. */

import { type Touch, touchesOf, type TreeChange } from '../../nodes/change.ts';
import type { Core } from '../../nodes/core.ts';
import { find, isInside } from '../../nodes/structure.ts';

/** A node, and its parts that must be unchanged since the caller read it. */
export interface Dependency {
  readonly nodeId: string;
  readonly kinds: readonly Touch['kind'][];
  /** So must everything below the node. */
  readonly isDeep?: boolean;
}

/** The node with everything below it. */
export function wholeOf(nodeId: string): Dependency {
  return { nodeId, kinds: ['payload', 'children', 'place'], isDeep: true };
}

/** The agent's own view, whichever of its nodes. */
export function viewOfNode(nodeId: string): Dependency {
  return { nodeId, kinds: ['view'] };
}

/** The changes that touch what a call depends on. */
export function clashing(
  core: Core,
  changes: readonly TreeChange[],
  dependencies: readonly Dependency[],
): readonly TreeChange[] {
  // Which change removed a missing node is unknown: a node above it may have been removed as well.
  const isRemoved = dependencies.some(({ nodeId, isDeep }) => isDeep === true && !find(core, nodeId));
  if (isRemoved) return changes;
  return changes.filter((change) => dependencies.some((dependency) => clashes(core, change, dependency)));
}

function clashes(core: Core, change: TreeChange, { nodeId, kinds, isDeep = false }: Dependency): boolean {
  if (kinds.includes('view')) return false;
  const bringsNodes = change.kind === 'insert' || change.kind === 'content';
  if (bringsNodes && nodeId !== change.nodeId && isBelow(core, nodeId, change.nodeId)) return true;
  return touchesOf(change).some((touch) =>
    touch.nodeId === nodeId ? kinds.includes(touch.kind) : isDeep && isBelow(core, touch.nodeId, nodeId)
  );
}

function isBelow(core: Core, nodeId: string, ancestorId: string): boolean {
  const [inner, outer] = [find(core, nodeId), find(core, ancestorId)];
  return inner !== undefined && outer !== undefined && isInside(core, { inner, outer });
}
