import type { JSX } from 'preact';

/** A name and its value, in a definition list. */
export function Fact({ name, value }: { name: string; value: string }): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}
