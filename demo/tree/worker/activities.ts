/** What happened to the tree, in words, and what of it can be taken back. */

import type { Tree } from '../../../src/index.ts';
import type { TreeChange, TreeEvent } from '../../../src/tree/index.ts';
import type { Activity } from '../../control/tree-control.ts';

/** The changes of a tree, the latest last. */
export interface Activities {
  note(event: TreeEvent, by: string): Activity;
  /** What `undo` would take back, and the version to take back. */
  latest(): { readonly activity: Activity; readonly version: string } | undefined;
  /** This version cannot be taken back any more. */
  forget(version: string): void;
}

const maxActivities = 200;
const maxNodes = 100;

/** Creates an empty list. */
export function createActivities(tree: Tree): Activities {
  const entries: { readonly activity: Activity; readonly version: string }[] = [];
  return {
    note(event, by) {
      const activity = describe(tree, event, by);
      if (event.undoes !== undefined) forget(event.undoes);
      else if (entries.push({ activity, version: event.version }) > maxActivities) entries.shift();
      return activity;
    },
    latest: () => entries.at(-1),
    forget,
  };

  function forget(version: string): void {
    const at = entries.findIndex((entry) => entry.version === version);
    if (at >= 0) entries.splice(at, 1);
  }
}

function describe(tree: Tree, { rev, changes, undoes }: TreeEvent, by: string): Activity {
  const nodeIds = changes.slice(0, maxNodes).flatMap((change) => nodeOf(tree, change) ?? []);
  const [first] = changes;
  const more = changes.length > 1 ? ` and ${changes.length - 1} more` : '';
  const text = first ? `${sayChange(tree, first)}${more}` : 'Changed nothing';
  return { rev, by, text: undoes !== undefined ? `Undid: ${text}` : text, nodeIds: [...new Set(nodeIds)] };
}

/** The node to show; the parent of a removed node. */
function nodeOf(tree: Tree, change: TreeChange): string | undefined {
  if (tree.get(change.nodeId)) return change.nodeId;
  return change.kind === 'remove' ? change.parentId ?? undefined : undefined;
}

function sayChange(tree: Tree, change: TreeChange): string {
  const name = quote(tree, change.nodeId);
  switch (change.kind) {
    case 'insert':
      return `Added ${name}${inside(tree, change.parentId)}`;
    case 'remove':
      return change.size === 1
        ? `Removed a node${from(tree, change.parentId)}`
        : `Removed ${change.size.toLocaleString('en')} nodes${from(tree, change.parentId)}`;
    case 'move':
      return change.parentId === change.oldParentId
        ? `Moved ${name}${inside(tree, change.parentId)}`
        : `Moved ${name} to ${quote(tree, change.parentId)}`;
    case 'payload':
      return `Changed ${name}`;
    case 'content':
      return `Replaced the children of ${name}`;
    default:
      return change satisfies never;
  }
}

function inside(tree: Tree, parentId: string | null): string {
  return parentId === null ? '' : ` in ${quote(tree, parentId)}`;
}

function from(tree: Tree, parentId: string | null): string {
  return parentId === null ? '' : ` from ${quote(tree, parentId)}`;
}

function quote(tree: Tree, nodeId: string): string {
  const name = tree.get(nodeId)?.payload['name'];
  return typeof name === 'string' ? `“${name.length > 60 ? `${name.slice(0, 59)}…` : name}”` : 'a node';
}
