/** The tool that calculates with dates. */

import * as v from 'valibot';
import { defineTool, PinnaceError, type Tool } from '../../src/index.ts';
import { type Moment, readMoment, writeMoment } from './read-moment.ts';

/** Options of {@link dateMathTool}. */
interface DateMathOptions {
  readonly now?: () => number;
}

const units = ['years', 'months', 'weeks', 'days', 'hours', 'minutes'] as const;

function amountOf(unit: string) {
  const range = v.pipe(v.number(), v.integer(), v.minValue(-1_000_000), v.maxValue(1_000_000));
  return v.optional(v.pipe(range, v.description(`How many ${unit}, for add, subtract and (days) working_days`)));
}

function dateOf(description: string) {
  return v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(64), v.description(description)));
}

const Input = v.strictObject({
  operation: v.optional(v.pipe(
    v.picklist(['add', 'subtract', 'difference', 'weekday', 'working_days']),
    v.description(
      '"add" or "subtract" an amount of time; "difference" between two dates; "weekday" of a date; "working_days" counts Monday ' +
        'to Friday between two dates, both included, or goes `days` working days on. Left out: the difference where `until` is ' +
        'given, else the weekday',
    ),
  )),
  date: dateOf(
    'The start date: ISO 8601 such as 2026-11-20 or 2026-11-20T15:30, today, tomorrow, yesterday, now, or a day such as 24 December. Left out: today',
  ),
  until: dateOf('The second date, for difference and working_days. Left out: today'),
  years: amountOf('years'),
  months: amountOf('months'),
  weeks: amountOf('weeks'),
  days: amountOf('days'),
  hours: amountOf('hours'),
  minutes: amountOf('minutes'),
  timeZone: v.optional(v.pipe(
    v.string(),
    v.minLength(1),
    v.maxLength(64),
    v.description('An IANA time zone, so that changes of the clock count. Left out: as if clocks never changed'),
    v.examples(['Europe/Berlin']),
  )),
});
type Input = v.InferOutput<typeof Input>;

/** Returns the tool `date_math`. It needs Temporal, which the runtimes of this project have and some older browsers lack. */
export function dateMathTool({ now = Date.now }: DateMathOptions = {}): Tool {
  return defineTool({
    id: 'date_math',
    title: 'Date calculator',
    description:
      'Calculates with dates: adds or subtracts years, months, weeks, days, hours; tells the difference between two ' +
      'dates, how many days there are until a date, the weekday of a date, and working days (Monday to Friday, no holidays).',
    category: 'time',
    keywords: [
      'calendar',
      'duration',
      'deadline',
      'days between',
      'day of the week',
      'ago',
      'from now',
      'business days',
    ],
    annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
    input: Input,
    execute(input) {
      requireTemporal();
      const year = /\s\d{4}$/.exec(input.until?.trim() ?? '')?.[0] ?? ''; // "1 May" until "3 June 2026" is of that year
      const read = (name: 'date' | 'until'): Moment => {
        const text = input[name] ?? 'today';
        const isOfYear = name === 'date' && /^(?:\d{1,2}\D{0,6}\p{L}{3,}|\p{L}{3,} \d{1,2}\D{0,2})$/u.test(text.trim());
        return readMoment(isOfYear ? text.trim() + year : text, { now, timeZone: input.timeZone, name });
      };
      return withinCalendar(() => calculate(input, { date: read('date'), until: () => read('until') }));
    },
  });
}

function requireTemporal(): void {
  if ('Temporal' in globalThis) return;
  throw new PinnaceError('unavailable', 'Cannot calculate with dates: this browser has no Temporal', {
    retryable: false,
  });
}

interface Dates {
  readonly date: Moment;
  readonly until: () => Moment;
}

function calculate(input: Input, { date, until }: Dates): Record<string, unknown> {
  const operation = input.operation ?? impliedBy(input);
  switch (operation) {
    case 'add':
      return shift(date, input, 1);
    case 'subtract':
      return shift(date, input, -1);
    case 'difference':
      return difference(date, until());
    case 'weekday':
      return weekday(date);
    case 'working_days':
      return input.days === undefined ? workingDays(date, until()) : workingDay(date, input.days);
    default:
      return operation satisfies never;
  }
}

/** Whether an amount is to be added or subtracted is never guessed. */
function impliedBy(input: Input): 'difference' | 'weekday' {
  if (hasAmount(input)) throw refused('the operation is missing; say "add" or "subtract"');
  return input.until === undefined ? 'weekday' : 'difference';
}

function hasAmount(input: Input): boolean {
  return units.some((unit) => input[unit] !== undefined);
}

