/**
 * Checks that a call has read what it changes. In trees with `conflictScope: "node"` only changes of what it depends on are conflicts:
 * agents on separate branches never meet.
 */

import type { PinnaceError } from '../base/errors.ts';
import {
  conflict,
  find,
  isBelow,
  isOfOtherEpoch,
  readVersion,
  type Touch,
  touchesOf,
  type TreeChange,
  versionOf,
} from './structure.ts';
import type { Dependency, Session } from './tool-spec.ts';
import type { Core } from './tree-core.ts';

const maxChanges = 20;

/**
 * Allows a call whose caller has read the current version, or in a tree with `conflictScope: "node"` that of its dependencies.
 * @throws PinnaceError `conflict` with the latest version and what has changed since the token.
 */
export function checkVersion(
  core: Core,
  session: Session,
  { token, dependencies, isScoped = core.conflictScope === 'node' }: {
    readonly token: string | undefined;
    readonly dependencies?: readonly Dependency[] | undefined;
    /** Whether changes of other nodes than the call depends on are no conflict. */
    readonly isScoped?: boolean | undefined;
  },
): void {
  const version = versionOf(core, session);
  if (token === version) return;
  if (token === undefined) {
    throw conflict(
      `Cannot change the tree without a "versionToken": give the version that you have seen; the latest is "${version}"`,
      {
        reason: 'version_missing',
        version,
      },
    );
  }
  if (isOfOtherEpoch(core, token)) throw epochChanged(token, version);
  const scope = isScoped ? dependencies : undefined;
  const changes = changesSince(core, session, { token, dependencies: scope });
  if (scope && changes?.length === 0) return;
  throw conflict(
    `Cannot change the tree from version "${shorten(token)}": it has changed since; the latest version is "${version}"`,
    {
      reason: 'version_stale',
      version,
      ...(changes && { changes: changes.slice(0, maxChanges) }),
      ...(changes && changes.length > maxChanges && { moreChanges: changes.length - maxChanges }),
    },
  );
}

function epochChanged(token: string, version: string): PinnaceError {
  return conflict(
    `Cannot change the tree from version "${
      shorten(token)
    }": the tree was opened again since, and versions, views and undo do not ` +
      `outlive that; read again; the latest version is "${version}"`,
    { reason: 'epoch_changed', version },
  );
}

/** The latest first, each node and kind once; `undefined` when not all are remembered. */
function changesSince(
  core: Core,
  session: Session,
  { token, dependencies }: { token: string; dependencies: readonly Dependency[] | undefined },
): readonly Touch[] | undefined {
  const rev = revOf(core, token);
  const entries = rev === undefined || rev > core.rev ? undefined : core.history.since(rev);
  if (!entries) return undefined;
  const changes = entries.filter((entry) => !entry.isRetracted).flatMap((entry) => entry.changes);
  const touches = [
    ...(dependencies ? clashing(core, changes, dependencies) : changes).flatMap(touchesOf),
    ...((dependencies?.some(({ kinds }) => kinds.includes('view')) ?? true) ? viewTouchesSince(session, token) : []),
  ];
  const latest = new Map(touches.toReversed().map(({ nodeId, kind }) => [`${kind} ${nodeId}`, { nodeId, kind }]));
  return [...latest.values()];
}

function viewTouchesSince({ viewId, viewTouches }: Session, token: string): readonly Touch[] {
  const parts = readVersion(token);
  const observedRev = parts?.viewId === viewId ? parts.viewRev : 0;
  return viewTouches.filter((touch) => touch.viewRev > observedRev);
}

/** The tree's revision that a token names; `undefined` when it is of another open tree. */
function revOf({ epoch }: Core, token: string): number | undefined {
  const parts = readVersion(token);
  return parts?.epoch === epoch ? parts.rev : undefined;
}

function shorten(token: string): string {
  return token.replace(/[^\w.-]/g, '?').slice(0, 80);
}

/** The changes that touch what a call depends on. */
function clashing(
  core: Core,
  changes: readonly TreeChange[],
  dependencies: readonly Dependency[],
): readonly TreeChange[] {
  // Which change removed a missing node is unknown: a node above it may have been removed as well.
  const isRemoved = dependencies.some(({ nodeId, isDeep }) => isDeep === true && !find(core, nodeId));
  if (isRemoved) return changes;
  return changes.filter((change) => dependencies.some((dependency) => clashesWith(core, change, dependency)));
}

function clashesWith(core: Core, change: TreeChange, { nodeId, kinds, isDeep = false }: Dependency): boolean {
  if (kinds.includes('view')) return false;
  const bringsNodes = change.kind === 'insert' || change.kind === 'content';
  if (bringsNodes && nodeId !== change.nodeId && isBelow(core, nodeId, change.nodeId)) return true;
  return touchesOf(change).some((touch) =>
    touch.nodeId === nodeId ? kinds.includes(touch.kind) : isDeep && isBelow(core, touch.nodeId, nodeId)
  );
}
