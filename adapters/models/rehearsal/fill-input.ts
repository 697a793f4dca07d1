/**
 * Fills the input of a tool from a piece of the user's message. Rules in the order of their certainty each visit all properties, and
 * take what they use out of the text, so that no value fills two properties.
 */

import { asRecord, isRecord } from '../../../src/base/is-record.ts';
import {
  escapeRegExp,
  expressionIn,
  type Field,
  fieldsOf,
  relativesOf,
  stem,
  stemsOf,
  wordsOf,
} from './choose-tool.ts';
import { asList, parseJson } from './conversation.ts';
import { hashOf } from './small-talk.ts';

/** What a value may be taken from besides the message. */
export interface Sources {
  /** What tools returned before, the latest last. */
  readonly results: readonly unknown[];
  /** Whether what is left of the message may be a value that nothing marks as one. */
  readonly mayGuess: boolean;
  /** The stems of the tool's name, which are no values. */
  readonly verbs: ReadonlySet<string>;
}

/** An input, and the properties that it still needs. */
export interface Filled {
  readonly input: Readonly<Record<string, unknown>>;
  readonly missing: readonly Field[];
}

/** The characters of quoted phrases, of JSON, and of what was taken, while patterns are matched. */
const [quoted, bracketed, taken] = ['\uE001', '\uE002', '\uE000'];

const identifier = '(?<![\\p{L}\\d_/.])(?=[A-Za-z]*(?:[\\d_-]|\\.[A-Za-z]))[A-Za-z][\\w.-]*\\w(?![\\w/])';
const capitalised = "\\p{Lu}[\\p{L}\\d’'-]*(?: (?:(?:de|la|of|the|van) )?\\p{Lu}[\\p{L}\\d’'-]*)*";
const number = '(?<![\\p{L}\\d_.:/-])(-?(?:\\d{1,3}(?:,\\d{3})+|\\d+)(?:\\.\\d+)?)(?![\\d\\p{L}]|[.,:/-]\\d)';
const word = '[^\\s,;:!?\\uE000-\\uE002]+';
const phrase =
  `(?:(?!(?:in|at|for|from|to|on|by|with|and|or|as|please|then|is|are|per)\\b|&)${word}(?<![.!?])(?: |(?=[.,;:!?]|$))){1,6}`;

/** A text from which values are taken. */
interface Clause {
  readonly text: string;
  /** Takes what the pattern matches and returns its first group, without quotes around it. */
  take(pattern: string, flags?: string): string | undefined;
  /** What is left, with one space where something was taken. */
  rest(): string;
}

function clauseOf(text: string): Clause {
  let open = mask(text);
  return {
    text,
    take(pattern, flags = 'iu') {
      const [whole, group] = new RegExp(pattern, `d${flags}`).exec(open)?.indices ?? [];
      if (!whole) return undefined;
      const [from, to] = group ?? whole;
      open = open.slice(0, whole[0]) + taken.repeat(whole[1] - whole[0]) + open.slice(whole[1]);
      return text.slice(from, to).trim().replace(/^(?:"(.*)"|“(.*)”|`(.*)`|'(.*)')$/su, '$1$2$3$4');
    },
    rest() {
      const left = open.replaceAll(/[\uE001\uE002]/g, (_, at: number) => text.charAt(at)); // as long as the text
      return left.replaceAll(taken, ' ').replaceAll(/\s+/g, ' ').trim();
    },
  };
}

/** Replaces quoted phrases and JSON by marks of the same length. */
export function mask(text: string): string {
  let masked = '';
  for (let at = 0; at < text.length;) {
    const end = '{['.includes(text.charAt(at)) ? endOfJson(text, at) : undefined;
    masked += end === undefined ? text.charAt(at).replace(/[\uE000-\uE002]/u, ' ') : bracketed.repeat(end - at);
    at = end ?? at + 1;
  }
  const quotes = /"[^"\n]*"|“[^”\n]*”|`[^`\n]+`|(?<=^|[\s(:=,[])'[^'\n]+'(?=$|[\s).,;:!?\]])/gu;
  return masked.replace(quotes, (span) => span.includes(bracketed) ? span : quoted.repeat(span.length));
}

