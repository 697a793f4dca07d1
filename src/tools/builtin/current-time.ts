/** The tool that knows what time it is. */

import * as v from 'valibot';
import { PinnaceError } from '../../base/errors.ts';
import { defineValibotTool } from '../make-tool.ts';
import type { Tool } from '../tool.ts';
import { checkNames, optional, suggest } from '../../base/check-options.ts';

/** Options of {@link currentTimeTool}. */
export interface CurrentTimeOptions {
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  /** The zone where the input names none; by default that of the machine. */
  readonly timeZone?: string;
}

const Input = v.strictObject({
  timeZone: v.optional(v.pipe(
    v.string(),
    v.minLength(1),
    v.maxLength(64),
    v.title('Time zone'),
    v.description('An IANA time zone, or its city. Left out: the zone of the machine that runs the tool.'),
    v.examples(['Europe/Berlin', 'Asia/Tokyo', 'America/New_York', 'UTC']),
  )),
});

/** Creates the tool `current_time`. */
export function currentTimeTool(options: CurrentTimeOptions = {}): Tool {
  checkNames('define the tool', options, optional('now', 'timeZone'));
  const { now = Date.now, timeZone: home } = options;
  return defineValibotTool({
    id: 'current_time',
    title: 'Current time',
    type: 'builtin',
    description: 'Tells the current date and time, now, in a time zone: instant, local date, time of day and offset ' +
      'from UTC. Use it whenever an answer depends on what day or what time it is.',
    category: 'time',
    keywords: ['now', 'today', 'clock', 'date', 'day', 'weekday', 'timezone', 'zone', 'hour'],
    annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
    input: Input,
    execute: ({ timeZone = home ?? machineTimeZone() }) => describeInstant(now(), resolveTimeZone(timeZone)),
  });
}

function describeInstant(instant: number, timeZone: string): Record<string, string> {
  const part = partsOf(instant, timeZone);
  const date = `${part('year').padStart(4, '0')}-${part('month')}-${part('day')}`;
  const time = `${part('hour')}:${part('minute')}:${part('second')}`;
  const offset = part('timeZoneName').replace('GMT', '') || '+00:00';
  const weekday = part('weekday');
  return {
    instant: new Date(instant).toISOString(),
    timeZone,
    date,
    time,
    weekday,
    offset,
    text: timeZone === 'UTC'
      ? `It is ${time.slice(0, 5)} UTC on ${weekday}, ${date}`
      : `It is ${time.slice(0, 5)} on ${weekday}, ${date} in ${placeOf(timeZone)} (UTC${offset})`,
  };
}

/** `Tokyo` for `Asia/Tokyo`. */
function placeOf(timeZone: string): string {
  return (timeZone.split('/').at(-1) ?? timeZone).replaceAll('_', ' ');
}

function partsOf(instant: number, timeZone: string): (type: Intl.DateTimeFormatPartTypes) => string {
  const parts = new Intl.DateTimeFormat('en-u-ca-iso8601-nu-latn', {
    timeZone,
    weekday: 'long',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
    timeZoneName: 'longOffset',
  }).formatToParts(instant);
  return (wanted) => parts.find(({ type }) => type === wanted)?.value ?? '';
}

/** The zone of the machine; UTC where it has none. */
export function machineTimeZone(): string {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  return knownZone(timeZone) ?? 'UTC';
}

/**
 * Returns the IANA time zone in its usual spelling: for `europe/berlin`, and for `Berlin` where only one zone is named after such
 * a city.
 *
 * @throws PinnaceError `invalid_argument` with `details.suggestions` for a name that is no zone.
 */
export function resolveTimeZone(name: string): string {
  const known = knownZone(name);
  if (known !== undefined) return known;
  const zones = Intl.supportedValuesOf('timeZone');
  const wanted = simplify(name);
  const named = zones.filter((zone) => simplify(cityOf(zone)) === wanted);
  const [only] = named;
  if (only !== undefined && named.length === 1) return only;
  throw unknownZone(named.length > 0 ? named : suggest(wanted, zones, { namesOf }));
}

function knownZone(name: string): string | undefined {
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions();
    return timeZone.toLowerCase() === name.toLowerCase() ? timeZone : name; // no other name of the zone
  } catch {
    return undefined;
  }
}

function cityOf(zone: string): string {
  return zone.slice(zone.lastIndexOf('/') + 1);
}

function simplify(name: string): string {
  return name.trim().replace(/[\s_]+/g, '_').toLowerCase();
}

function namesOf(zone: string): readonly string[] {
  return [zone, cityOf(zone)];
}

function unknownZone(suggestions: readonly string[]): PinnaceError {
  const nearest = suggestions.map((zone) => `"${zone}"`).join(' or ');
  const hint = nearest === '' ? 'use one such as "Europe/Berlin"' : `did you mean ${nearest}`;
  return new PinnaceError('invalid_argument', `Cannot find the time zone: it is not in the IANA list; ${hint}`, {
    details: { reason: 'unknown_time_zone', suggestions },
  });
}
