/** Rows: nodes as data, in pre-order. */

import { PinnaceError } from '../../base/errors.ts';
import type { Issue } from '../../base/parse.ts';
import type { Payload } from './node-store.ts';
import { badPayload, type TypeRegistry } from './payload-types.ts';

/** A node as data. In a list, parents precede their children, and siblings are in order (pre-order). */
export interface TreeRow {
  readonly nodeId: string;
  /** `null` for the root. */
  readonly parentId: string | null;
  readonly payloadType: string;
  readonly payload: Payload;
}

/** The longest node id. */
export const maxIdLength = 128;

/** Whether a text can be a node's id. */
export function isNodeId(nodeId: unknown): nodeId is string {
  return typeof nodeId === 'string' && nodeId.length > 0 && nodeId.length <= maxIdLength && nodeId.isWellFormed();
}

/**
 * Checks ids, payload types and payloads, and returns the rows as the schemas make them. Their order is checked on insertion.
 *
 * @throws PinnaceError `invalid_argument` with up to 20 issues.
 */
export function checkRows(types: TypeRegistry, rows: Iterable<TreeRow>): TreeRow[] {
  const checked: TreeRow[] = [];
  const issues: Issue[] = [];
  let areUnknownFields = true;
  let i = 0;
  for (const row of rows) {
    const path = `rows.${i++}`;
    if (!isNodeId(row.nodeId)) {
      areUnknownFields = false;
      issues.push({ path: `${path}.nodeId`, message: `must be text of 1 to ${maxIdLength}` });
    }
    const check = types.check(row.payloadType, row.payload);
    if (check.ok) {
      checked.push({ ...row, payload: check.payload });
      continue;
    }
    areUnknownFields &&= check.reason === 'unknown_field';
    issues.push(...check.issues.map((issue) => ({ ...issue, path: joinPath(`${path}.payload`, issue.path) })));
    if (issues.length >= 20) break;
  }
  if (issues.length === 0) return checked;
  throw badPayload('the rows of the tree', {
    ok: false,
    reason: areUnknownFields ? 'unknown_field' : 'invalid_payload',
    issues,
  });
}

function joinPath(path: string, rest: string): string {
  return rest === '' ? path : `${path}.${rest}`;
}

/** The error for rows that do not form one tree in pre-order. */
export function badRows(row: TreeRow, why: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot insert node "${row.nodeId}": ${why}`, {
    details: { reason: 'invalid_rows' },
  });
}
