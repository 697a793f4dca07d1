/** Which unit a text means. */

import { PinnaceError } from '../../src/base/errors.ts';
import { suggest } from '../../src/base/check-options.ts';
import { type Unit, units } from './units.ts';

/**
 * Returns the unit that is called so: by symbol, name or plural, in British or American spelling. Capitals count only where they
 * make a difference (`Mb`, `MB`).
 *
 * @throws PinnaceError `invalid_argument` with `details.suggestions` for a unit that is unknown or has several meanings.
 */
export function findUnit(text: string, { name }: { readonly name: string }): Unit {
  const wanted = normalize(text);
  const { byName, byFoldedName } = indexes ??= createIndexes();
  const found = byName.get(wanted) ?? byFoldedName.get(wanted.toLowerCase()) ?? [];
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  throw found.length === 0 ? unknownUnit(wanted, name) : ambiguousUnit(found, name);
}

function namesOf({ name, plural, aliases }: Unit): readonly string[] {
  return [name, plural].flatMap(spellings).concat(aliases, aliases.flatMap(inWords));
}

/** `ft2` is also written `square ft`. */
function inWords(symbol: string): string[] {
  if (symbol.endsWith('2')) return [`square ${symbol.slice(0, -1)}`];
  return symbol.endsWith('3') ? [`cubic ${symbol.slice(0, -1)}`] : [];
}

function spellings(name: string): string[] {
  const british = name.replaceAll('meter', 'metre').replaceAll('liter', 'litre');
  return british === name ? [name] : [name, british];
}

/** One way of writing for several: `m²` is `m2`, `sq ft` is `square ft`, `km per h` is `km/h`, `°C` is `C`. */
function normalize(text: string): string {
  return text.normalize('NFKC') // superscripts become digits, and one micro sign is left
    .replaceAll('μ', 'u')
    .replaceAll(/[°^]/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .replace(/\.$/, '')
    .replace(/^sq\.? /i, 'square ')
    .replace(/^cu\.? /i, 'cubic ')
    .replaceAll(/ ?(?:\/|\bper\b) ?/gi, '/');
}

function indexBy(keyOf: (name: string) => string): ReadonlyMap<string, readonly Unit[]> {
  const index = new Map<string, Unit[]>();
  for (const unit of units) {
    for (const key of new Set(namesOf(unit).map(keyOf))) index.set(key, [...index.get(key) ?? [], unit]);
  }
  return index;
}

/** Made with the first search: a start needs none. */
function createIndexes() {
  return { byName: indexBy(normalize), byFoldedName: indexBy((name) => normalize(name).toLowerCase()) };
}

let indexes: ReturnType<typeof createIndexes> | undefined;

const unitNames = units.map(({ name }) => name);
const spellingsByName = new Map(units.map((unit) => [unit.name, namesOf(unit)]));

const currency = /^(?:[$€£¥]|usd|eur|gbp|jpy|cny|inr|chf|cad|aud|dollars?|euros?|rupees?|yen|yuan)$/i;

function unknownUnit(wanted: string, field: string): PinnaceError {
  if (currency.test(wanted)) {
    return refused(`"${wanted}" is a currency: there are no exchange rates here`, { reason: 'unknown_unit' });
  }
  const suggestions = suggest(wanted, unitNames, { namesOf: (name) => spellingsByName.get(name) ?? [] });
  const hint = suggestions.length > 0
    ? `did you mean ${suggestions.map((name) => `"${name}"`).join(' or ')}`
    : 'use a name or symbol such as "kilometer", "lb" or "°C"';
  return refused(`"${field}" is not a unit known here; ${hint}`, { reason: 'unknown_unit', suggestions });
}

function ambiguousUnit(found: readonly Unit[], field: string): PinnaceError {
  const suggestions = found.map(({ name }) => name);
  const list = suggestions.map((name) => `"${name}"`).join(' or ');
  return refused(`"${field}" has several meanings; write ${list}`, { reason: 'ambiguous_unit', suggestions });
}

function refused(why: string, details: Record<string, unknown>): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot convert: ${why}`, { details });
}