/** Returns where the bracket that opens at `from` is closed; `undefined` when it never is. */
export function endOfJson(text: string, from: number): number | undefined {
  let depth = 0;
  let inText = false;
  for (let at = from; at < Math.min(text.length, from + 20_000); at++) {
    const character = text.charAt(at);
    if (inText && character === '\\') at++;
    else if (character === '"') inText = !inText;
    else if (!inText && '{['.includes(character)) depth++;
    else if (!inText && '}]'.includes(character) && --depth === 0) return at + 1;
  }
  return undefined;
}

type Rule = (field: Field, clause: Clause, context: Sources & { readonly wanted: boolean }) => unknown;

const rules: readonly Rule[] = [
  assigned,
  (field, clause) => {
    const named = field.choices.filter((choice) => new RegExp(exactly(choice), 'iu').test(clause.text));
    if (named[0] !== undefined) clause.take(exactly(named[0]));
    return named[0] ?? shiftIn(field, clause.text) ??
      (field.required && field.choices.length === 1 ? field.choices[0] : undefined);
  },
  formatted,
  directed,
  ({ kind, words, hint }, clause, { wanted }) => {
    if (kind !== 'number' && kind !== 'integer') return undefined;
    const counted = new RegExp(`${number}\\s*(\\p{L}+)`, 'iu').exec(clause.text)?.[2];
    const speaksOf = counted !== undefined &&
      stemsOf(`${hint} ${[...words].join(' ')}`).has(stem(counted.toLowerCase()));
    const isQuantity = [...words].some((one) => /^(?:limit|count|max|number|siz|amount|quantity|total|tim)$/.test(one));
    return wanted || speaksOf || isQuantity
      ? toNumber(clause.take(number.replace('(?![\\d\\p{L}]', '(?![\\d]')))
      : undefined;
  },
  ({ kind, name }, clause) => {
    const last = wordsOf(name).at(-1) ?? '';
    if ((kind !== 'string' && kind !== 'any') || !/^(?:id|key|name)$/.test(last) || wordsOf(name).length < 2) {
      return undefined;
    }
    const label = wordsOf(name).slice(0, -1).join('[\\s_-]*');
    return clause.take(`(?<![\\p{L}\\d_])${label}:?\\s+(${identifier}|"[\\w.-]+")`) ??
      (last === 'id' ? clause.take(`(${identifier})`) : undefined);
  },
  ({ kind, words }, clause) =>
    kind === 'string' && [...words].some((one) => /^(?:nam|titl|label)$/.test(one))
      ? clause.take(`\\b(?:named|called|titled)\\s+(${quoted}+|${phrase})`)
      : undefined,
  (field, clause, { verbs }) => {
    const { kind, schema, required } = field;
    if (kind !== 'object' && kind !== 'array') return undefined;
    const json = parseJson(clause.take(`${bracketed}+`) ?? '');
    if (kind === 'array') return Array.isArray(json) ? json : required ? listIn(field, clause, verbs) : undefined;
    return isRecord(json) ? json : required && json === undefined ? objectIn(schema, clause) : undefined;
  },
  textual,
  ({ required, words, kind }, _, { results }) => required ? lookUp(results, words, kind) : undefined,
];

/** Fills an object with these properties from the text. */
export function fillInput(fields: readonly Field[], text: string, sources: Sources): Filled {
  const clause = clauseOf(text.slice(0, 4000));
  const values = new Map<string, unknown>();
  const main = fields.some(({ required }) => required) ? undefined : fields.find(({ kind }) => kind === 'string');
  for (const rule of rules) {
    for (const field of fields) {
      const { name, required } = field;
      // What only a program can create is assigned by name or was returned by a tool.
      const isToken = /version|token|cursor|idempot/i.test(name) && rule !== assigned && rule !== rules.at(-1);
      if (values.has(name) || isToken) continue;
      const value = rule(field, clause, { ...sources, wanted: required || field === main });
      if (value !== undefined) values.set(name, value);
    }
  }
  for (const { name, required, schema } of fields) {
    if (!required || values.has(name)) continue;
    const value = schema['default'] ??
      (/idempot|nonce/i.test(name) ? `rehearsal-${hashOf(text).toString(36)}` : undefined);
    if (value !== undefined) values.set(name, value);
  }
  return {
    input: Object.fromEntries(
      fields.filter(({ name }) => values.has(name)).map(({ name }) => [name, values.get(name)]),
    ),
    missing: fields.filter(({ name, required }) => required && !values.has(name)),
  };
}

