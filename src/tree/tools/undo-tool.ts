/** `undo`: takes one mutation back, the caller's own unless its tools allow any, if no later change builds on it. */

import { PinnaceError } from '../../base/errors.ts';
import { type Touch, touchesOf, type TreeChange } from '../nodes/change.ts';
import type { Core } from '../nodes/core.ts';
import { find, isInside, slotOf } from '../nodes/structure.ts';
import type { HistoryEntry } from '../nodes/history.ts';
import { noView } from '../nodes/mutate.ts';
import { none } from '../nodes/node-store.ts';
import type { InverseOp } from '../nodes/op.ts';
import { Undo } from './tool-input.ts';
import { destroys, type ToolSpec, toolSpec } from './tool-spec.ts';
import type { CallContext } from './caller.ts';
import { conflict, isOfOtherEpoch, readVersion, versionOf, type VersionParts } from '../nodes/version.ts';

/** The tool that takes a mutation back. */
export const undoTool: ToolSpec = toolSpec({
  name: 'undo',
  description:
    'Takes back your change of the tree that returned this "version"; an undo can be undone too. What is expanded in your view is ' +
    'no change of the tree. A conflict when later changes touch the same nodes: undo those first.',
  annotations: destroys,
  kind: 'tree',
  input: Undo,
  targets: () => [],
  dependsOn: () => [], // it looks itself for what is in its way
  run(context, { version }, transaction) {
    const { core } = context;
    const entry = entryOf(context, version);
    if (effectiveSince(core, entry).some((other) => isInTheWay(core, entry, other))) throw blocked(context, version);
    try {
      for (const inverse of entry.inverses) transaction.apply(withinReach(core, inverse));
    } catch (error) {
      // The nodes that it needs were removed, or are now inside each other.
      throw error instanceof PinnaceError && error.code !== 'internal' ? blocked(context, version) : error;
    }
    transaction.undoes(entry.rev);
    return { undone: version };
  },
});

/** The later mutations, less those that cancel each other: a change and the undoing of it. */
function effectiveSince(core: Core, { rev }: HistoryEntry): readonly HistoryEntry[] {
  const cancelled = new Set<number>();
  return (core.history.since(rev) ?? []).toReversed().filter((entry) => {
    if (cancelled.has(entry.rev)) return false;
    if (entry.undoes === undefined || entry.undoes <= rev) return true;
    cancelled.add(entry.undoes);
    return false;
  });
}

/** The change that the version names: exactly the one whose call returned it, not the latest one at that revision. */
function entryOf(context: CallContext, version: string): HistoryEntry {
  const { core, session } = context;
  const parts = readVersion(version);
  const isKnown = parts !== undefined && !isOfOtherEpoch(core, version);
  const entry = isKnown ? core.history.get(parts.rev) : undefined;
  if (!isKnown || (!entry && parts.rev > 0)) throw unknownVersion(core, version);
  if (!entry || !isNamed(entry, parts) || !isAllowed(entry, context)) throw nothingToUndo(version, entry);
  if (!entry.undone) return entry;
  throw conflict(`Cannot undo version "${version.slice(0, 80)}": it is undone already`, {
    reason: 'already_undone',
    version: versionOf(core, session),
  });
}

/** An event's version names the mutation alone; an answer's names the view of its caller as well. */
function isNamed({ author }: HistoryEntry, { viewId, viewRev }: VersionParts): boolean {
  if (viewId === noView.viewId) return true;
  return author?.view?.viewId === viewId && author.view.viewRev === viewRev;
}

function isAllowed({ author }: HistoryEntry, { undo, agentId }: CallContext): boolean {
  return undo === 'any' || author?.agentId === agentId;
}

function unknownVersion(core: CallContext['core'], version: string): PinnaceError {
  const isOld = isOfOtherEpoch(core, version);
  const why = isOld
    ? 'the tree was opened again since, and what can be undone does not outlive that'
    : 'no change that is still stored returned it; give the "version" of the answer to the change';
  return new PinnaceError('not_found', `Cannot undo this version: ${why}`, {
    details: { reason: isOld ? 'epoch_changed' : 'version_unknown' },
  });
}

function nothingToUndo(version: string, entry: HistoryEntry | undefined): PinnaceError {
  const why = entry ? 'no change of yours returned it' : 'the tree had not changed yet';
  return new PinnaceError(
    'invalid_argument',
    `Cannot undo version "${version.slice(0, 80)}": ${why}; give the "version" of the answer to your change`,
    { details: { reason: 'nothing_to_undo' } },
  );
}

function isInTheWay(core: Core, entry: HistoryEntry, other: HistoryEntry): boolean {
  const touches = other.changes.flatMap(touchesOf);
  return entry.changes.some((change) => touches.some((touch) => clashes(core, change, touch)));
}

function clashes(core: Core, change: TreeChange, touch: Touch): boolean {
  const isSame = touch.nodeId === change.nodeId;
  switch (change.kind) {
    case 'payload':
      return isSame && (touch.kind === 'payload' || touch.kind === 'removed');
    case 'move':
      return isSame && (touch.kind === 'place' || touch.kind === 'removed');
    case 'insert':
      return isBelow(core, touch.nodeId, change.nodeId);
    case 'content':
      return isBelow(core, touch.nodeId, change.nodeId) && !(isSame && touch.kind !== 'children');
    case 'remove':
      return false;
    default:
      return change satisfies never;
  }
}

function isBelow(core: Core, nodeId: string, ancestorId: string): boolean {
  const [inner, outer] = [find(core, nodeId), find(core, ancestorId)];
  return inner !== undefined && outer !== undefined && isInside(core, { inner, outer });
}

/** A node returns before its old neighbor; when that has moved, to the end. */
function withinReach(core: Core, inverse: InverseOp): InverseOp {
  if (!('place' in inverse) || inverse.place.beforeId === null) return inverse;
  const { parentId, beforeId } = inverse.place;
  const slot = slotOf(core, beforeId);
  const parent = slot === none ? none : core.store.parents[slot]!; // safe: the slot is of the tree
  const isThere = parent !== none && core.store.ids[parent] === parentId;
  return isThere ? inverse : { ...inverse, place: { parentId, beforeId: null } };
}

function blocked({ core, session }: CallContext, version: string): PinnaceError {
  return conflict(`Cannot undo version "${version.slice(0, 80)}": later changes build on it; undo those first`, {
    reason: 'changed_since',
    version: versionOf(core, session),
  });
}