/** From the largest unit to the smallest. The 31st plus one month is the last day of a month that is shorter. */
function shift(moment: Moment, input: Input, sign: 1 | -1): Record<string, unknown> {
  if (!hasAmount(input)) {
    throw refused(`an amount is missing; give one of ${units.map((unit) => `"${unit}"`).join(', ')}`);
  }
  const { years = 0, months = 0, weeks = 0, days = 0, hours = 0, minutes = 0 } = input;
  const day = moment.at.add({ months: sign * (years * 12 + months) }).add({ days: sign * (weeks * 7 + days) });
  const at = day.add({ minutes: sign * (hours * 60 + minutes) });
  const clock = input.timeZone === undefined ? 'local' : 'instant';
  const isByTheClock = input.hours !== undefined || input.minutes !== undefined;
  return describeShift(moment, {
    at,
    precision: moment.precision === 'date' && isByTheClock ? clock : moment.precision,
  });
}

function describeShift(from: Moment, to: Moment): Record<string, unknown> {
  const facts = { date: writeMoment(from), result: writeMoment(to), weekday: weekdayOf(to) };
  return { ...facts, text: `${facts.weekday}, ${facts.result}` };
}

function difference(from: Moment, until: Moment): Record<string, unknown> {
  const end = until.at.withTimeZone(from.at.timeZoneId);
  const hasTime = from.precision !== 'date' || until.precision !== 'date';
  const span = from.at.until(end, { largestUnit: 'years', smallestUnit: hasTime ? 'seconds' : 'days' });
  const { years, months, days, hours, minutes, seconds } = span;
  const totalDays = Number(span.total({ unit: 'days', relativeTo: from.at }).toFixed(6));
  const names = { from: writeMoment(from), until: writeMoment(until) };
  const time = hasTime ? { hours, minutes, seconds } : {};
  const text = `${names.until} is ${describeSpan(span, totalDays)} ${names.from}`;
  return { ...names, years, months, days, ...time, totalDays, text };
}

function describeSpan(span: Temporal.Duration, totalDays: number): string {
  if (span.blank) return 'the same as';
  const total = `${Math.abs(totalDays)} ${Math.abs(totalDays) === 1 ? 'day' : 'days'}`;
  const exact = span.abs().toLocaleString('en', { style: 'long' });
  return `${exact === total ? total : `${total} (${exact})`} ${span.sign < 0 ? 'before' : 'after'}`;
}

function weekday(moment: Moment): Record<string, unknown> {
  const { dayOfWeek, dayOfYear, weekOfYear, inLeapYear } = moment.at;
  const facts = { date: writeMoment(moment), weekday: weekdayOf(moment), dayOfWeek, dayOfYear, weekOfYear, inLeapYear };
  return { ...facts, text: `${facts.date} is a ${facts.weekday}` };
}

function workingDays(from: Moment, until: Moment): Record<string, unknown> {
  const count = countWorkingDays(from.at.toPlainDate(), until.at.toPlainDate());
  const names = { from: writeMoment(from), until: writeMoment(until) };
  return {
    ...names,
    workingDays: count,
    text: `${count} working days from ${names.from} until ${names.until}, both included`,
  };
}

function workingDay(from: Moment, count: number): Record<string, unknown> {
  const day = addWorkingDays(from.at.toPlainDate(), count);
  return describeShift(from, { at: day.toZonedDateTime(from.at.timeZoneId), precision: 'date' });
}

function weekdayOf({ at }: Moment): string {
  return at.toPlainDate().toLocaleString('en', { weekday: 'long' });
}

/** Temporal throws a RangeError for what lies outside its 500,000 years. */
function withinCalendar<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof RangeError) throw refused('the result is outside the years that can be calculated with');
    throw error;
  }
}

function refused(why: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot calculate with dates: ${why}`);
}

/** Counts the working days from one day until another, both included; negative when the second is the earlier one. */
function countWorkingDays(from: Temporal.PlainDate, until: Temporal.PlainDate): number {
  if (Temporal.PlainDate.compare(from, until) > 0) return -countWorkingDays(until, from);
  const days = from.until(until).days + 1;
  let count = Math.floor(days / 7) * 5;
  for (let i = 0; i < days % 7; i++) count += Number(isWorkingDay(from.add({ days: i })));
  return count;
}

/** Returns the day that is so many working days later, or earlier when negative. */
function addWorkingDays(day: Temporal.PlainDate, count: number): Temporal.PlainDate {
  if (count === 0) return day;
  const step = Math.sign(count);
  let result = day;
  while (!isWorkingDay(result)) result = result.subtract({ days: step }); // a weekend counts as the working day before it
  result = result.add({ days: Math.trunc(count / 5) * 7 });
  for (let left = Math.abs(count % 5); left > 0;) {
    result = result.add({ days: step });
    if (isWorkingDay(result)) left--;
  }
  return result;
}

function isWorkingDay({ dayOfWeek }: Temporal.PlainDate): boolean {
  return dayOfWeek < 6;
}
