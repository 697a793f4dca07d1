/** One table of everything that was measured, as Markdown. */

import type { Report, Row } from './measure.ts';

/** Gives the page: the machine, how many bars were met, and the figures of each benchmark beside bar and peer. */
export function tableOf(reports: readonly Report[]): string {
  const barred = reports.flatMap(({ rows }) => rows).filter(({ met }) => met !== undefined);
  const met = barred.filter((row) => row.met).length;
  const machines = [...new Set(reports.map(({ runtime, machine }) => `${runtime}, ${machine}`))];
  return [
    '# What was measured',
    '',
    `On ${machines.join('; ')}. ${met} of ${barred.length} bars met.`,
    ...reports.flatMap(({ title, rows }) => ['', `## ${title}`, '', ...linesOf(rows)]),
    '',
  ].join('\n');
}

function linesOf(rows: readonly Row[]): string[] {
  return [
    '| figure | value | bar | peer | ratio | |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows.map(({ figure, value, bar = '', peer = '', ratio = '', met }) =>
      `| ${
        [figure, value, bar, peer, ratio, met === undefined ? '' : met ? 'met' : '**missed**'].map(cellOf).join(' | ')
      } |`
    ),
  ];
}

function cellOf(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
