/** Checks that a call has read what it changes. */

import type { PinnaceError } from '../../../base/errors.ts';
import { type Touch, touchesOf } from '../../nodes/change.ts';
import type { Core } from '../../nodes/core.ts';
import { conflict, isOfOtherEpoch, readVersion, versionOf } from '../../nodes/version.ts';
import type { Session } from '../session.ts';
import { clashing, type Dependency } from './conflict-scope.ts';

const maxChanges = 20;

/**
 * Allows a call whose caller has read the current version, or in a tree with `conflictScope: "node"` that of its dependencies.
 *
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
    ...(isViewOpen(dependencies) ? viewTouchesSince(session, token) : []),
  ];
  const latest = new Map(touches.toReversed().map(({ nodeId, kind }) => [`${kind} ${nodeId}`, { nodeId, kind }]));
  return [...latest.values()];
}

function isViewOpen(dependencies: readonly Dependency[] | undefined): boolean {
  return dependencies?.some(({ kinds }) => kinds.includes('view')) ?? true;
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
