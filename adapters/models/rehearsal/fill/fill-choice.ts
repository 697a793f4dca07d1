/** Values that a schema lists, and yes or no. */

import type { Clause } from '../clause.ts';
import { isSource, isTarget } from './fill-format.ts';
import type { Field, Shape } from '../shape.ts';
import { allStemsOf, isStopWord, stem, wordsOf } from '../words.ts';
import { escapeRegExp } from '../patterns.ts';

/** Returns the listed value that the text names first, or for an array all that it names. */
export function choiceFrom({ words, shape, required }: Field, clause: Clause): unknown {
  if (shape.kind === 'array') {
    const all = namedIn(shape.items().choices, clause);
    for (const choice of all) take(choice, clause);
    return all.length > 0 ? all : undefined;
  }
  if (shape.choices.length === 1 && required) return shape.choices[0];
  const named = namedIn(shape.choices.filter((choice) => typeof choice !== 'boolean'), clause);
  const before = isSource(words) ? '\\bfrom\\s+' : isTarget(words) ? '\\b(?:to|into)\\s+' : undefined;
  const directed = named.find((choice) => before !== undefined && patternOf(choice, before).test(clause.open()));
  return take(directed ?? named[0], clause);
}

function take<T extends Choice | undefined>(choice: T, clause: Clause): T {
  if (choice !== undefined) clause.take(patternOf(choice));
  return choice;
}

type Choice = Shape['choices'][number];

/** The listed values in the order in which the text names them. */
function namedIn(choices: readonly Choice[], clause: Clause): readonly Choice[] {
  const named = choices.map((choice) => ({ choice, at: placeOf(String(choice), clause) })).filter(({ at }) => at >= 0);
  const inOrder = named.toSorted((one, other) =>
    one.at - other.at || String(other.choice).length - String(one.choice).length
  );
  return inOrder.map(({ choice }) => choice);
}

/** Where the text names the value: itself, a word with its stem, or a word that it shortens (`desc`, `descending`). */
function placeOf(choice: string, clause: Clause): number {
  const text = clause.open();
  const exact = text.search(patternOf(choice));
  if (exact >= 0) return exact;
  const wanted = wordsOf(choice);
  const given = wordsOf(text);
  const isNamed = wanted.length > 0 && wanted.every((word) => given.some((other) => isForm(word, other)));
  const first = stem(wanted[0] ?? '');
  if (isNamed && !isStopWord(choice)) return text.toLowerCase().indexOf(first);
  return choice.length >= 3 && wanted.length === 1
    ? text.toLowerCase().search(new RegExp(`(?<![\\p{L}\\d])${escapeRegExp(choice.toLowerCase())}\\p{L}{2,}`, 'u'))
    : -1;
}

/** Whether two words are forms of one: "sorted" and "sorts", but not "plan" and "plane". */
function isForm(one: string, other: string): boolean {
  return stem(one) === stem(other) && `${one}e` !== other && `${other}e` !== one;
}

function patternOf(choice: Choice, before = ''): RegExp {
  const words = String(choice).split(/[\s_-]+/).map(escapeRegExp).join('[\\s_-]+');
  return new RegExp(`${before}(?<![\\p{L}\\d])${words}(?![\\p{L}\\d])`, 'iu');
}

const auxiliaries = new Set([
  'is',
  'has',
  'include',
  'includ',
  'with',
  'enabl',
  'allow',
  'use',
  'show',
  'should',
  'can',
  'do',
  'be',
]);

/** Names of properties that a text turns on or off. */
const switches = allStemsOf('on enabled active power');

/** Returns true when the text names the property, false when it does so with a negation before or a "false" behind. */
export function flagFrom({ words, shape }: Field, clause: Clause): unknown {
  if (shape.kind !== 'boolean') return undefined;
  const turned = words.isDisjointFrom(switches)
    ? null
    : /\b(?:(on|enabled?|activate)|(off|disabled?|deactivate))\b/iu.exec(clause.open());
  if (turned) return turned[1] !== undefined;
  const names = [...words].filter((word) => !auxiliaries.has(word));
  const text = wordsOf(clause.open());
  const at = text.findIndex((word) => names.includes(stem(word)));
  if (at < 0 || names.length === 0 || !names.every((name) => text.some((word) => stem(word) === name))) {
    return undefined;
  }
  const before = text.slice(Math.max(0, at - 3), at);
  return !before.some((word) =>
    /^(?:no|not|without|don|dont|never|exclude|excluding|skip|disable|except|isn|isnt)$/.test(word)
  );
}
