/** The errors of the tree's tools: exactly six codes, with what an agent needs to continue. */

import { type ErrorData, PinnaceError, toData } from '../../base/errors.ts';

/** The codes of the tree's tools. */
export type TreeErrorCode = 'invalid_argument' | 'not_found' | 'forbidden' | 'conflict' | 'rate_limited' | 'internal';

/** An error of a tool. The version, changes and issues of `details` are also beside the code. */
export interface TreeErrorData extends ErrorData {
  readonly code: TreeErrorCode;
  /** The latest version. */
  readonly version?: string;
  /** What has changed since the version that the call gave. */
  readonly changes?: unknown;
  readonly issues?: unknown;
}

const codes: ReadonlySet<string> = new Set<TreeErrorCode>([
  'invalid_argument',
  'not_found',
  'forbidden',
  'conflict',
  'rate_limited',
  'internal',
]);
const retryable: ReadonlySet<string> = new Set<TreeErrorCode>(['conflict', 'rate_limited', 'internal']);

/** The longest message: what it quotes may come from a caller. */
const maxMessage = 1000;

/** Returns the error as data. What is none of ours says nothing of itself. */
export function toTreeError(error: unknown): TreeErrorData {
  const { code: own, message, retryAfterMs, details: given } = toData(error);
  const code = isTreeCode(own) ? own : 'internal';
  const details = code === own ? given : { ...given, reason: own };
  const { version, changes, issues } = details ?? {};
  return {
    code,
    message: message.slice(0, maxMessage),
    retryable: retryable.has(code),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(typeof version === 'string' && { version }),
    ...(changes !== undefined && { changes }),
    ...(issues !== undefined && { issues }),
    ...(details && { details }),
  };
}

function isTreeCode(code: string): code is TreeErrorCode {
  return codes.has(code);
}

/** The error for a node that must exist. A node that was removed says when. */
export function missing(nodeId: string, removedAt: string | undefined): PinnaceError {
  const why = removedAt === undefined ? 'the tree has no such node' : 'it was removed';
  return new PinnaceError('not_found', `Cannot find node "${nodeId}": ${why}`, {
    details: { reason: removedAt === undefined ? 'unknown_node' : 'removed_node', ...(removedAt && { removedAt }) },
  });
}
