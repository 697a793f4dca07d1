import type { JSX } from 'preact';

/** The mark: a ship's boat under its lug sail. */
export function Mark(): JSX.Element {
  return (
    <svg class='mark' viewBox='0 0 32 32' width='32' height='32' aria-hidden='true'>
      <path class='mark-sail' d='M17.5 3.5c4.6 3.2 7.4 8 7.9 14.3h-7.9z' />
      <path class='mark-jib' d='M15 7.6v10.2H7.6C8.8 13.6 11.3 10 15 7.6z' />
      <path class='mark-hull' d='M4 20.6h24c-.9 3.6-3.6 6-7.4 6h-9c-4 0-6.7-2.4-7.6-6z' />
      <path
        class='mark-sea'
        d='M2.5 29.2c1.7 0 1.7-1 3.4-1s1.7 1 3.4 1 1.7-1 3.4-1 1.7 1 3.4 1 1.7-1 3.4-1 1.7 1 3.4 1 1.7-1 3.4-1 1.7 1 3.2 1'
      />
    </svg>
  );
}

/** A swell that runs while something is awaited. */
export function Swell(): JSX.Element {
  return (
    <svg class='swell' viewBox='0 0 48 12' width='48' height='12' aria-hidden='true'>
      <path d='M-24 6c4 0 4-4 8-4s4 4 8 4 4-4 8-4 4 4 8 4 4-4 8-4 4 4 8 4 4-4 8-4 4 4 8 4 4-4 8-4 4 4 8 4' />
    </svg>
  );
}

/** Depth lines of a chart, behind an empty page. */
export function Soundings(): JSX.Element {
  return (
    <svg class='soundings' viewBox='0 0 1200 600' preserveAspectRatio='xMidYMid slice' aria-hidden='true'>
      {[0, 1, 2, 3, 4, 5, 6].map((line) => <path key={line} d={depthLine(line)} />)}
    </svg>
  );
}

function depthLine(line: number): string {
  const y = 130 + line * 64;
  const swing = 40 - line * 3;
  const shift = line * 26;
  return `M-60 ${y}C${90 + shift} ${y - swing} ${190 + shift} ${y + swing} ${380 + shift} ${y}` +
    `S${640 + shift} ${y - swing * 1.5} ${800 + shift} ${y - 10}S1130 ${y + swing} 1280 ${y - 6}`;
}
