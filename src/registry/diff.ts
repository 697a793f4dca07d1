/** What differs between two records, as data that a person can read. */

import { isRecord } from '../base/is-record.ts';
import { canonicalJson } from '../base/json.ts';

/** One difference. Without `from` something was added, without `to` removed. */
export interface Difference {
  /** A JSON Pointer (RFC 6901); empty for the record as a whole. */
  readonly path: string;
  readonly from?: unknown;
  readonly to?: unknown;
}

/** Lists the differences, in the order of the fields. Objects are compared field by field, lists as wholes. */
export function differencesOf(from: unknown, to: unknown, path = ''): readonly Difference[] {
  if (canonicalJson(from) === canonicalJson(to)) return [];
  if (!isRecord(from) || !isRecord(to)) {
    return [{ path, ...(from !== undefined && { from }), ...(to !== undefined && { to }) }];
  }
  const names = new Set([...Object.keys(from), ...Object.keys(to)]);
  return [...names].flatMap((name) => differencesOf(from[name], to[name], `${path}/${escape(name)}`));
}

function escape(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
