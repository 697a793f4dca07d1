import type { JSX } from 'preact';

/** Names and values, one beside the other; what is empty is said to be. */
export function Facts({ facts }: { facts: readonly (readonly [name: string, value: string])[] }): JSX.Element {
  return (
    <dl class='boxed registry-facts'>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value === '' ? <span class='registry-faint'>none</span> : value}</dd>
        </div>
      ))}
    </dl>
  );
}
