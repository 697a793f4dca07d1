/** Combines several runs of a benchmark: takes the median row of each figure, with its bar and its peer. */

import type { Report, Row } from './measure.ts';

/** Returns one report for each title. A figure that some runs lack comes from the other runs. */
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

/** Sorts by the ratio if there is one, because it does not depend on the machine's speed; otherwise by the first number. */
function middleOf(rows: readonly Row[]): Row {
  const ordered = rows.toSorted((a, b) => numberOf(a) - numberOf(b));
  return ordered[ordered.length >> 1] ?? rows[0]!; // safe: at least one run has measured it
}

/** The first number; that of "p50" is a name. */
function numberOf({ ratio, value }: Row): number {
  const [number = '0'] = /(?<![a-z\d])-?\d+(?:\.\d+)?/.exec(ratio ?? value) ?? [];
  return Number(number);
}
