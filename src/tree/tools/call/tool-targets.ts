/** The ids that a call named, also one that was refused: for the audit. */

import { isRecord } from '../../../base/is-record.ts';
import { maxIdLength } from '../../nodes/row.ts';

const names = ['nodeId', 'parentNodeId', 'newParentId', 'rootNodeId', 'before', 'after'] as const;
const maxTargets = 100;

/** Returns the ids in the arguments, and the new node's id in the answer. */
export function targetsOf(
  input: unknown,
  outcome: { readonly ok: boolean; readonly output?: unknown },
): readonly string[] {
  const targets = new Set<string>();
  collect(input, targets);
  const operations = isRecord(input) && Array.isArray(input.operations) ? input.operations.slice(0, maxTargets) : [];
  for (const operation of operations) collect(operation, targets);
  collect(outcome.output, targets);
  return [...targets].slice(0, maxTargets);
}

function collect(value: unknown, targets: Set<string>): void {
  if (!isRecord(value)) return;
  for (const name of names) {
    const target = Object.hasOwn(value, name) ? value[name] : undefined;
    if (typeof target === 'string') targets.add(target.slice(0, maxIdLength));
  }
}
