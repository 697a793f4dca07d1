/** Finds the place that a call describes: last, before or after a sibling, or at an index. */

import { PinnaceError } from '../../base/errors.ts';
import { childAt, countAt } from './children.ts';
import type { Core } from './core.ts';
import { cursorOf, slotOf } from './structure.ts';
import { compare, depthAt, slotAt, subtree } from './layout.ts';
import { none } from './node-store.ts';
import { type Place, placeOf } from './placing.ts';

/** At most one of the three; without any, the last place. An index counts the siblings without the node that moves. */
export interface WantedPlace {
  readonly before?: string | undefined;
  readonly after?: string | undefined;
  readonly index?: number | undefined;
}

/**
 * Returns the place below a parent.
 *
 * @throws PinnaceError `invalid_argument` when more than one is wanted, or a sibling is no child of the parent.
 */
export function wantedPlace(
  core: Core,
  parentId: string | null,
  { before, after, index, moving }: WantedPlace & { readonly moving?: string },
): Place {
  if ([before, after, index].filter((wanted) => wanted !== undefined).length > 1) {
    throw refused('Cannot use more than one of "before", "after" and "index": give one', 'place_ambiguous');
  }
  if (before !== undefined) return { parentId, beforeId: before };
  if (after !== undefined) return { parentId, beforeId: behind(core, { parentId, sibling: after, moving }) };
  if (index === undefined || parentId === null) return { parentId, beforeId: null };
  return { parentId, beforeId: childId(core, { parentId, index, moving }) };
}

interface Behind {
  readonly parentId: string | null;
  readonly sibling: string;
  readonly moving: string | undefined;
}

function behind(core: Core, { parentId, sibling, moving }: Behind): string | null {
  const slot = slotOf(core, sibling);
  const place = slot === none ? undefined : placeOf(core, slot);
  if (!place || place.parentId !== parentId) {
    throw refused(`Cannot use the place after "${sibling}": it is no child of "${parentId}"`, 'not_a_child');
  }
  if (place.beforeId === null || place.beforeId !== moving) return place.beforeId;
  return placeOf(core, slotOf(core, moving)).beforeId;
}

function childId(
  core: Core,
  { parentId, index, moving }: { parentId: string; index: number; moving: string | undefined },
) {
  const { layout } = core.sequence;
  const parent = slotOf(core, parentId);
  if (parent === none) return null; // the operation will say so
  const span = subtree(layout, cursorOf(core, parent));
  const depth = depthAt(layout, span.start) + 1;
  const slot = moving === undefined ? none : slotOf(core, moving);
  const isSibling = slot !== none && core.store.parents[slot] === parent;
  const own = isSibling ? countAt(layout, { start: span.start, end: cursorOf(core, slot) }, depth) : Infinity;
  const at = childAt(layout, span, { depth, rank: index >= own ? index + 1 : index });
  return compare(at, span.end) === 0 ? null : core.store.ids[slotAt(layout, at)]!; // safe: a cursor of the tree
}

function refused(message: string, reason: string): PinnaceError {
  return new PinnaceError('invalid_argument', message, { details: { reason } });
}
