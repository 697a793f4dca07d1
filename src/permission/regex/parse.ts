/** Reads the regular expressions that can be matched in linear time: no look-around, no back-references. */

import { PinnaceError } from '../../base/errors.ts';

/** How a pattern is read. */
export interface ParseOptions {
  readonly ignoreCase: boolean;
  /** Whether `.` means the end of a line as well. */
  readonly dotAll: boolean;
  readonly limits: RegexLimits;
}

interface Reader extends PatternText, ParseOptions {
  /** Groups around the present position. */
  depth: number;
}

const deepest = 50;

/**
 * Parses the syntax of ECMAScript with the flag `u`, without look-around, back-references and inline flags. It also takes "{", "}" and
 * "]" where they can only mean themselves, and any escaped sign.
 *
 * @throws PinnaceError `invalid_argument`, reason `invalid_regex`, with the `position` and `why` in its details.
 */
export function parse(pattern: string, options: ParseOptions): Node {
  const { length } = options.limits;
  if (pattern.length > length) throw refused(`it goes on: more than ${length} characters are too many`, length);
  const reader: Reader = { pattern, at: 0, depth: 0, ...options };
  const node = readAny(reader);
  if (reader.at < pattern.length) throw refused('a ")" closes nothing', reader.at);
  return node;
}

function readAny(reader: Reader): Node {
  const nodes = [readAll(reader)];
  while (reader.pattern[reader.at] === '|') {
    reader.at++;
    nodes.push(readAll(reader));
  }
  return nodes.length === 1 ? nodes[0]! : { type: 'any', nodes };
}

function readAll(reader: Reader): Node {
  const nodes: Node[] = [];
  while (reader.at < reader.pattern.length && !/[|)]/.test(reader.pattern[reader.at]!)) {
    nodes.push(readRepeat(reader, readOne(reader)));
  }
  return { type: 'all', nodes };
}

const quantifier = /^(?:[*+?]|\{(\d{1,9})(,(\d{0,9}))?\})/;

function readRepeat(reader: Reader, node: Node): Node {
  const start = reader.at;
  const found = quantifier.exec(reader.pattern.slice(start, start + 24));
  if (!found) return node;
  if (node.type === 'assert') throw refused(`a "${found[0]}" repeats a position`, start);
  reader.at += found[0].length;
  if (reader.pattern[reader.at] === '?') reader.at++; // laziness does not change whether there is a match
  if (quantifier.test(reader.pattern.slice(reader.at, reader.at + 24))) {
    throw refused('it repeats a repetition', reader.at);
  }
  const { least, most } = boundsOf(found);
  const { repetitions } = reader.limits;
  if (most < least) throw refused('the bounds of a repetition are in the wrong order', start);
  if (Math.max(least, most === Infinity ? 0 : most) > repetitions) {
    throw refused(`it repeats more than ${repetitions} times; bound the length with "maxLength"`, start);
  }
  return { type: 'repeat', node, least, most };
}

function boundsOf([sign, from, comma, to]: RegExpExecArray): { readonly least: number; readonly most: number } {
  if (from === undefined) return { least: sign === '+' ? 1 : 0, most: sign === '?' ? 1 : Infinity };
  const least = Number(from);
  if (comma === undefined) return { least, most: least };
  return { least, most: to === '' ? Infinity : Number(to) };
}

function readOne(reader: Reader): Node {
  const start = reader.at;
  if (reader.pattern[start] === '\\') return readEscaped(reader);
  const sign = takeCharacter(reader);
  switch (sign) {
    case '(':
      return readGroup(reader, start);
    case '[':
      return { type: 'char', set: readClass(reader) };
    case '.':
      return { type: 'char', set: reader.dotAll ? anyChar : dot };
    case '^':
      return { type: 'assert', where: 'start' };
    case '$':
      return { type: 'assert', where: 'end' };
    default:
      return readPlain(reader, { sign, start });
  }
}

