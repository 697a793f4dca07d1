/** Dates and times in text, with and without a time zone. */

import { PinnaceError } from '../../src/base/errors.ts';
import { machineTimeZone, resolveTimeZone } from '../../src/tools/builtin/current-time.ts';

/** A date, a local time or an instant, with the zone in which to calculate. */
export interface Moment {
  readonly at: Temporal.ZonedDateTime;
  /** How exactly it was given, and is shown: a day, a time on some clock, or an instant. */
  readonly precision: 'date' | 'local' | 'instant';
}

/** What a text may refer to. */
export interface MomentOptions {
  readonly now: () => number;
  /** IANA name or city; where none is given, days and local times have no zone and "today" is that of the machine. */
  readonly timeZone?: string | undefined;
  /** What the text is called in errors. */
  readonly name: string;
}

const relativeDays: ReadonlyMap<string, number> = new Map([['yesterday', -1], ['today', 0], ['tomorrow', 1]]);

/**
 * Reads an ISO 8601 date, date-time or instant, "today", "tomorrow", "yesterday" or "now", a day such as "3 June 2026", or a day of
 * the year such as "24 December" or "Christmas": the next one.
 *
 * @throws PinnaceError `invalid_argument` for anything else, and for days that do not exist.
 */
export function readMoment(text: string, { now, timeZone, name }: MomentOptions): Moment {
  const given = timeZone === undefined ? undefined : resolveTimeZone(timeZone);
  const word = text.trim().toLowerCase();
  const clock = (): Temporal.ZonedDateTime =>
    Temporal.Instant.fromEpochMilliseconds(now()).toZonedDateTimeISO(given ?? machineTimeZone());
  if (word === 'now') return { at: clock(), precision: 'instant' };
  const days = relativeDays.get(word);
  if (days !== undefined) return dayOf(clock().toPlainDate().add({ days }), given);
  const [, day = word, year] = /^(.+?),?\s+(\d{4})$/.exec(word) ?? [];
  const yearly = dayOfYear(day);
  if (yearly && year !== undefined) return dayOf(yearly.toPlainDate({ year: Number(year) }), given);
  if (yearly) return dayOf(nextOf(yearly, clock().toPlainDate()), given);
  try {
    return readIso(text.trim(), given);
  } catch {
    throw notADate(name);
  }
}

const months = 'january february march april may june july august september october november december'.split(' ');

const holidays: ReadonlyMap<string, string> = new Map([
  ['christmas', '--12-25'],
  ['christmas day', '--12-25'],
  ['christmas eve', '--12-24'],
  ['new year', '--01-01'],
  ['new year’s day', '--01-01'],
  ['new year’s eve', '--12-31'],
]);

/** "24 December", "Dec 24th" or a holiday. */
function dayOfYear(text: string): Temporal.PlainMonthDay | undefined {
  const holiday = holidays.get(text.replace("'", '’').replace(/\s+/g, ' '));
  if (holiday !== undefined) return Temporal.PlainMonthDay.from(holiday);
  const found = /^(?:(\d{1,2})(?:st|nd|rd|th)?\s+(?:of\s+)?([a-z]{3,9})|([a-z]{3,9})\s+(\d{1,2})(?:st|nd|rd|th)?)$/
    .exec(text);
  const name = found?.[2] ?? found?.[3] ?? '';
  const month = 1 + months.findIndex((one) => one.startsWith(name));
  if (!found || month === 0) return undefined;
  try {
    return Temporal.PlainMonthDay.from({ monthCode: monthCodeOf(month), day: Number(found[1] ?? found[4]) }, {
      overflow: 'reject',
    });
  } catch {
    return undefined; // "31 June": no day at all
  }
}

function monthCodeOf(month: number): string {
  return `M${String(month).padStart(2, '0')}`;
}

/** The day itself when it is today. 29 February is the 28th in most years. */
function nextOf(day: Temporal.PlainMonthDay, today: Temporal.PlainDate): Temporal.PlainDate {
  const inYear = day.toPlainDate({ year: today.year });
  return Temporal.PlainDate.compare(inYear, today) < 0 ? day.toPlainDate({ year: today.year + 1 }) : inYear;
}

/** Writes a moment as exactly as it was given. */
export function writeMoment({ at, precision }: Moment): string {
  switch (precision) {
    case 'date':
      return at.toPlainDate().toString();
    case 'local':
      return at.toPlainDateTime().toString({ smallestUnit: 'second' });
    case 'instant':
      return at.toString({ smallestUnit: 'second' });
    default:
      return precision satisfies never;
  }
}

function readIso(text: string, zone: string | undefined): Moment {
  if (!/[T ]/i.test(text)) return dayOf(Temporal.PlainDate.from(text, { overflow: 'reject' }), zone);
  if (text.endsWith(']')) return instantOf(Temporal.ZonedDateTime.from(text), zone);
  if (/(?:Z|[+-]\d{2}(?::?\d{2})?)$/i.test(text)) {
    return instantOf(Temporal.Instant.from(text).toZonedDateTimeISO('UTC'), zone);
  }
  const local = Temporal.PlainDateTime.from(text, { overflow: 'reject' }).withCalendar('iso8601');
  return { at: local.toZonedDateTime(zone ?? 'UTC'), precision: zone === undefined ? 'local' : 'instant' };
}

/** A day has no zone, but hours count from its start in the given zone. */
function dayOf(day: Temporal.PlainDate, zone: string | undefined): Moment {
  return { at: day.withCalendar('iso8601').toZonedDateTime(zone ?? 'UTC'), precision: 'date' };
}

function instantOf(at: Temporal.ZonedDateTime, zone: string | undefined): Moment {
  const iso = at.withCalendar('iso8601');
  return { at: zone === undefined ? iso : iso.withTimeZone(zone), precision: 'instant' };
}

function notADate(name: string): PinnaceError {
  return new PinnaceError(
    'invalid_argument',
    `Cannot read "${name}": it is not a date of the calendar; write one like "2026-11-20", "2026-11-20T15:30" or "today"`,
    { details: { reason: 'invalid_date' } },
  );
}
