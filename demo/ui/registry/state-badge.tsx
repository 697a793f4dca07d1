import type { JSX } from 'preact';
import type { AnyRecord } from '../../registry/control.ts';

/** Says where a record is out of service, not for everyone, or not to be trusted yet. */
export function StateBadge({ record }: { record: AnyRecord }): JSX.Element | null {
  const word = wordOf(record);
  return word === undefined ? null : <span class='chip registry-badge' data-badge={word}>{word}</span>;
}

function wordOf(record: AnyRecord): string | undefined {
  if (record.state === 'disabled') return 'disabled';
  if ('alias' in record) {
    if (record.pinned?.tools.some(({ status }) => status === 'drifted')) return 'drifted';
    return { pending: 'not validated', valid: 'validated', error: 'refused' }[record.status];
  }
  return 'visibility' in record && record.visibility !== 'public' ? record.visibility : undefined;
}
