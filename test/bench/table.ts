/** What was measured, as Markdown: all of it as a page, and what matters most as the README's table. */

import { headlines } from './headlines.ts';
import type { Report, Row } from './measure.ts';
import { whyMissed } from './misses.ts';

/** Returns the page: the machine, how many bars were met, and each benchmark's figures with bar, peer and reasons of misses. */
export function tableOf(reports: readonly Report[]): string {
  return [
    '# What was measured',
    '',
    summaryOf(reports),
    ...reports.filter(({ rows }) => rows.length > 0).flatMap(({ title, rows }) => [
      '',
      `## ${title}`,
      '',
      ...linesOf('figure', rows.map((row) => ({ ...row, what: row.figure }))),
      ...reasonsOf(title, rows),
    ]),
    '',
  ].join('\n');
}

/** Returns the README's table: the measured headline figures, and the total of missed bars. */
export function readmeTableOf(reports: readonly Report[]): string {
  const all = reports.flatMap(({ title, rows }) => rows.map((row) => ({ title, row })));
  const named = headlines.flatMap(({ what, title, figure }) => {
    const found = all.find((one) => title.test(one.title) && figure.test(one.row.figure));
    return found ? [{ ...found.row, what }] : [];
  });
  const missed = all.filter(({ row }) => row.met === false).length;
  const rest = missed === 0 ? '' : ` ${missed} missed; all figures show each.`;
  return [...linesOf('what', named), '', `${summaryOf(reports)}${rest}`].join('\n');
}

/** Puts the table between the two lines of the page that say so. */
export function withFigures(page: string, table: string): string {
  const found = /(<!-- figures[^>]*-->\n)[^]*?(<!-- \/figures -->)/;
  if (!found.test(page)) {
    throw new Error('The page has no place for the figures: <!-- figures --> and <!-- /figures -->');
  }
  return page.replace(found, (_, start: string, end: string) => `${start}\n${table}\n\n${end}`);
}

/** Why rows of a table miss their bars, where that is known. */
function reasonsOf(title: string, rows: readonly Row[]): string[] {
  const missed = rows.filter(({ met }) => met === false);
  const known = missed.flatMap(({ figure }) => {
    const why = whyMissed(title, figure);
    return why === undefined ? [] : [`- Missed: ${cellOf(figure)}. ${why}`];
  });
  return known.length === 0 ? [] : ['', ...known];
}

function summaryOf(reports: readonly Report[]): string {
  const barred = reports.flatMap(({ rows }) => rows).filter(({ met }) => met !== undefined);
  const met = barred.filter((row) => row.met).length;
  const machines = distinct(reports.map(({ machine }) => machine)).join('; ');
  const runtimes = distinct(reports.map(({ runtime }) => runtime)).join(', ');
  const days = distinct(reports.map(({ day }) => day)).toSorted();
  const times = distinct(reports.map(({ runs = 1 }) => runs));
  const when = days.length > 1 ? `from ${days[0]} to ${days.at(-1)}` : `on ${days[0] ?? 'no day'}`;
  const [fewest, most] = [Math.min(...times), Math.max(...times)];
  const how = most === 1 ? 'One run' : `Medians of ${fewest === most ? most : `${fewest} to ${most}`} runs`;
  return `${how} on ${machines}, ${runtimes}, ${when}. ${met} of ${barred.length} bars met.`;
}

function distinct<T>(values: readonly T[]): T[] {
  return [...new Set(values)];
}

function linesOf(first: string, rows: readonly (Row & { readonly what: string })[]): string[] {
  return [
    `| ${first} | measured | bar | beside | ratio | |`,
    '| --- | --- | --- | --- | --- | --- |',
    ...rows.map(({ what, value, bar = '', peer = '', ratio = '', met }) =>
      `| ${
        [what, value, bar, peer, ratio, met === undefined ? '' : met ? 'met' : '**missed**'].map(cellOf).join(' | ')
      } |`
    ),
  ];
}

function cellOf(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ').replace(/<(?=[a-z/!])/gi, '&lt;').replace(/ us\b/g, ' µs');
}