function readPlain(reader: Reader, { sign, start }: { readonly sign: string; readonly start: number }): Node {
  const rest = reader.pattern.slice(start, start + 24);
  if (quantifier.test(rest)) throw refused(`a "${sign}" repeats nothing`, start);
  if (/^\{,\d+\}/.test(rest)) throw refused('a repetition lacks its lower bound: write "{0,n}"', start);
  return charNode(sign, reader);
}

/** The group's "(" is already read. */
function readGroup(reader: Reader, start: number): Node {
  if (++reader.depth > deepest) throw refused(`groups are nested deeper than ${deepest}`, start);
  if (reader.pattern[reader.at] === '?') reader.at += prefixOf(reader, start).length;
  const node = readAny(reader);
  if (reader.pattern[reader.at++] !== ')') throw refused('a "(" is not closed', start);
  reader.depth--;
  return node;
}

function prefixOf({ pattern, at }: Reader, start: number): string {
  const rest = pattern.slice(at, at + 70);
  if (/^\?<?[=!]/.test(rest)) throw refused('it looks around; patterns have no look-ahead and no look-behind', start);
  const prefix = /^\?(?::|<[\p{ID_Start}_$][\p{ID_Continue}$]{0,63}>)/u.exec(rest)?.[0];
  if (prefix === undefined) throw refused('a group begins with an unknown "(?"; "(?:" and "(?<name>" are known', start);
  return prefix;
}

function readEscaped(reader: Reader): Node {
  const next = reader.pattern[reader.at + 1];
  if (next === 'b' || next === 'B') {
    reader.at += 2;
    return { type: 'assert', where: next === 'b' ? 'word' : 'no-word' };
  }
  const escape = readEscape(reader, { inClass: false });
  if (typeof escape === 'number') return charNode(String.fromCodePoint(escape), reader);
  return { type: 'char', set: escape };
}

function charNode(sign: string, reader: Reader): Node {
  const code = sign.codePointAt(0)!;
  return { type: 'char', set: range(code, code, reader), literal: sign };
}

/** A pattern, and how far it is read. */
interface PatternText {
  readonly pattern: string;
  at: number;
  readonly ignoreCase: boolean;
}

const controls: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13 };

/** Reads an escape, the backslash included: a set, or the code point of one character. */
function readEscape(reader: PatternText, { inClass }: { readonly inClass: boolean }): CharSet | number {
  const start = reader.at++;
  const sign = takeCharacter(reader);
  if (sign === '') throw refused('it ends with a backslash', start);
  const set = classOf(sign);
  if (set) return set;
  if (sign === 'p' || sign === 'P') return readProperty(reader, { start, isNot: sign === 'P' });
  if (sign === 'b' && inClass) return 8;
  if (Object.hasOwn(controls, sign)) return controls[sign]!;
  if (sign === '0' && !/^\d/.test(reader.pattern.slice(reader.at))) return 0;
  if (sign === 'x') return readHex(reader, { start, form: /^[\da-f]{2}/i });
  if (sign === 'u') return readUnicode(reader, start);
  if (sign === 'c') return readControl(reader, start);
  if (/^[1-9k]$/.test(sign) && !inClass) {
    throw refused('it refers back to a group; patterns have no back-references', start);
  }
  if (/^[A-Za-z0-9]$/.test(sign)) throw refused(`the escape "\\${sign}" does not exist`, start);
  return sign.codePointAt(0)!;
}

interface Escape {
  /** Where its backslash is. */
  readonly start: number;
}

function readProperty(reader: PatternText, { start, isNot }: Escape & { readonly isNot: boolean }): CharSet {
  const found = /^\{([^{}]{0,130})\}/.exec(reader.pattern.slice(reader.at, reader.at + 132));
  const set = found && propertyOf(found[1]!);
  if (!set) throw refused('it names no Unicode property, as "\\p{L}" does', start);
  reader.at += found[0].length;
  return isNot ? complement(set) : set;
}