/** `limit=5`, `limit of 5`, `title "Tea"`, `5 rows`. */
function assigned({ name, kind }: Field, clause: Clause): unknown {
  const label = `(?<![\\p{L}\\d_])${wordsOf(name).map(escapeRegExp).join('[\\s_-]*')}s?`;
  const sign = '\\s*[=:]\\s*';
  const link = name.length < 3 ? sign : `(?:${sign}|\\s+(?:(?:is|are|to|as|be|of)\\s+)?)`;
  if (kind === 'number' || kind === 'integer') return toNumber(clause.take(`${label}${link}${number}`));
  if (kind === 'boolean') {
    const value = clause.take(`${label}${link}(true|false|yes|no|on|off)\\b`);
    return value === undefined ? undefined : /^(?:true|yes|on)$/i.test(value);
  }
  if (kind === 'array' || kind === 'object') return parseJson(clause.take(`${label}${link}(${bracketed}+)`) ?? '');
  return clause.take(`${label}${link}(${quoted}+)`) ?? clause.take(`${label}${link}(${identifier})`) ??
    clause.take(`${label}${sign}([^\\s,;\\uE000-\\uE002]+)`);
}

const month = '(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*';
const date =
  `\\d{4}-\\d{2}-\\d{2}(?:T[\\d:.]+(?:Z|[+-][\\d:]+)?)?|\\d{1,2}(?:st|nd|rd|th)?\\s+${month}(?:\\s+\\d{4})?|${month}\\s+\\d{1,2}(?:,?\\s+\\d{4})?\\b|today|tomorrow|yesterday|christmas(?:\\s+eve)?`;
const formats: readonly (readonly [RegExp, string])[] = [
  [/uri|url|link|href|website/i, 'https?://[^\\s"\'<>]*[^\\s"\'<>)\\].,;:!?]'],
  [/mail|^to$|recipient/i, '[\\w.+-]+@[\\w-]+(?:\\.[\\w-]+)+'],
  [/date|^day$|until|since|^due|deadline|birthday/i, date],
];

