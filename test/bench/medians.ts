/** Several runs of a benchmark as one: of each figure the row in the middle, with the bar and the peer that it was measured beside. */

import type { Report, Row } from './measure.ts';

/** Gives one report for each title; a figure that some of the runs lack is that of the others. */
export function mediansOf(reports: readonly Report[]): Report[] {
  const titles = [...new Set(reports.map(({ title }) => title))];
  return titles.map((title): Report => {
    const same = reports.filter((report) => report.title === title);
    const rows = same.flatMap((report) => report.rows);
    const figures = [...new Set(rows.map(({ figure }) => figure))];
    const [first] = same as [Report, ...Report[]]; // the title is that of one
    return {
      ...first,
      rows: figures.map((name) => middleOf(rows.filter(({ figure }) => figure === name))),
      runs: same.length,
    };
  });
}

/** By the ratio, where there is one, for it knows nothing of how fast the machine was; else by the first number. */
function middleOf(rows: readonly Row[]): Row {
  const ordered = rows.toSorted((a, b) => numberOf(a) - numberOf(b));
  return ordered[ordered.length >> 1] ?? rows[0]!; // safe: somebody has measured it
}

function numberOf({ ratio, value }: Row): number {
  const [number = '0'] = /-?\d+(?:\.\d+)?/.exec(ratio ?? value) ?? [];
  return Number(number);
}
