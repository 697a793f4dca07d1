/** Texts that a property's format, pattern or place in the request ("from", "to") identifies. */

import { expressionIn } from '../arithmetic.ts';
import { type Clause, quoted } from '../clause.ts';
import { dateIn } from './fill-date.ts';
import { numberOf, numberPattern } from './fill-number.ts';
import { conform, escapeRegExp, phrase } from '../patterns.ts';
import type { Field, Shape } from '../shape.ts';
import { isStopWord, stem, stemsOf } from '../words.ts';

const formats: Readonly<Record<string, RegExp>> = {
  email: /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/u,
  uri: /https?:\/\/[^\s"'<>\uE000-\uE002]*[^\s"'<>)\].,;:!?\uE000-\uE002]/u,
  uuid: /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/iu,
  ipv4: /(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.])/u,
  time: /(?<!\d)\d{1,2}:\d{2}(?::\d{2})?(?!\d)/u,
};

const formatNames: readonly (readonly [string, RegExp])[] = [
  ['uri', /^(?:url|uri|link|href|website|endpoint|page)$/],
  ['email', /^(?:email|mail|recipient|address)$/],
  ['date', /^(?:dat|day|birthday|deadlin|since|until|due|start|end)$/],
  ['time', /^(?:tim|at)$/],
  ['uuid', /^(?:uuid|guid)$/],
  ['ipv4', /^ip$/],
];

/** Returns the text that has the format or pattern of the property, in quotes or not. */
export function formatted(field: Field, clause: Clause, { verbs }: { verbs: ReadonlySet<string> }): unknown {
  const { shape, words } = field;
  if (shape.kind !== 'string' && shape.kind !== 'any') return undefined;
  if (isExpression(field)) return takeExpression(clause);
  const format = shape.format.replace(/^(?:url|uri-reference|iri)$/, 'uri') ||
    (formatNames.find(([, pattern]) => [...words].some((word) => pattern.test(word)))?.[0] ?? '');
  const after = isSource(words)
    ? '\\b(?:from|since|between)\\s+'
    : isTarget(words)
    ? '\\b(?:to|until|till|and)\\s+'
    : '';
  if (format.startsWith('date')) {
    return dateIn(clause, { withTime: format === 'date-time', after, strict: shape.format !== '' });
  }
  const pattern = formats[format];
  if (pattern) return clause.take(new RegExp(`${after}(${pattern.source})`, 'iu')) ?? clause.take(pattern);
  return takeMatching(shape, clause, verbs);
}

/** The first word or quoted phrase that fits the pattern as it is, else one that fits it in capitals or small letters. */
function takeMatching({ pattern, ...shape }: Shape, clause: Clause, verbs: ReadonlySet<string>): string | undefined {
  if (!pattern || pattern.test('')) return undefined;
  const words = clause.open().match(new RegExp(`${quoted}+|[^\\s,;!?\\uE000-\\uE002]{1,64}`, 'gu')) ?? [];
  const plain = words.slice(0, 200).map((word) => word.replace(/[.:]+$/u, ''));
  const isOwn = (word: string): boolean => isStopWord(word) || verbs.has(stem(word.toLowerCase()));
  const chosen = plain.find((word) => word.startsWith(quoted) || (pattern.test(word) && !isStopWord(word))) ??
    plain.find((word) => !isOwn(word) && conform(word, { ...shape, pattern }) !== undefined);
  if (chosen === undefined) return undefined;
  const value = clause.take(new RegExp(`(?<![\\p{L}\\d_])${escapeRegExp(chosen)}(?![\\p{L}\\d_])`, 'u'));
  return conform(value, { ...shape, pattern });
}

const expressionWords = stemsOf('expression formula equation calculation arithmetic math mathematical');

/** Whether a property wants arithmetic. */
export function isExpression({ words, shape }: Pick<Field, 'words' | 'shape'>): boolean {
  const hint = stemsOf(shape.hint);
  return !words.isDisjointFrom(expressionWords) || !hint.isDisjointFrom(expressionWords);
}

function takeExpression(clause: Clause): string | undefined {
  const open = expressionIn(clause.open());
  const value = open ?? clause.take(new RegExp(`${quoted}+`, 'u'));
  if (open !== undefined) clause.take(/[\d(].*[\d)]/u);
  return value;
}

const sources = new Set([...stemsOf('source origin start begin base depart sender'), 'from', 'since']);
const targets = new Set([
  ...stemsOf('target destination end until recipient receiver dest goal'),
  'to',
  'into',
  'until',
  'new',
]);

/** Whether a name says where something comes from. */
export function isSource(words: ReadonlySet<string>): boolean {
  return !words.isDisjointFrom(sources);
}

/** Whether a name says where something goes. */
export function isTarget(words: ReadonlySet<string>): boolean {
  return !words.isDisjointFrom(targets);
}

/** Returns the text after "from" or "to" when the property's name is one of the two. */
export function directionOf({ words, shape }: Field, clause: Clause): unknown {
  const fromSource = isSource(words);
  if (!fromSource && !isTarget(words)) return undefined;
  if (shape.kind === 'number' || shape.kind === 'integer') {
    const found = clause.take(
      new RegExp(`\\b(?:${fromSource ? 'from|between' : 'to|until|and'})\\s+${numberPattern}`, 'iu'),
    );
    return found === undefined ? undefined : numberOf(found);
  }
  if (shape.kind !== 'string' && shape.kind !== 'any') return undefined;
  return conform(fromSource ? takeSource(clause) : takeTarget(clause), shape);
}

function takeSource(clause: Clause): string | undefined {
  return clause.take(new RegExp(`\\b(?:from|between)\\s+(?:the\\s+|a\\s+)?(${quoted}+|${phrase})`, 'iu')) ??
    clause.take(/(?<=\d\s{0,2})(°?\p{L}{1,20}|[°$€£¥])(?=\s+(?:to|in|into|are)\b|\s*[?.!]*$)/iu) ??
    clause.take(/([$€£¥])(?=\d)/u);
}

function takeTarget(clause: Clause): string | undefined {
  return clause.take(
    new RegExp(`\\b(?:into|to|until|till)\\s+(?:the\\s+|a\\s+)?(${quoted}+|(?!\\d+\\b(?!-))${phrase})`, 'iu'),
  ) ??
    clause.take(/\bhow\s+(?:many|much)\s+(\p{L}+)(?=\s[^?]*\d)/iu) ??
    clause.take(/(?<=\d\s{0,2}°?\p{L}{1,20}\s+(?:in|and)\s+)(\p{L}+)/iu);
}

/** Whether a text of this format can only be taken by its format. */
export function isKnownFormat(format: string): boolean {
  return Object.hasOwn(formats, format) || format.startsWith('date') || format === 'url';
}