/** Arithmetic, addresses and dates, by the name or the format of the property. */
function formatted({ name, kind, schema, required }: Field, clause: Clause): unknown {
  if (kind !== 'string' && kind !== 'any') return undefined;
  if (/^(?:expression|formula|equation)$/i.test(name)) {
    const expression = expressionIn(clause.text);
    if (expression !== undefined) clause.take(escapeRegExp(expression));
    return expression;
  }
  const { format, pattern } = schema;
  const known = formats.find(([names]) => names.test(typeof format === 'string' ? format : name));
  const before = /^(?:from|since|start)/i.test(name)
    ? 'from|since|between'
    : /^(?:to|until|end)/i.test(name)
    ? 'to|until|and'
    : '';
  if (known) {
    const behind = before || required ? '' : '(?<!\\b(?:until|till)\\s+)'; // "until 24 December" is for another property
    return (before && clause.take(`\\b(?:${before})\\s+(${known[1]})`)) ||
      clause.take(`${behind}(?<![\\p{L}\\d])(${known[1]})`);
  }
  if (typeof pattern !== 'string' || pattern.length > 60 || /[+*}]\)[+*{]/.test(pattern)) return undefined;
  const words = clause.text.split(/[\s,;!?"“”]+/u).map((one) => one.replace(/[.:]+$/u, ''));
  const fitting = words.find((one) => one.length > 0 && one.length < 65 && matches(pattern, one));
  return fitting === undefined ? undefined : clause.take(escapeRegExp(fitting));
}

/** "In 3 weeks" adds, "3 weeks ago" subtracts, where a tool has both. */
function shiftIn({ choices }: Field, text: string): string | undefined {
  const span = '(?:\\d+|an?)\\s+(?:year|month|week|day|hour|minute)s?';
  const sign = new RegExp(`\\b${span}\\s+(?:ago|before|earlier)\\b`, 'iu').test(text)
    ? 'subtract'
    : new RegExp(`\\bin\\s+${span}\\b|\\b${span}\\s+(?:from|after|later)\\b`, 'iu').test(text)
    ? 'add'
    : undefined;
  return sign !== undefined && choices.includes('add') && choices.includes('subtract') ? sign : undefined;
}

function matches(pattern: string, text: string): boolean {
  try {
    return new RegExp(pattern, 'u').test(text) && !new RegExp(pattern, 'u').test('');
  } catch {
    return false;
  }
}

/** "From" and "to" of numbers, units and names. */
function directed({ name, kind, choices }: Field, clause: Clause): unknown {
  const [isSource, isTarget] = [
    /^(?:from|source|origin|base|min)/i.test(name),
    /^(?:to|target|destination|quote|max)/i.test(name),
  ];
  if ((!isSource && !isTarget) || choices.length > 0) return undefined;
  if (kind === 'number' || kind === 'integer') {
    return toNumber(clause.take(`\\b${isSource ? '(?:from|between)' : '(?:to|and)'}\\s+${number}`));
  }
  if (kind !== 'string' && kind !== 'any') return undefined;
  return isSource
    ? clause.take(`\\b(?:from|between)\\s+(?:the\\s+|a\\s+)?(${quoted}+|${phrase})`) ??
      clause.take('(?<=\\d\\s{0,2})(°?\\p{L}{1,20}|[°$€£¥])(?=\\s+(?:to|in|into|are)\\b|\\s*[?.!]*$)')
    : clause.take(`\\b(?:into|to|until)\\s+(?:the\\s+|a\\s+)?(${quoted}+|(?!\\d+\\b(?!-))${phrase})`) ??
      clause.take('\\bhow\\s+(?:many|much)\\s+(\\p{L}+)(?=\\s[^?]*\\d)') ??
      clause.take('(?<=\\d\\s{0,2}[°\\p{L}\\uE000]{1,20}\\s+(?:in|and)\\s+)(\\p{L}+)');
}

/** A place, a quoted phrase, or what is left behind the words that name the tool. */
function textual(field: Field, clause: Clause, { wanted, verbs, mayGuess }: Sources & { wanted: boolean }): unknown {
  if ((field.kind !== 'string' && field.kind !== 'any') || field.choices.length > 0 || !wanted) return undefined;
  const most = Number(field.schema['maxLength'] ?? Infinity);
  const isZone = /time ?zone/i.test(`${field.name} ${field.hint}`);
  if (isZone || /^(?:city|place|location|country|region|town|port|room|cabin)$/i.test(field.name)) {
    const place = clause.take(`\\b(?:in|at|for|near|from|to|of)\\s+(?:the\\s+)?(${capitalised})`, 'u') ??
      clause.take(`\\b(?:in|at|for|near|from|to|of)\\s+(?:the\\s+)?(${phrase})`) ??
      clause.take(`(?<=\\s)(${capitalised})`, 'u');
    return isZone && place !== undefined
      ? cityZone(place) ?? place
      : place?.replace(/\s+(?:today|tomorrow|now)$/iu, '');
  }
  const isText = field.required && /^(?:text|content|body)$/i.test(field.name);
  const rest = clause.take(`(${quoted}+)`) ??
    (isText ? clause.take('^[^:\\uE000]{1,60}:\\s+([^\\uE000]+)$', 'isu') : undefined) ??
    (mayGuess && field.required ? restOf(clause, verbs) : undefined);
  const { pattern } = field.schema;
  return rest === undefined || (typeof pattern === 'string' && !matches(pattern, rest))
    ? undefined
    : rest.slice(0, most);
}

/** The zone of a city, as the platform knows it; `undefined`: it knows none. */
export function cityZone(place: string): string | undefined {
  const city = place.trim().replaceAll(' ', '_').toLowerCase();
  return Intl.supportedValuesOf('timeZone').find((zone) => zone.toLowerCase().split('/').at(-1) === city);
}

const lead =
  /^(?:please|can|could|would|will|you|i|want|need|like|to|let|us|me|now|also|just|use|then|and|is|are|it)$/i;
const links = /^(?:for|that|about|under|the|its|their|to|me|a|an|up|of|on|with|any|some|this|in|and|by|using)$/i;

/** The text behind the verb that names the tool, else the text without what asks. */
function restOf(clause: Clause, verbs: ReadonlySet<string>): string | undefined {
  const words = clause.rest().split(' ').filter((one) => one !== '');
  const isVerb = (one: string): boolean =>
    wordsOf(one).some((part) => relativesOf(stem(part)).some((like) => verbs.has(like)));
  const verb = words.slice(0, 6).findIndex(isVerb);
  const behind = words.slice(verb + 1);
  const from = behind.findIndex((one) => !(verb < 0 ? lead : links).test(one) && !(verb >= 0 && isVerb(one)));
  const rest = (from < 0 ? [] : behind.slice(from)).join(' ').replace(/^[\s:,–-]+|[\s?!.,;:]+$/gu, '')
    .replace(/\s+(?:please|at|on|in|for|by|with|of|and)$/iu, '');
  if (rest === '' || /^(?:it|them|that|this|these|those|one|so)$/iu.test(rest)) return undefined;
  clause.take('[^\uE000]+');
  return rest;
}

/** Numbers, quoted phrases, identifiers, or what stands between commas and "and". */
function listIn({ schema }: Field, clause: Clause, verbs: ReadonlySet<string>): readonly unknown[] | undefined {
  const isNumbers = /^(?:number|integer)$/.test(String(asRecord(schema['items'])['type']));
  const items: unknown[] = [];
  for (const pattern of isNumbers ? [number] : [`(${quoted}+)`, `(${identifier})`]) {
    if (items.length > 0) break;
    for (let next = clause.take(pattern); next !== undefined; next = clause.take(pattern)) {
      items.push(isNumbers ? toNumber(next) : next);
    }
  }
  if (items.length > 0) return items.slice(0, 32);
  const rest = isNumbers
    ? undefined
    : restOf(clause, verbs)?.replace(/\s+(?:to|from|in|on|for)\s+(?:the|my|our)\s.*$/iu, '');
  return rest?.split(/\s*[,;]\s*(?:and\s+)?|\s+(?:and|or|&)\s+/iu).slice(0, 32);
}

function objectIn(schema: unknown, clause: Clause): unknown {
  const { input, missing } = fillInput(fieldsOf(schema), clause.text, {
    results: [],
    mayGuess: false,
    verbs: new Set(),
  });
  return missing.length === 0 && Object.keys(input).length > 0 ? input : undefined;
}

/** The value whose name is most like the wanted one, of the latest result that has any; for a list, all of them. */
function lookUp(results: readonly unknown[], words: ReadonlySet<string>, kind: string): unknown {
  const like = (name: string): boolean => {
    const named = new Set(wordsOf(name).map(stem));
    return named.intersection(words).size / named.union(words).size >= 0.5;
  };
  const valuesIn = (value: unknown, name: string, depth: number): readonly unknown[] => {
    if (depth > 4) return [];
    if (Array.isArray(value)) return asList(value).slice(0, 100).flatMap((item) => valuesIn(item, name, depth + 1));
    if (isRecord(value)) {
      return Object.entries(value).slice(0, 100).flatMap(([key, item]) => valuesIn(item, key, depth + 1));
    }
    return like(name) && (kind === 'array' || kind === 'any' || typeof value === kind) ? [value] : [];
  };
  const found = results.toReversed().map((result) => valuesIn(result, '', 0)).find((values) => values.length > 0);
  return kind === 'array' ? found : found?.[0];
}

function exactly(choice: string | number): string {
  return `(?<![\\p{L}\\d])${String(choice).split(/[\s_-]+/).map(escapeRegExp).join('[\\s_-]+')}(?![\\p{L}\\d])`;
}

function toNumber(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text.replaceAll(',', ''));
}
