/** What a mutation did, as data: for the change feed, for conflicts, and for the log. */

/** One thing that changed in the tree. */
export type TreeChange =
  | { readonly kind: 'insert'; readonly nodeId: string; readonly parentId: string | null; readonly size: number }
  | { readonly kind: 'remove'; readonly nodeId: string; readonly parentId: string | null; readonly size: number }
  | {
    readonly kind: 'move';
    readonly nodeId: string;
    readonly parentId: string;
    readonly oldParentId: string;
    readonly size: number;
  }
  | { readonly kind: 'payload'; readonly nodeId: string }
  /** Everything below the node was replaced, by so many nodes. */
  | { readonly kind: 'content'; readonly nodeId: string; readonly size: number };

/** What a change means for one node, as a conflict reports it. */
export interface Touch {
  readonly nodeId: string;
  readonly kind: 'payload' | 'children' | 'place' | 'removed' | 'view';
}

/** The nodes that a change touches. */
export function touchesOf(change: TreeChange): readonly Touch[] {
  const { nodeId } = change;
  switch (change.kind) {
    case 'payload':
      return [{ nodeId, kind: 'payload' }];
    case 'content':
      return [{ nodeId, kind: 'children' }];
    case 'insert':
      return [{ nodeId, kind: 'place' }, ...childrenOf(change.parentId)];
    case 'remove':
      return [{ nodeId, kind: 'removed' }, ...childrenOf(change.parentId)];
    case 'move':
      return [{ nodeId, kind: 'place' }, ...childrenOf(change.oldParentId), ...childrenOf(change.parentId)];
    default:
      return change satisfies never;
  }
}

function childrenOf(nodeId: string | null): readonly Touch[] {
  return nodeId === null ? [] : [{ nodeId, kind: 'children' }];
}
