import { formatTime } from '../../kit/format.ts';
import type { JSX } from 'preact';
import type { HistoryEntry } from '../../../src/registry/index.ts';
import { Differences } from '../../kit/differences.tsx';

/** What was done to a record, the last first. */
export function History({ entries }: { entries: readonly HistoryEntry[] }): JSX.Element {
  return (
    <ol class='registry-history' data-testid='record-history'>
      {entries.map(({ revision, at, by, action, changes }) => (
        <li key={revision}>
          <p>
            <strong>{words[action] ?? action}</strong> by {by.type === 'user' ? 'you' : 'the playground'},{' '}
            <time dateTime={at}>{formatTime(at)}</time> <span class='registry-faint'>revision {revision}</span>
          </p>
          {(action === 'update' || action === 'import') && (
            <Differences differences={changes.filter(({ path }) => path !== '' && path !== '/updatedAt')} />
          )}
        </li>
      ))}
    </ol>
  );
}

const words: Readonly<Record<string, string>> = {
  register: 'Created',
  update: 'Changed',
  disable: 'Disabled',
  enable: 'Enabled',
  import: 'Imported',
  remove: 'Removed',
  bind: 'Bound',
  unbind: 'Unbound',
};
