/** Page tokens: where the next page of one walk starts. A walk reads one snapshot, so it has no gap and no duplicate. */

import * as v from 'valibot';
import { PinnaceError } from '../../../base/errors.ts';
import { canonicalJson } from '../../nodes/canonical.ts';
import type { Cursor, Layout } from '../../nodes/layout.ts';
import { sha256Sync } from '../../../base/sha256-sync.ts';

const Place = v.tuple([v.pipe(v.number(), v.integer(), v.minValue(0)), v.pipe(v.number(), v.integer(), v.minValue(0))]);

/**
 * What a token holds: the tool, a digest of the other arguments, the tree's epoch, the snapshot, the root's place and the next row's.
 * Snapshot ids count per open tree, so the epoch says whose they are; a token without one is of an older release.
 */
const PageToken = v.strictObject({
  k: v.string(),
  q: v.string(),
  e: v.optional(v.string()),
  s: v.string(),
  r: Place,
  c: Place,
});

/** Where a walk continues. */
export interface Walk {
  /** The open tree that holds the snapshot; `undefined` in a token of an older release. */
  readonly epoch: string | undefined;
  readonly snapshotId: string;
  readonly root: Cursor;
  readonly next: Cursor;
}

/** Which walk: a token serves only the same tool, agent and arguments. */
export interface WalkKey {
  readonly tool: string;
  readonly agentId: string;
  /** All arguments but the page's token and size. */
  readonly args: unknown;
}

/** Returns the token. */
export function writePageToken(key: WalkKey, { epoch, snapshotId, root, next }: Walk): string {
  const places = { r: [root.pos, root.index], c: [next.pos, next.index] };
  const text = JSON.stringify({ k: key.tool, q: digestOf(key), e: epoch, s: snapshotId, ...places });
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/**
 * Reads a token.
 *
 * @throws PinnaceError `invalid_argument` for a token that is none, or belongs to a walk with other arguments.
 */
export function readPageToken(key: WalkKey, token: string): Walk {
  const parsed = v.safeParse(PageToken, decode(token));
  if (!parsed.success) throw refused('it is not one that a page gave');
  const { k, q, e, s, r, c } = parsed.output;
  if (k !== key.tool || q !== digestOf(key)) throw refused('it belongs to a call with other arguments; repeat those');
  return { epoch: e, snapshotId: s, root: { pos: r[0], index: r[1] }, next: { pos: c[0], index: c[1] } };
}

/** Refuses a place outside the snapshot. */
export function checkPlaces({ count, order, lengths }: Layout, { root, next }: Walk): void {
  for (const { pos, index } of [root, next]) {
    const length = pos < count ? lengths[order[pos] ?? -1] : undefined;
    if (length === undefined || index >= length) throw refused('it is not one that a page gave');
  }
}

function decode(token: string): unknown {
  try {
    return JSON.parse(atob(token.replaceAll('-', '+').replaceAll('_', '/')));
  } catch {
    return undefined;
  }
}

function digestOf({ tool, agentId, args }: WalkKey): string {
  return sha256Sync(canonicalJson([tool, agentId, args])).slice(0, 16);
}

function refused(why: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot use the page token: ${why}, or leave it out to start anew`, {
    details: { reason: 'invalid_page_token' },
  });
}
