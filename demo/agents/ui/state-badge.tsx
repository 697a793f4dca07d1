import type { JSX } from 'preact';
import type { AnyRecord } from '../../control/registry-control.ts';

/** Shows that a record is disabled, not public, not validated yet, or shared and read-only. */
export function StateBadge({ record }: { record: AnyRecord }): JSX.Element | null {
  const words = [wordOf(record), record.readOnly === true ? 'shared' : undefined].filter((word) => word !== undefined);
  if (words.length === 0) return null;
  return <>{words.map((word) => <span key={word} class='chip registry-badge' data-badge={word}>{word}</span>)}</>;
}

function wordOf(record: AnyRecord): string | undefined {
  if (record.state === 'disabled') return 'disabled';
  if ('alias' in record) {
    if (record.pinned?.tools.some(({ status }) => status === 'drifted')) return 'drifted';
    return { pending: 'not validated', valid: 'validated', error: 'refused' }[record.status];
  }
  return 'visibility' in record && record.visibility !== 'public' ? record.visibility : undefined;
}
