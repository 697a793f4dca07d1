/** Texts of a message that a property can want: quoted, assigned, in a format, named by a preposition, or simply the rest. */

import { type Clause, quoted } from '../clause.ts';
import { isExpression, isKnownFormat } from './fill-format.ts';
import { capitalised, conform, identifier, phrase } from '../patterns.ts';
import type { Field, Shape } from '../shape.ts';
import { relativesOf, stem, stemsOf, wordsOf } from '../words.ts';

const freeWords = stemsOf(
  'query q search text prompt message content question topic body note fact input task description instruction keyword keywords term terms ' +
    'phrase sentence subject comment goal value data memory',
);
const idWords = stemsOf('id ids key handle ref reference number address path');
const numbers = '(?<![\\w.-])\\d+(?:[-.]\\d+)*(?![\\w-]|\\.\\d)';
const placeWords = stemsOf('city location place country region where timezone zone town state');
const fillers = /\s+(?:today|tomorrow|yesterday|tonight|now|right now|please|currently|again|there|tool)$/iu;

interface GuessOptions {
  /** The stems of the tool's name. */
  readonly verbs: ReadonlySet<string>;
  /** Whether what is left may be the value where nothing marks it as one. */
  readonly mayGuess: boolean;
}

/** Returns a text for a property that is wanted: quoted, behind a preposition, a name, or what is left of a request. */
export function textFrom(
  { words, shape, required }: Field,
  clause: Clause,
  { wanted, ...options }: GuessOptions & { readonly wanted: boolean },
): unknown {
  if (
    !wanted || (shape.kind !== 'string' && shape.kind !== 'any') || shape.choices.length > 0 ||
    isKnownFormat(shape.format)
  ) return undefined;
  const id = words.isDisjointFrom(idWords) ? undefined : clause.take(new RegExp(`(${identifier}|${numbers})`, 'u'));
  const marked = id ?? clause.take(new RegExp(`${quoted}+`, 'u'));
  if (marked !== undefined) return conform(marked, shape);
  if (isExpression({ words, shape })) return undefined;
  const isPlace = wantsPlace({ words, shape });
  const value = !words.isDisjointFrom(freeWords) && !isPlace
    ? clause.take(/\b(?:in|of|this|that|text|sentence|following)\s*:\s+(\S.*)$/su) ??
      takeRest(clause, { ...options, needsVerb: !required || !options.mayGuess })
    : takeName(clause, { isPlace, ...options });
  return conform(isZone(shape, words) ? zoneOf(value) : value, shape);
}

function wantsPlace({ words, shape }: Pick<Field, 'words' | 'shape'>): boolean {
  return !words.isDisjointFrom(placeWords) || !stemsOf(shape.hint).isDisjointFrom(placeWords);
}

const authorWords = stemsOf('author artist writer singer band creator composer by');

/** Returns a name that a preposition marks as what the property wants, wanted or not: "by Kafka", "in Paris". */
export function markedFrom({ words, shape }: Field, clause: Clause): unknown {
  if (shape.kind !== 'string' || shape.choices.length > 0 || isZone(shape, words)) return undefined;
  const before = !words.isDisjointFrom(authorWords)
    ? 'by'
    : words.isDisjointFrom(placeWords)
    ? undefined
    : 'in|at|near';
  if (before === undefined) return undefined;
  return conform(clause.take(new RegExp(`\\b(?:${before})\\s+(?:the\\s+)?(${capitalised})`, 'u')), shape);
}

function takeName(
  clause: Clause,
  { isPlace, verbs, mayGuess }: GuessOptions & { readonly isPlace: boolean },
): string | undefined {
  const before = isPlace ? 'in|at|for|near|from|to|of|around' : 'in|at|for|of|about|on|under|near|with|to|from|by';
  const article = '(?:(?:the|a|an|my|our|city of)\\s+)?';
  const isOwn = (text: string): boolean => [...stemsOf(text)].every((word) => verbs.has(word));
  const tries = [
    new RegExp(`\\b(?:${before})\\s+${article}(${identifier}|${capitalised})`, 'u'),
    new RegExp(`(${identifier})`, 'u'),
    new RegExp(`(?<=\\s)(${capitalised})`, 'u'),
    new RegExp(`\\b(?:${before})\\s+${article}(${phrase})`, 'iu'),
  ];
  for (const pattern of tries) {
    const found = clause.take(pattern)?.replace(fillers, '').trim();
    if (found !== undefined && found !== '' && !isOwn(found)) return found;
  }
  const rest = mayGuess ? takeRest(clause, { verbs, needsVerb: false }) : undefined;
  return rest === undefined || stemsOf(rest).size === 0 ? undefined : rest;
}

const lead =
  /^(?:please|can|could|would|will|you|hey|hi|hello|kindly|i|want|need|would|like|to|let|us|me|now|also|just|ok|okay|use|then|and|turn|switch|put|on|off|is|are|it)$/i;
const links =
  /^(?:for|that|about|under|the|its|their|his|her|to|me|a|an|up|of|on|with|any|some|this|following|out|us|in|and|by|using)$/i;

/** Returns the text without the words that name the tool: the words after its verb, otherwise the words before it. */
function takeRest(
  clause: Clause,
  { verbs, needsVerb }: { readonly verbs: ReadonlySet<string>; readonly needsVerb: boolean },
): string | undefined {
  const words = clause.rest().split(' ').filter((word) => word !== '');
  const isVerb = (word: string): boolean =>
    wordsOf(word).some((part) => [...relativesOf(stem(part))].some((like) => verbs.has(like)));
  const verb = words.slice(0, 6).findIndex(isVerb);
  if (needsVerb && verb < 0) return undefined;
  const behind = words.slice(verb + 1);
  const skipped = behind.findIndex((word) => !(verb < 0 ? lead : links).test(word) && !(verb >= 0 && isVerb(word)));
  const before = words.slice(0, Math.max(0, verb)).filter((word) => !lead.test(word) && !links.test(word));
  const chosen = skipped >= 0 ? behind.slice(skipped) : needsVerb ? [] : before;
  const last = chosen.findLastIndex((word) => !isVerb(word));
  const ending = chosen.slice(last, last + 1).some((word) => /^(?:as|in|into|to|with|using|via)$/iu.test(word))
    ? last
    : chosen.length;
  const rest = chosen.slice(0, ending).join(' ').replace(/^[\s:,–-]+|[\s?!.,;:]+$/gu, '')
    .replace(/\s+(?:please|at|on|in|for|by|with|of|and)$/iu, '');
  if (rest === '' || /^(?:it|them|that|this|these|those|one|so)$/iu.test(rest)) return undefined;
  clause.take(/[^\uE000]+/u);
  return rest;
}

function isZone(shape: Shape, words: ReadonlySet<string>): boolean {
  return /\bIANA\b|\btime ?zone\b/i.test(shape.hint) ||
    (words.has('timezon') || (words.has('tim') && words.has('zon')));
}

/** The zone of a city, as the platform knows it. */
function zoneOf(place: string | undefined): string | undefined {
  const city = place?.replaceAll(' ', '_').toLowerCase();
  return Intl.supportedValuesOf('timeZone').find((zone) => zone.toLowerCase().split('/').at(-1) === city) ?? place;
}
