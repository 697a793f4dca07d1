/** Which time zone a name means. */

import { PinnaceError } from '../../base/errors.ts';
import { suggest } from '../../base/suggest.ts';

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
