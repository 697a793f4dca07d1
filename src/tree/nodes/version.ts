/** Version tokens: the state of the tree, and of the agent's view, that a caller has read. */

import { PinnaceError } from '../../base/errors.ts';

/** The version token of a revision of the tree and of a view. */
export function versionOf(
  { epoch, rev }: Pick<VersionParts, 'epoch' | 'rev'>,
  { viewId, viewRev }: Pick<VersionParts, 'viewId' | 'viewRev'>,
): string {
  return `${epoch}.${rev}.${viewId}.${viewRev}`;
}

/** What a version token says. */
export interface VersionParts {
  readonly epoch: string;
  readonly rev: number;
  readonly viewId: string;
  readonly viewRev: number;
}

/** Reads a token; returns `undefined` for a text that no tree returned as a version. */
export function readVersion(token: string): VersionParts | undefined {
  const [, epoch, rev, viewId, viewRev] = /^(\w{1,32})\.(\d{1,15})\.(\w{1,16})\.(\d{1,15})$/.exec(token) ?? [];
  if (epoch === undefined || viewId === undefined) return undefined;
  return { epoch, rev: Number(rev), viewId, viewRev: Number(viewRev) };
}

/** Whether a token is of another open tree, as the one before a restart. */
export function isOfOtherEpoch({ epoch }: { readonly epoch: string }, token: string): boolean {
  const parts = readVersion(token);
  return parts !== undefined && parts.epoch !== epoch;
}

/** A conflict with these facts. */
export function conflict(message: string, details: Readonly<Record<string, unknown>>): PinnaceError {
  return new PinnaceError('conflict', message, { details });
}