function readHex(reader: PatternText, { start, form }: Escape & { readonly form: RegExp }): number {
  const digits = form.exec(reader.pattern.slice(reader.at, reader.at + 16))?.[0];
  if (digits === undefined) throw refused('an escape lacks its hexadecimal digits', start);
  reader.at += digits.length;
  return Number.parseInt(digits.replace(/[{}]/g, ''), 16);
}

function readUnicode(reader: PatternText, start: number): number {
  const code = readHex(reader, { start, form: /^(?:[\da-f]{4}|\{[\da-f]{1,8}\})/i });
  if (code > 0x10ffff) throw refused('it names no character: the last one is 10FFFF', start);
  const low = /^\\u(d[c-f][\da-f]{2})/i.exec(reader.pattern.slice(reader.at, reader.at + 6))?.[1];
  if (code < 0xd800 || code > 0xdbff || low === undefined) return code;
  reader.at += 6; // two escapes that are the halves of one character
  return (code - 0xd800) * 0x400 + Number.parseInt(low, 16) - 0xdc00 + 0x10000;
}

function readControl(reader: PatternText, start: number): number {
  const letter = reader.pattern[reader.at++] ?? '';
  if (!/^[A-Za-z]$/.test(letter)) throw refused('"\\c" lacks its letter', start);
  return letter.charCodeAt(0) % 32;
}

/** Takes one character, which may be two code units; empty at the end. */
function takeCharacter(reader: PatternText): string {
  const code = reader.pattern.codePointAt(reader.at);
  if (code === undefined) return '';
  const sign = String.fromCodePoint(code);
  reader.at += sign.length;
  return sign;
}

/** Reads a class, whose "[" is already read. */
function readClass(reader: PatternText): CharSet {
  const start = reader.at - 1;
  const isNot = reader.pattern[reader.at] === '^';
  if (isNot) reader.at++;
  const sets: CharSet[] = [];
  while (reader.pattern[reader.at] !== ']') {
    if (reader.at >= reader.pattern.length) throw refused('a "[" is not closed', start);
    sets.push(...readMember(reader));
  }
  reader.at++;
  const set = sets.length === 0 ? { key: 'none', test: () => false } : union(sets);
  return isNot ? complement(set) : set;
}

/** One character, one set, or a range. A "-" beside a set means itself. */
function readMember(reader: PatternText): readonly CharSet[] {
  const start = reader.at;
  const first = readAtom(reader);
  const isRange = reader.pattern[reader.at] === '-' &&
    !/^-(?:\]|$)/.test(reader.pattern.slice(reader.at, reader.at + 2));
  if (!isRange) return [asSet(first, reader)];
  reader.at++;
  const last = readAtom(reader);
  if (typeof first !== 'number' || typeof last !== 'number') {
    return [asSet(first, reader), asSet(0x2d, reader), asSet(last, reader)];
  }
  if (last < first) throw refused('a range goes backwards', start);
  return [range(first, last, reader)];
}

function readAtom(reader: PatternText): CharSet | number {
  if (reader.pattern[reader.at] === '\\') return readEscape(reader, { inClass: true });
  return takeCharacter(reader).codePointAt(0)!;
}

function asSet(atom: CharSet | number, reader: PatternText): CharSet {
  return typeof atom === 'number' ? range(atom, atom, reader) : atom;
}

/** A place between two characters. */
export type Assertion = 'start' | 'end' | 'word' | 'no-word';

/** A parsed regular expression, or a part of one. */
export type Node =
  | { readonly type: 'char'; readonly set: CharSet; readonly literal?: string }
  | { readonly type: 'assert'; readonly where: Assertion }
  | { readonly type: 'all'; readonly nodes: readonly Node[] }
  | { readonly type: 'any'; readonly nodes: readonly Node[] }
  | { readonly type: 'repeat'; readonly node: Node; readonly least: number; readonly most: number };

/** Bounds of a pattern: with them, its machine has a known size. */
interface RegexLimits {
  /** Characters of the pattern. */
  readonly length: number;
  /** The largest number in `{m,n}`. */
  readonly repetitions: number;
  /** Steps of the machine. */
  readonly steps: number;
}

