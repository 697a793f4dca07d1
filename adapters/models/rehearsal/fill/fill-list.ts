/** Lists in text. */

import { bracketed, type Clause, clauseOf, parseJson, quoted } from '../clause.ts';
import { numbersIn } from './fill-number.ts';
import { conform, escapeRegExp, identifier } from '../patterns.ts';
import type { Field, Shape } from '../shape.ts';
import { isStopWord, relativesOf, stem, wordsOf } from '../words.ts';

interface ListOptions {
  readonly wanted: boolean;
  /** The stems of the tool's name. */
  readonly verbs: ReadonlySet<string>;
  /** Fills an object, and lists what it still needs. */
  readonly fill: (shape: Shape, clause: Clause) => { readonly input: unknown; readonly missing: readonly unknown[] };
}

/** Returns the list that the text holds: JSON, numbers, quoted phrases, identifiers, or words between commas and "and". */
export function listFrom({ words, shape }: Field, clause: Clause, options: ListOptions): unknown {
  if (shape.kind !== 'array') return undefined;
  const isNamed = wordsOf(clause.text).some((word) => words.has(stem(word)));
  if (!options.wanted && !isNamed) return undefined;
  const json = parseJson(clause.take(new RegExp(`${bracketed}+`, 'u')) ?? '');
  if (Array.isArray(json)) return json;
  if (typeof json === 'object' && json !== null && shape.items().kind === 'object') return [json];
  const found = itemsIn(clause, shape.items(), options).slice(0, shape.maxItems);
  return found.length > 0 ? found : undefined;
}

function itemsIn(clause: Clause, items: Shape, options: ListOptions): readonly unknown[] {
  switch (items.kind) {
    case 'number':
    case 'integer':
      return takeNumbers(clause, items);
    case 'object':
      return partsIn(clause, options.verbs).map((part) => options.fill(items, clauseOf(part)))
        .filter(({ missing }) => missing.length === 0).map(({ input }) => input);
    case 'string':
    case 'any':
      return textsIn(clause, options.verbs).map((text) => conform(text, items)).filter((text) => text !== undefined);
    default:
      return [];
  }
}

function takeNumbers(clause: Clause, items: Shape): readonly number[] {
  const numbers = numbersIn(clause.open()).filter(({ value }) => items.kind === 'number' || Number.isInteger(value));
  for (const { text } of numbers) clause.take(new RegExp(escapeRegExp(text), 'u'));
  return numbers.map(({ value }) => value);
}

function textsIn(clause: Clause, verbs: ReadonlySet<string>): readonly string[] {
  const inQuotes = takeAll(clause, `${quoted}+`);
  if (inQuotes.length > 0) return inQuotes;
  const identifiers = takeAll(clause, identifier);
  return identifiers.length > 0 ? identifiers : partsIn(clause, verbs);
}

function takeAll(clause: Clause, pattern: string): readonly string[] {
  const found: string[] = [];
  for (
    let next = clause.take(new RegExp(pattern, 'u'));
    next !== undefined;
    next = clause.take(new RegExp(pattern, 'u'))
  ) {
    found.push(next);
  }
  return found;
}

/** Returns the texts between commas and "and", after the words that name the tool. */
function partsIn(clause: Clause, verbs: ReadonlySet<string>): readonly string[] {
  const text = clause.rest().replace(/^.*:\s+/u, '').replace(/[.?!]+$/u, '');
  const parts = text.split(/\s*[,;]\s*(?:and\s+)?|\s+(?:and|or|&)\s+/iu);
  return parts.map((part) => withoutVerbs(part, verbs)).filter((part) => part !== '');
}

function withoutVerbs(part: string, verbs: ReadonlySet<string>): string {
  const words = part.split(/\s+/u);
  const isRequestWord = (word: string): boolean =>
    isStopWord(word) || wordsOf(word).some((one) => [...relativesOf(stem(one))].some((like) => verbs.has(like)));
  const from = words.findIndex((word) => !isRequestWord(word));
  return from < 0
    ? ''
    : words.slice(from).join(' ').replace(/\s+(?:to|from|in|on|for)\s+(?:the|my|our)\s.*$/iu, '').trim();
}
