import type { JSX } from 'preact';
import type { Difference } from '../../src/registry/index.ts';

/** What differs between two records: the field, what was there, and what is there. */
export function Differences({ differences }: { differences: readonly Difference[] }): JSX.Element | null {
  if (differences.length === 0) return null;
  return (
    <ul class='registry-differences'>
      {differences.map(({ path, from, to }) => (
        <li key={path}>
          <code>{path.slice(1)}</code> {from !== undefined && <del>{textOf(from)}</del>}{' '}
          {to !== undefined && <ins>{textOf(to)}</ins>}
        </li>
      ))}
    </ul>
  );
}

const longest = 120;

function textOf(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
}