/** The limits of a pattern in a JSON Schema. */
export const schemaLimits: RegexLimits = { length: 2_000, repetitions: 4_096, steps: 10_000 };

/** The limits of a pattern that a model or an operator writes to search, or into a rule. */
export const searchLimits: RegexLimits = { length: 200, repetitions: 100, steps: 1_000 };

/** Returns the error for a pattern; `position` counts its characters from 0. */
export function refused(why: string, position: number): PinnaceError {
  return new PinnaceError(
    'invalid_argument',
    `Cannot use the regular expression: at character ${position + 1}, ${why}`,
    { details: { reason: 'invalid_regex', position, why } },
  );
}

/** A set of code points. Two sets with one key hold the same code points. */
export interface CharSet {
  readonly key: string;
  readonly test: (code: number) => boolean;
}

const isDigit = (code: number): boolean => code >= 48 && code <= 57;

/** Whether `\w` holds the code point: letters of other scripts are not among them. */
export const isWord = (code: number): boolean =>
  isDigit(code) || code === 95 || (code >= 65 && code <= 90) || (code >= 97 && code <= 122);

const isSpace = (code: number): boolean =>
  code === 32 || (code >= 9 && code <= 13) || code === 160 || code === 0xfeff ||
  (code >= 0x1680 && /^\s$/.test(String.fromCharCode(code)));

const isLineEnd = (code: number): boolean => code === 10 || code === 13 || code === 0x2028 || code === 0x2029;

/** Every code point, as `.` means with the flag `s`. */
const anyChar: CharSet = { key: 'any', test: () => true };
/** Every code point but the ends of lines, as `.` means. */
const dot: CharSet = { key: 'dot', test: (code) => !isLineEnd(code) };

const classes: Readonly<Record<string, CharSet>> = {
  d: { key: '\\d', test: isDigit },
  w: { key: '\\w', test: isWord },
  s: { key: '\\s', test: isSpace },
};

/** Returns the set of `\d \w \s \D \W \S`; `undefined` for any other letter. */
function classOf(letter: string): CharSet | undefined {
  const small = letter.toLowerCase();
  const set = Object.hasOwn(classes, small) ? classes[small] : undefined;
  return set && letter !== small ? complement(set) : set;
}

/** Returns everything outside a set. */
function complement({ key, test }: CharSet): CharSet {
  return { key: `not(${key})`, test: (code) => !test(code) };
}

/** Returns everything that one of the sets holds. */
function union(sets: readonly CharSet[]): CharSet {
  const [first] = sets;
  if (first && sets.length === 1) return first;
  return { key: `(${sets.map(({ key }) => key).join()})`, test: (code) => sets.some(({ test }) => test(code)) };
}

/** Returns the code points from one to another, both included. */
function range(from: number, to: number, { ignoreCase }: { readonly ignoreCase: boolean }): CharSet {
  const key = `${from}-${to}${ignoreCase ? 'i' : ''}`;
  const inside = (code: number): boolean => code >= from && code <= to;
  if (!ignoreCase) return { key, test: inside };
  return {
    key,
    test: (code) => {
      const text = String.fromCodePoint(code);
      return inside(code) || inside(text.toLowerCase().codePointAt(0)!) || inside(text.toUpperCase().codePointAt(0)!);
    },
  };
}

/**
 * Returns the set of `\p{name}`, by the platform's own tables; `undefined` for a property that it does not have. The name has no
 * syntax of its own and the expression reads one character, so its time is constant.
 */
function propertyOf(name: string): CharSet | undefined {
  if (!/^[A-Za-z_]{1,64}(?:=[A-Za-z_0-9]{1,64})?$/.test(name)) return undefined;
  try {
    const own = new RegExp(`^\\p{${name}}$`, 'u');
    return { key: `\\p{${name}}`, test: (code) => own.test(String.fromCodePoint(code)) };
  } catch {
    return undefined;
  }
}
