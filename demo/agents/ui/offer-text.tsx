import type { JSX } from 'preact';

/** What a person reads at once; the whole definition is folded beside it. */
const most = 400;

/** What a server says that its offer does. */
export function Description({ of }: { of: unknown }): JSX.Element | null {
  const description = typeof of === 'object' && of !== null && 'description' in of ? of.description : undefined;
  if (typeof description !== 'string' || description.trim() === '') return null;
  const text = description.length > most ? `${description.slice(0, most)}…` : description;
  return <p class='registry-offer-text' data-testid='offer-text'>{text}</p>;
}

/** By which an offer is known again, for those who compare it. */
export function Fingerprint({ value }: { value: string }): JSX.Element {
  return (
    <details class='registry-reason'>
      <summary>Fingerprint</summary>
      <code>{value}</code>
    </details>
  );
}
