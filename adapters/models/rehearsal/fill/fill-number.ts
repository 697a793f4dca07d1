/** Numbers in text: digits and words. */

import type { Clause } from '../clause.ts';
import type { Field, Shape } from '../shape.ts';
import { stem, stemsOf } from '../words.ts';
import { escapeRegExp } from '../patterns.ts';

/** A number with its sign, thousands and fraction; a short unit may follow at once, or `x` and another number. */
export const numberPattern = '(?:(?<![\\p{L}\\d_.:/-])|(?<=[\\d\\uE000][x×]))' +
  '(-?(?:\\d{1,3}(?:,\\d{3})+|\\d+)(?:\\.\\d+)?)(?!\\d|[.,:/-]\\d)(?=[a-zµ°%€$£²³/]{0,5}(?![\\w-])|[x×]\\d)';

const numberWords: readonly string[] =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty'
    .split(' ');

/** Words of properties that say how many. */
const quantities = stemsOf('limit count max maximum top number size amount n quantity total times first rows results');

/** Returns the next free number when the property is wanted, says how many, or speaks of what is counted. */
export function numberFrom({ words, shape }: Field, clause: Clause, { wanted }: { wanted: boolean }): unknown {
  if (shape.kind !== 'number' && shape.kind !== 'integer') return undefined;
  const duration = durationFrom(words, clause);
  if (duration !== undefined) return duration;
  const counted = new RegExp(`${numberPattern}\\s*(\\p{L}+)`, 'iu').exec(spellOut(clause.open()))?.[2];
  const speaksOf = counted !== undefined &&
    stemsOf(`${shape.hint} ${[...words].join(' ')}`).has(stem(counted.toLowerCase()));
  const isQuantity = [...words].some((word) => quantities.has(word));
  return wanted || speaksOf || isQuantity ? takeNumber(shape, clause, { isQuantity }) : undefined;
}

const units: readonly (readonly [RegExp, number])[] = [
  [/^(?:ms|msecs?|milliseconds?|milli)$/i, 1],
  [/^(?:s|sec|secs|seconds?)$/i, 1000],
  [/^(?:min|mins|minutes?)$/i, 60_000],
  [/^(?:h|hrs?|hours?)$/i, 3_600_000],
  [/^(?:d|days?)$/i, 86_400_000],
];

/** A duration in the unit that the property's name ends with: "2 seconds" for `delayMs` is 2000. */
function durationFrom(words: ReadonlySet<string>, clause: Clause): number | undefined {
  const wanted = unitOf([...words].at(-1) ?? '');
  if (wanted === undefined || words.size < 2) return undefined;
  const found = /(\d+(?:\.\d+)?)\s*(ms|milliseconds?|s|secs?|seconds?|mins?|minutes?|h|hours?|days?)\b/iu.exec(
    clause.open(),
  );
  const given = unitOf(found?.[2] ?? '');
  if (!found || given === undefined) return undefined;
  clause.take(new RegExp(escapeRegExp(found[0]), 'u'));
  return Number(found[1]) * given / wanted;
}

function unitOf(word: string): number | undefined {
  return units.find(([pattern]) => pattern.test(word))?.[1];
}

/** Takes the first number that the shape allows, else the first of its kind; with a quantity, the words around it. */
function takeNumber(shape: Shape, clause: Clause, { isQuantity }: { isQuantity: boolean }): number | undefined {
  const all = numbersIn(clause.open()).filter(({ value }) => shape.kind === 'number' || Number.isInteger(value));
  const chosen = all.find(({ value }) => value >= shape.minimum && value <= shape.maximum) ?? all[0];
  if (chosen === undefined) return undefined;
  const number = `(?:(?<![\\p{L}\\d_.,-])|(?<=[\\d\\uE000][x×]))${escapeRegExp(chosen.text)}`;
  const around =
    `(?:,?\\s*\\b(?:at most|up to|no more than|the top|top|the first|first|only)\\s+)?${number}(?:\\s+(?:results?|hits?|rows?|entries))?`;
  clause.take(new RegExp(isQuantity ? around : number, 'u'));
  return chosen.value;
}

/** Returns the numbers of a text in order, those spelt in letters too. */
export function numbersIn(text: string): readonly { readonly text: string; readonly value: number }[] {
  const digits = [...text.matchAll(new RegExp(numberPattern, 'giu'))].map((found) => ({
    at: found.index,
    text: found[1] ?? '',
    value: Number((found[1] ?? '').replaceAll(',', '')),
  }));
  // "one" is more often a pronoun than a number.
  const words = [...text.matchAll(/(?<![\p{L}\d_-])(\p{L}{3,9})(?![\p{L}\d_-])/gu)].flatMap((found) => {
    const value = numberWords.indexOf((found[1] ?? '').toLowerCase());
    return value < 0 || value === 1 ? [] : [{ at: found.index, text: found[1] ?? '', value }];
  });
  return [...digits, ...words].toSorted((one, other) => one.at - other.at);
}

/** Returns the number that a word or digits mean. */
export function numberOf(text: string): number {
  const value = numberWords.indexOf(text.toLowerCase());
  return value < 0 ? Number(text.replaceAll(',', '')) : value;
}

function spellOut(text: string): string {
  return text.replace(/(?<![\p{L}\d_-])\p{L}{3,9}(?![\p{L}\d_-])/gu, (word) => {
    const value = numberWords.indexOf(word.toLowerCase());
    return value < 2 ? word : String(value);
  });
}
