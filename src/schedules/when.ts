/** When a schedule is due. The one door to `croner`, which is right about clocks that are changed: see `docs/schedules.md`. */

import { Cron } from 'croner';
import * as v from 'valibot';
import { isTimeZone } from '../runtime/budget-terms.ts';

const aTime = 'must be a time such as "2026-12-01T08:00:00Z"';
/** The last time that a `Date` has. */
const lastTime = 8.64e15;

/** A time as a number of milliseconds since 1970, or as ISO text with a zone. */
export const Time = v.pipe(
  v.union([
    v.number(),
    v.pipe(v.string(), v.isoTimestamp(aTime), v.check(isOfCalendar, aTime), v.transform(Date.parse)),
  ], aTime),
  v.integer(aTime),
  v.minValue(0, aTime),
  v.maxValue(lastTime, aTime),
);

/** `Date` takes the 30th of February for a day in March. */
function isOfCalendar(text: string): boolean {
  const day = text.slice(0, 10);
  const at = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(day);
}

const TimeZone = v.pipe(
  v.string(),
  v.maxLength(64),
  v.check(isTimeZone, 'must be a time zone such as "Europe/Berlin"'),
);
const SecretName = v.pipe(v.string(), v.minLength(1), v.maxLength(256));

const Cron5 = v.pipe(
  v.string(),
  v.maxLength(200),
  v.check(isCron, 'must be five cron fields for a time that comes, such as "0 8 * * mon-fri" or "0 22-23,0-2 * * *"'),
  v.transform(plainCron),
);

/** The schema of `when`. */
export const When = v.union([
  v.strictObject({ cron: Cron5, timeZone: v.optional(TimeZone, 'UTC') }),
  v.strictObject({
    everyMs: v.pipe(v.number(), v.integer(), v.minValue(1_000), v.maxValue(366 * 86_400_000)),
    from: v.optional(Time),
  }),
  v.strictObject({ at: Time }),
  v.strictObject({ hook: v.strictObject({ secret: v.union([SecretName, v.tuple([SecretName, SecretName])]) }) }),
], 'must be { cron, timeZone }, { everyMs, from }, { at } or { hook: { secret } }, each as docs/schedules.md has it');

/** When a schedule is due: by the calendar of a time zone, at intervals, once, or when a signed hook comes. */
export type When =
  | { readonly cron: string; readonly timeZone: string }
  | { readonly everyMs: number; readonly from?: number | undefined }
  | { readonly at: number }
  | { readonly hook: { readonly secret: string | readonly [string, string] } };

const names: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
};
const lastOf = [59, 23, 31, 12, 6];

/** Returns the five fields of a pattern that may be a name; steps without a range, such as `5/15`, count until the last value. */
function plainCron(pattern: string): string {
  const fields = (names[pattern.trim().toLowerCase()] ?? pattern).trim().split(/\s+/);
  return fields.map((field, at) => field.replace(/(?<![-\w])(\d+)\//g, `$1-${lastOf[at] ?? ''}/`)).join(' ');
}

function isCron(pattern: string): boolean {
  const cron = plainCron(pattern);
  return cron.split(' ').length === 5 && comes({ cron, timeZone: 'UTC' });
}

/** Whether a pattern can be read and matches some time. */
function comes(when: { readonly cron: string; readonly timeZone: string }): boolean {
  try {
    return nextAfter(when, Date.now()) !== undefined;
  } catch {
    return false;
  }
}

const crons = new Map<string, Cron>();

function cronOf(pattern: string, timezone: string): Cron {
  const name = `${timezone} ${pattern}`;
  const known = crons.get(name);
  if (known) return known;
  if (crons.size >= 500) crons.clear();
  const cron = new Cron(pattern, {
    timezone,
    mode: '5-part',
    sloppyRanges: true,
    fixedTimeRule: 'no-wildcard',
    paused: true,
  });
  crons.set(name, cron);
  return cron;
}

/** Returns the first occurrence after a time; `undefined` where none comes by itself. */
export function nextAfter(when: When, after: number): number | undefined {
  if ('hook' in when) return undefined;
  if ('at' in when) return when.at > after ? when.at : undefined;
  if ('cron' in when) return cronOf(when.cron, when.timeZone).nextRun(new Date(after))?.getTime();
  const { everyMs, from = 0 } = when;
  return from + Math.max(0, Math.floor((after - from) / everyMs) + 1) * everyMs;
}

/** Returns the next occurrences, at most so many. */
export function nextTimes(
  when: When,
  { after, count }: { readonly after: number; readonly count: number },
): readonly number[] {
  const times: number[] = [];
  for (let at = nextAfter(when, after); at !== undefined && times.length < count; at = nextAfter(when, at)) {
    times.push(at);
  }
  return times;
}

/** So many missed occurrences are counted one by one; of more, only the last is looked for. */
const mostCounted = 200;

/** What has passed since an occurrence was due: the last one until now, how many came before it, and the one that comes next. */
export interface Passed {
  readonly last: number;
  readonly before: number;
  readonly next: number | undefined;
}

/** Returns what has passed between a due occurrence and now. */
export function passedSince(when: When, first: number, now: number): Passed {
  if ('everyMs' in when) {
    const before = Math.floor((now - first) / when.everyMs);
    const last = first + before * when.everyMs;
    return { last, before, next: last + when.everyMs };
  }
  let [last, before] = [first, 0];
  for (let next = nextAfter(when, last);; next = nextAfter(when, last)) {
    if (next === undefined || next > now) return { last, before, next };
    last = before === mostCounted && 'cron' in when ? lastUntil(when, next, now) : next;
    before++;
  }
}

/** Returns the last occurrence until now, which is `found` or later. */
function lastUntil({ cron, timeZone }: Extract<When, { cron: string }>, found: number, now: number): number {
  // croner counts whole seconds, and leaves out the time itself.
  const at = cronOf(cron, timeZone).previousRuns(1, new Date(now + 1000))[0]?.getTime() ?? found;
  return at > now ? found : Math.max(found, at);
}
