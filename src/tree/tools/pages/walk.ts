/** A walk of many pages over one version of the tree: the first page pins a snapshot if more follow, the others read it. */

import { cursorOf, slotOf } from '../../nodes/structure.ts';
import type { Cursor } from '../../nodes/layout.ts';
import { checkPlaces, readPageToken, type WalkKey, writePageToken } from './page-token.ts';
import { liveReader, type Reader, snapshotReader } from '../../views/reader.ts';
import type { CallContext } from '../caller.ts';
import type { Output } from '../output.ts';
import { conflict, versionOf } from '../../nodes/version.ts';
import type { ViewState } from '../../views/view-state.ts';

/** One page of a walk. */
export interface Step {
  readonly reader: Reader;
  readonly root: Cursor;
  /** Where this page starts. */
  readonly next: Cursor;
  /** What the answer says of version and next page. */
  end(next: Cursor | undefined): Output;
}

/** Which walk, and where its first page starts. */
export interface WalkOptions {
  readonly tool: string;
  /** All arguments but the page's token and size. */
  readonly args: unknown;
  readonly rootNodeId: string;
  readonly view: ViewState;
  readonly pageToken: string | undefined;
  readonly start: (root: Cursor, reader: Reader) => Cursor;
}

/** Starts or continues a walk. @throws PinnaceError `conflict` when the snapshot was evicted. */
export function walk(context: CallContext, options: WalkOptions): Step {
  const { tool, args, pageToken } = options;
  const key: WalkKey = { tool, agentId: context.agentId, args };
  return pageToken === undefined ? startWalk(context, key, options) : resume(context, key, pageToken);
}

function startWalk(context: CallContext, key: WalkKey, { rootNodeId, view, start }: WalkOptions): Step {
  const { core, session, now } = context;
  const version = versionOf(core, session);
  const reader = liveReader(core, view);
  const root = cursorOf(core, slotOf(core, rootNodeId));
  return {
    reader,
    root,
    next: start(root, reader),
    end(next) {
      if (!next) return { version };
      const { id } = core.snapshots.take(core, { view, rev: core.rev, version, now: now() });
      return {
        version,
        latestVersion: version,
        pageToken: writePageToken(key, { epoch: core.epoch, snapshotId: id, root, next }),
      };
    },
  };
}

function resume(context: CallContext, key: WalkKey, pageToken: string): Step {
  const { core, session, now } = context;
  const place = readPageToken(key, pageToken);
  const { epoch, snapshotId, root, next } = place;
  const latestVersion = versionOf(core, session);
  // Another open tree, as the one before a restart, may have a snapshot of the same name.
  const snapshot = epoch === core.epoch ? core.snapshots.get(snapshotId, now()) : undefined;
  if (!snapshot) {
    throw conflict('Cannot continue the walk: its snapshot is gone; start anew without the page token', {
      reason: 'snapshot_gone',
      version: latestVersion,
      hint: 'restart',
    });
  }
  checkPlaces(snapshot.layout, place);
  const { version } = snapshot;
  return {
    reader: snapshotReader(core, snapshot),
    root,
    next,
    end: (more) => ({
      version,
      latestVersion,
      ...(more && { pageToken: writePageToken(key, { ...place, next: more }) }),
    }),
  };
}
