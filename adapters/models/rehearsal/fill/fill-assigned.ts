/** Values that the text assigns to a property by its name. */

import { bracketed, type Clause, parseJson, quoted, unquote } from '../clause.ts';
import { monthDay } from './fill-date.ts';
import { numberOf, numberPattern } from './fill-number.ts';
import { anyCase, capitalised, conform, escapeRegExp, identifier, phrase, stops } from '../patterns.ts';
import type { Field, Shape } from '../shape.ts';
import { allStemsOf, wordsOf } from '../words.ts';

const sign = '\\s*(?:=|:)\\s*';
const copula = `\\s+(?:${anyCase('is|are|to|as|be|of|equals?')})?\\s*`;

/** Returns the value that the text assigns by the property's name: `limit=5`, `limit of 5`, `title "Tea"`, `5 rows`. */
export function assignedTo({ name, shape }: Field, clause: Clause): unknown {
  const label = `(?<![\\p{L}\\d_])(?:${
    wordsOf(name).map((word) => anyCase(escapeRegExp(word))).join('[\\s_-]*')
  }[sS]?)`;
  const link = name.length < 3 ? sign : `(?:${sign}|${copula})`;
  const take = (value: string, by = link): string | undefined =>
    clause.take(new RegExp(`${label}${by}(${value})`, 'u'));
  switch (shape.kind) {
    case 'number':
    case 'integer': {
      const found = take(numberPattern) ??
        (name.length < 3 ? undefined : clause.take(new RegExp(`${numberPattern}\\s+${label}(?!\\p{L})`, 'iu')));
      return found === undefined ? undefined : numberOf(found);
    }
    case 'boolean': {
      const found = take(`(?:${anyCase('true|false|yes|no|on|off')})\\b`);
      return found === undefined ? undefined : /^(?:true|yes|on)$/i.test(found);
    }
    case 'array':
      return parseJson(take(`${bracketed}+`) ?? '') ?? listOf(take(list, `(?:${sign}|\\s+)`), shape);
    case 'object':
      return parseJson(take(`${bracketed}+`) ?? '');
    default:
      return conform(
        take(`${quoted}+`) ?? clause.take(new RegExp(`${label}${link}(${monthDay})`, 'iu')) ??
          take(`${capitalised}|${identifier}`, link) ?? take('[^\\s,;\\uE000-\\uE002]+', sign),
        shape,
      );
  }
}

const nameWords = allStemsOf('name title label username');

const item =
  `(?:${quoted}+|(?!(?:of|for|in|to|from|and|that|which|are|is)\\b)[^\\s,;.\\uE000-\\uE002]+(?:\\.[^\\s,;.\\uE000-\\uE002]+)*)`;
const list = `${item}(?:\\s*(?:,|\\band\\b)\\s*(?:and\\s+)?${item})*`;

/** The texts between the commas of a list that a property's name announces. */
function listOf(text: string | undefined, shape: Shape): readonly string[] | undefined {
  const items = shape.items();
  if (text === undefined || items.choices.length > 0) return undefined;
  const texts = text.split(/\s*(?:,|\band\b)\s*/u).map((one) => conform(unquote(one), items)).filter((one) =>
    one !== undefined
  );
  return texts.length > 0 ? texts.slice(0, shape.maxItems) : undefined;
}

const kinds = new Set('type kind mode status state level format language color'.split(' '));

/** Returns the text after a part of the name: "node n2" for `nodeId`, "property title" for `propertyName`, "type task" for `payloadType`. */
export function labelled({ name, shape }: Field, clause: Clause): unknown {
  const words = wordsOf(name);
  const last = words.at(-1) ?? '';
  if (words.length < 2 || (shape.kind !== 'string' && shape.kind !== 'any') || shape.choices.length > 0) {
    return undefined;
  }
  const label = kinds.has(last)
    ? anyCase(last)
    : ['id', 'name', 'key'].includes(last)
    ? words.slice(0, -1).map(anyCase).join('[\\s_-]*')
    : undefined;
  if (label === undefined) return undefined;
  const value = isCode(last) ? identifier : `${identifier}|(?!(?:${stops}|the|a|an)\\b)\\p{L}[\\w-]*`;
  const pattern = new RegExp(`(?<![\\p{L}\\d_])(?:${label}):?\\s+(${quoted}+|${value})`, 'du');
  return isCode(last) && saysMore(clause, pattern) ? undefined : conform(clause.take(pattern), shape);
}

/** Whether a name with this ending means something that only a program reads. */
function isCode(lastWord: string): boolean {
  return lastWord === 'id' || lastWord === 'key';
}

/** Whether the pattern finds several words: in `a note: "Buy some rope"` they are the note, not its id. */
function saysMore(clause: Clause, pattern: RegExp): boolean {
  const [from, to] = pattern.exec(clause.open())?.indices?.[1] ?? [0, 0];
  return /\s/u.test(clause.text.slice(from, to).trim());
}

/** Returns what the text calls the property: `named X`, `called X`, `titled X`. */
export function named({ words, shape }: Field, clause: Clause): unknown {
  if (shape.kind !== 'string' || words.isDisjointFrom(nameWords)) return undefined;
  const value = clause.take(
    new RegExp(`\\b(?:named|called|titled|labell?ed|entitled)\\s+(${quoted}+|${identifier}|${phrase})`, 'iu'),
  );
  return conform(value, shape);
}
