/** Dates in text, as ISO 8601. */

import type { Clause } from '../clause.ts';

const months = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const month = '(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*';

const isoPattern = '\\d{4}-\\d{2}-\\d{2}(?:[T ]\\d{2}:\\d{2}(?::\\d{2}(?:\\.\\d+)?)?(?:Z|[+-]\\d{2}:?\\d{2})?)?';

/** "24 December", "Dec 24th". */
export const monthDay =
  `(?:\\d{1,2}(?:st|nd|rd|th)?\\s+(?:of\\s+)?${month}\\b|\\b${month}\\s+\\d{1,2}(?:st|nd|rd|th)?\\b)(?!,?\\s+\\d{4})`;

/** What a tool without a strict format may read by its own clock: "24 December", "tomorrow", "Christmas". */
const byClock = `${monthDay}|today|tomorrow|yesterday|christmas(?:\\s+eve)?|new\\s+year(?:['’]s\\s+(?:eve|day))?`;

interface DateOptions {
  readonly withTime: boolean;
  readonly after: string;
  /** Whether the value must be an ISO date: this model has no clock to complete one. */
  readonly strict: boolean;
}

/** Returns the first date of the text, if there is one behind `after`, and takes it. */
export function dateIn(clause: Clause, { withTime, after, strict }: DateOptions): string | undefined {
  const iso = clause.take(new RegExp(`${after}(${isoPattern})`, 'iu')) ??
    clause.take(new RegExp(`\\b${isoPattern}`, 'u'));
  const date = iso ?? spelt(clause);
  if (date === undefined) {
    return strict
      ? undefined
      : clause.take(new RegExp(`${after || '(?<!\\b(?:until|till|to|and)\\s)'}\\b(${byClock})`, 'iu'));
  }
  const [day = '', rest = ''] = date.split(/[T ]/u);
  if (!withTime) return day;
  const time = rest || clause.take(/(?<!\d)\d{1,2}:\d{2}(?!\d)/u)?.padStart(5, '0') || '00:00';
  const seconds = /^\d{2}:\d{2}(?!:)/u.test(time) ? time.replace(/^(\d{2}:\d{2})/u, '$1:00') : time;
  return `${day}T${/(?:Z|[+-]\d{2}:?\d{2})$/u.test(seconds) ? seconds : `${seconds}Z`}`;
}

/** `20 November 2026`, `November 20, 2026`, `20.11.2026`, `11/20/2026`. */
function spelt(clause: Clause): string | undefined {
  const dayFirst = clause.take(new RegExp(`\\b\\d{1,2}(?:st|nd|rd|th)?\\s+(?:of\\s+)?${month}\\s+\\d{4}\\b`, 'iu'));
  if (dayFirst !== undefined) return fromWords(dayFirst);
  const monthFirst = clause.take(new RegExp(`\\b${month}\\s+\\d{1,2}(?:st|nd|rd|th)?,?\\s+\\d{4}\\b`, 'iu'));
  if (monthFirst !== undefined) return fromWords(monthFirst);
  const dots = clause.take(/\b\d{1,2}\.\d{1,2}\.\d{4}\b/u)?.split('.');
  if (dots) return isoOf(dots[2], dots[1], dots[0]);
  const slashes = clause.take(/\b\d{1,2}\/\d{1,2}\/\d{4}\b/u)?.split('/');
  return slashes && isoOf(slashes[2], slashes[0], slashes[1]);
}

function fromWords(text: string): string {
  const name = /[a-z]{3,}/iu.exec(text.replace(/\d(?:st|nd|rd|th)/iu, (day) => day.charAt(0)))?.[0] ?? '';
  const [first, second] = text.match(/\d+/gu) ?? [];
  return isoOf(second, String(months.indexOf(name.slice(0, 3).toLowerCase()) + 1), first);
}

function isoOf(year = '', monthNumber = '', day = ''): string {
  return `${year}-${monthNumber.padStart(2, '0')}-${day.padStart(2, '0')}`;
}
