/** The picture of the simulation: how long a reader waits as the load grows, one line a database. */

/** A line: its name, and for each load the wait in milliseconds. */
export interface Line {
  readonly name: string;
  readonly points: readonly { readonly load: number; readonly waitMs: number }[];
}

const [width, height, left, right, top, bottom] = [720, 360, 64, 208, 24, 48];
const [loads, waits] = [[1, 10, 100, 1_000, 10_000, 100_000], [10, 100, 1_000, 10_000]];
const colours = ['#0f7b8c', '#e2703a', '#6b5bb5', '#5f7a35', '#b3345c'];

/** Returns the picture, with both axes logarithmic; a wait above the last mark leaves the picture. */
export function chartOf(lines: readonly Line[]): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="12">`,
    '<title>Time to the first byte, 99 of 100 runs, without the model’s own, over runs a second</title>',
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    ...loads.map((load) =>
      `<path d="M${x(load)} ${top}V${height - bottom}" stroke="#e3e8ea"/><text x="${x(load)}" y="${
        height - bottom + 18
      }" text-anchor="middle" fill="#43545e">${load.toLocaleString('en')}</text>`
    ),
    ...waits.map((wait) =>
      `<path d="M${left} ${y(wait)}H${width - right}" stroke="#e3e8ea"/><text x="${left - 8}" y="${
        y(wait) + 4
      }" text-anchor="end" fill="#43545e">${wait < 1_000 ? `${wait} ms` : `${wait / 1_000} s`}</text>`
    ),
    `<text x="${(left + width - right) / 2}" y="${
      height - 8
    }" text-anchor="middle" fill="#43545e">runs a second</text>`,
    ...lines.flatMap(({ name, points }, at) => drawn(name, points, { at, colour: colours[at % colours.length] ?? '' })),
    '</svg>',
    '',
  ].join('\n');
}

function drawn(
  name: string,
  points: Line['points'],
  { at, colour }: { readonly at: number; readonly colour: string },
): string[] {
  const last = points.findIndex(({ waitMs }) => !(waitMs <= (waits.at(-1) ?? Infinity))); // none came: `NaN`
  const shown = last < 0 ? points : points.slice(0, last);
  const path = shown.map(({ load, waitMs }, i) => `${i === 0 ? 'M' : 'L'}${x(load)} ${y(waitMs)}`).join('');
  const end = shown.at(-1);
  const legendY = top + 12 + at * 36;
  const broken = last < 0 || end === undefined
    ? []
    : [`<text x="${x(end.load) + 4}" y="${y(end.waitMs) + 4}" fill="${colour}" font-size="16">✕</text>`];
  return [
    `<path d="${path}" fill="none" stroke="${colour}" stroke-width="2.5" stroke-linejoin="round"/>`,
    ...broken,
    `<path d="M${width - right + 16} ${legendY}h20" stroke="${colour}" stroke-width="2.5"/>`,
    ...name.split('\n').map((line, i) =>
      `<text x="${width - right + 42}" y="${legendY + 4 + i * 14}" fill="#1d2b33">${line}</text>`
    ),
  ];
}

function x(load: number): number {
  return Math.round(left + Math.log10(load) / 5 * (width - right - left));
}

function y(waitMs: number): number {
  return Math.round(height - bottom - (Math.log10(Math.max(waitMs, 10)) - 1) / 3 * (height - bottom - top));
}
