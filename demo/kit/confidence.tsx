import type { JSX } from 'preact';

const meaning = 'The estimated probability that this is relevant to your search, from 0 to 100%';

export function Confidence({ value }: { value: number }): JSX.Element {
  const word = value >= 0.7 ? 'strong' : value >= 0.3 ? 'fair' : 'weak';
  return (
    <span class='confidence' data-strength={word} title={meaning}>
      <span class='confidence-dot' aria-hidden='true' />
      {word} <span class='visually-hidden'>match, confidence</span> {percentOf(value)}
    </span>
  );
}

/** `97%`, or `< 1%`. */
export function percentOf(value: number): string {
  return value > 0 && value < 0.01 ? '< 1%' : `${Math.round(value * 100)}%`;
}
